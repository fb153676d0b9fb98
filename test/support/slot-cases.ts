import { type Random, random } from "../../src/base/random.ts";
import { type Collective, collective } from "../../src/model/collective/collective.ts";
import { rational } from "../../src/model/numbers/rational.ts";
import type { RouteSet } from "../../src/model/routes/routes.ts";
import { portBytes, type SlotPass, type SlotSchedule } from "../../src/model/slots/slot-schedule.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { shuffle } from "./draws.ts";
import { everyone } from "./everyone.ts";
import { PASSES, SLOT_KINDS, type SlotKind } from "./slot-passes.ts";

/** Correct slot schedules, made port by port with arrays and sets, and kept in a form that is easily broken. */

export interface PlainArrival {
  chunk: number;
  port: number;
  slot: number;
}

/** The logs as lists; everything may be changed. */
export interface PlainSlots {
  topology: Topology;
  collective: Collective;
  routes: RouteSet;
  slotPs: number;
  slots: number;
  passes: readonly SlotPass[];
  origin: number[];
  symmetry: readonly number[] | null;
  /** [NPUs] the first entries of the log, then what arrives. */
  held: number[][];
  arrivals: PlainArrival[][];
}

/** 1,000 bytes over 1 GB/s and 0.5 us. */
export const SLOT_PS = 1_500_000;
const BYTES = 1000;

/** Returns one route a link. */
export function directRoutes(topology: Topology): RouteSet {
  const links = topology.linkSource.length;
  return {
    source: topology.linkSource,
    target: topology.linkTarget,
    linkOffset: Int32Array.from({ length: links + 1 }, (_, i) => i),
    links: everyone(links),
    shareNum: new Float64Array(links).fill(1),
    shareDen: new Float64Array(links).fill(1),
  };
}

export const into = (routes: RouteSet, npu: number): number[] =>
  [...routes.target.keys()].filter((route) => routes.target[route] === npu);

/** Returns NPUs a0, a1 ... with links of 1 GB/s and 0.5 us. */
export function networkOf(n: number, pairs: readonly (readonly [number, number])[]): Topology {
  const builder = topologyBuilder("pairs");
  for (let v = 0; v < n; v++) builder.addNpu(`a${v}`);
  for (const [a, b] of pairs) builder.addLink(a, b, 1e9, 500_000);
  return builder.build();
}

/** Returns the collective whose chunks of BYTES the kind has on so many NPUs, and the origins of its logs. */
export function goal(kind: SlotKind, n: number, chunksPerNpu: number, root: number): [Collective, number[]] {
  const rooted = kind === "broadcast" || kind === "reduce";
  const whole = collective({
    kind,
    groups: [everyone(n)],
    sizeBytes: BYTES * chunksPerNpu * (rooted ? 1 : n),
    chunksPerNpu,
    rootRank: rooted ? root : 0,
  });
  const origin = Array.from({ length: whole.chunkCount }, (_, c) => (rooted ? root : Math.floor(c / chunksPerNpu)));
  return [{ ...whole, chunkBytes: rational(BYTES) }, origin];
}

/** Returns a correct schedule: in each slot every port brings a random chunk that its source had before. */
export function plainSlots(topology: Topology, kind: SlotKind, chunksPerNpu: number, draws: Random): PlainSlots {
  const n = topology.npuCount;
  const [whole, origin] = goal(kind, n, chunksPerNpu, draws.below(n));
  const routes = directRoutes(topology);
  const held = Array.from({ length: n }, (_, v) => [...origin.keys()].filter((c) => origin[c] === v));
  const has = held.map((chunks) => new Set(chunks));
  const arrivals: PlainArrival[][] = held.map(() => []);
  let slot = 0;
  for (; has.some(({ size }) => size < origin.length); slot++) {
    const before = has.map((chunks) => new Set(chunks));
    for (let v = 0; v < n; v++) {
      for (const [port, route] of into(routes, v).entries()) {
        const ready = [...(before[routes.source[route]] as Set<number>)].filter((c) => !has[v].has(c));
        // now and then a port is idle
        if (ready.length === 0 || draws.below(8) === 0) continue;
        const chunk = ready[draws.below(ready.length)] as number;
        has[v].add(chunk);
        arrivals[v].push({ chunk, port, slot });
      }
    }
  }
  const frame = { topology, collective: whole, routes, slotPs: SLOT_PS, slots: slot, passes: PASSES[kind] };
  return { ...frame, origin, symmetry: null, held, arrivals };
}

