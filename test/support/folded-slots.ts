import { random } from "../../src/base/random.ts";
import { jsKernels } from "../../src/engine/kernels/js/kernels.ts";
import { foldedRows } from "../../src/model/slots/folded-rows.ts";
import type { ArrivalLog, SlotSchedule } from "../../src/model/slots/slot-schedule.ts";
import { automorphismsOf } from "../../src/model/symmetry/automorphisms.ts";
import { compareMaps, generatorsOf, leastNpus, mapColumns } from "../../src/model/symmetry/fold.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { everyone } from "./everyone.ts";
import { directRoutes, goal, grid, networkOf, SLOT_PS } from "./slot-cases.ts";
import { PASSES, type RootlessKind } from "./slot-passes.ts";

/** A schedule that is the same under maps: its generators, the logs that stand for all, and those of all as the kernel has them. */
export interface FoldedSlots {
  readonly frame: Omit<SlotSchedule, "symmetry" | "row">;
  readonly generators: readonly Int32Array[];
  readonly least: Int32Array;
  readonly all: readonly ArrivalLog[];
}

/** Networks with few maps onto themselves, many of which leave NPUs in place; one with parallel links, which half a turn keeps. */
export const FOLDED_NETWORKS: readonly (() => Topology)[] = [
  () => grid([3, 3], false),
  () => grid([4, 4], false),
  () => grid([5, 2], false),
  () => grid([5], false),
  () => grid([2, 2, 3], false),
  () => {
    const { npuCount, linkSource, linkTarget } = grid([3, 4], false);
    const pairs = Array.from(linkSource, (from, link) => [from, linkTarget[link]] as [number, number]);
    return networkOf(npuCount, [...pairs, ...pairs.filter((ends) => ends.includes(0) || ends.includes(npuCount - 1))]);
  },
];

/** Returns the all-gather that the matching kernel makes the same under all maps of the network onto itself. */
export function foldedSlots(topology: Topology, kind: RootlessKind, chunksPerNpu: number, seed: number): FoldedSlots {
  const { npuCount } = topology;
  const [collective, origin] = goal(kind, npuCount, chunksPerNpu, 0);
  const routes = directRoutes(topology);
  const turned = [everyone(npuCount), everyone(npuCount).reverse()];
  const group = [...(automorphismsOf(npuCount, routes.source, routes.target) ?? turned)].sort(compareMaps);
  const problem = {
    npuCount,
    chunkCount: origin.length,
    routeSource: routes.source,
    routeTarget: routes.target,
    heldOffset: Int32Array.from({ length: npuCount + 1 }, (_, v) => v * chunksPerNpu),
    heldChunk: everyone(origin.length),
    wanted: null,
    choosers: null,
    policy: { seed, choice: 0, window: 1, lateLimit: 0 },
    threads: 1,
    maxSlots: 40 * origin.length,
    maps: mapColumns(group, npuCount),
    folded: false,
  } as const;
  const logs = jsKernels.spread(problem);
  if (logs === null) throw new Error("more slots are needed");
  const all = Array.from({ length: npuCount }, (_, npu): ArrivalLog => {
    const ports = routes.target.filter((to) => to === npu).length;
    const from = logs.portOffset[npu];
    return {
      chunk: logs.chunk.slice(logs.logOffset[npu], logs.logOffset[npu + 1]),
      ports: logs.ports.slice(from, from + logs.slots[npu] * ((ports + 7) >> 3)),
    };
  });
  const frame = {
    kind: "slots",
    topology,
    collective,
    routes,
    slotPs: SLOT_PS,
    slots: Math.max(...logs.slots),
    passes: PASSES[kind],
    origin: Int32Array.from(origin),
  } as const;
  return { frame, generators: generatorsOf(group, npuCount), least: leastNpus(group, npuCount), all };
}

/** Returns the schedule of which only the logs of the least NPUs are kept. */
export function keptFolded({ frame, generators, all }: FoldedSlots, logs = all): SlotSchedule {
  const row = foldedRows(frame, generators, (npu) => logs[npu]);
  if (row === null) throw new Error("the maps do not suit");
  return { ...frame, symmetry: { generators }, row };
}

/** Returns the logs with one arrival of a least NPU changed. */
export function withMutation({ frame, least, all }: FoldedSlots, seed: number): readonly ArrivalLog[] {
  const draws = random(seed, 37);
  const npu = least[draws.below(least.length)];
  const held = frame.origin.filter((owner) => owner === npu).length;
  const chunk = all[npu].chunk.slice();
  const ports = all[npu].ports.slice();
  const one = held + draws.below(chunk.length - held);
  const other = held + draws.below(chunk.length - held);
  const change = draws.below(4);
  if (change === 0) [chunk[one], chunk[other]] = [chunk[other], chunk[one]];
  else if (change === 1 && one > held) [chunk[one], chunk[one - 1]] = [chunk[one - 1], chunk[one]];
  else if (change === 2) chunk[one] = draws.below(frame.origin.length);
  else {
    // an arrival goes through another port, or in another slot
    const bits = [...ports.keys()].flatMap((byte) => [0, 1, 2, 3].map((bit) => byte * 8 + bit));
    const there = bits.filter((bit) => (ports[bit >> 3] >> (bit & 7)) & 1);
    const [from, to] = [there[draws.below(there.length)], bits[draws.below(bits.length)]];
    ports[from >> 3] &= ~(1 << (from & 7));
    ports[to >> 3] |= 1 << (to & 7);
  }
  return all.map((log, v) => (v === npu ? { chunk, ports } : log));
}