/** Returns a copy whose logs may be changed. */
export const copyOf = (plain: PlainSlots): PlainSlots => ({
  ...plain,
  origin: [...plain.origin],
  held: plain.held.map((chunks) => [...chunks]),
  arrivals: plain.arrivals.map((list) => list.map((arrival) => ({ ...arrival }))),
});

export interface PlainLog {
  chunk: number[];
  ports: number[];
}

/** Returns the NPU's log: chunks in order of slot and port, and the bits of ports. */
export function logOf(plain: PlainSlots, npu: number): PlainLog {
  const bytes = portBytes(into(plain.routes, npu).length);
  const sorted = [...plain.arrivals[npu]].sort((a, b) => a.slot - b.slot || a.port - b.port);
  const ports = new Array<number>(bytes * ((sorted.at(-1)?.slot ?? -1) + 1)).fill(0);
  for (const { port, slot } of sorted) ports[slot * bytes + (port >> 3)] |= 1 << (port & 7);
  return { chunk: [...plain.held[npu], ...sorted.map(({ chunk }) => chunk)], ports };
}

/** Returns the schedule with these logs. */
export function scheduleOf(plain: PlainSlots, logs: readonly PlainLog[]): SlotSchedule {
  const rows = logs.map(({ chunk, ports }) => ({ chunk: Int32Array.from(chunk), ports: Uint8Array.from(ports) }));
  const { held: _, arrivals: __, origin, ...frame } = plain;
  return { kind: "slots", ...frame, origin: Int32Array.from(origin), row: (npu) => rows[npu] };
}

export const built = (plain: PlainSlots): SlotSchedule =>
  scheduleOf(
    plain,
    plain.held.map((_, npu) => logOf(plain, npu)),
  );

/** Returns both directions of a ring, mesh or torus of these sizes. */
export function grid(sizes: readonly number[], wraps: boolean): Topology {
  const n = sizes.reduce((product, size) => product * size, 1);
  const pairs: [number, number][] = [];
  for (let v = 0; v < n; v++) {
    let stride = 1;
    for (const size of sizes) {
      const x = Math.floor(v / stride) % size;
      const next = x + 1 < size ? v + stride : wraps && size > 2 ? v - x * stride : -1;
      if (next >= 0) pairs.push([v, next], [next, v]);
      stride *= size;
    }
  }
  return networkOf(n, pairs);
}

/** Returns a strongly connected network with parallel links; with `twoWay` every link has one back. */
export function anyDigraph(draws: Random, twoWay: boolean, most = 7): Topology {
  const n = 2 + draws.below(most - 1);
  const pairs: [number, number][] = [];
  for (let v = 0; v < n; v++) pairs.push([v, (v + 1) % n]);
  for (let extra = draws.below(3 * n); extra > 0; extra--) {
    const a = draws.below(n);
    pairs.push([a, (a + 1 + draws.below(n - 1)) % n]);
  }
  if (twoWay) for (const [a, b] of [...pairs]) pairs.push([b, a]);
  shuffle(pairs, draws);
  return networkOf(n, pairs);
}

/** Returns `count` correct schedules of all kinds on rings, meshes, tori, stars and random networks. */
export function slotCases(count: number): PlainSlots[] {
  return Array.from({ length: count }, (_, seed) => {
    const draws = random(seed, 31);
    const kind = SLOT_KINDS[seed % SLOT_KINDS.length] as SlotKind;
    const networks = [
      () => grid([2 + draws.below(6)], true),
      () => grid([2 + draws.below(3), 2 + draws.below(2)], false),
      () => grid([3, 2 + draws.below(2)], true),
      () => grid([2, 2, 2], false),
      () =>
        anyDigraph(
          draws,
          PASSES[kind].some(({ reversed }) => reversed),
        ),
      // a hub with more than eight ports
      () =>
        networkOf(
          10,
          [...everyone(9)].flatMap(
            (v) =>
              [
                [v, 9],
                [9, v],
              ] as [number, number][],
          ),
        ),
    ];
    const topology = (networks[Math.floor(seed / SLOT_KINDS.length) % networks.length] as () => Topology)();
    return plainSlots(topology, kind, 1 + draws.below(3), draws);
  });
}
