import { InputError } from "../../errors.ts";
import { gcd } from "../../model/integers.ts";
import { listSchedule } from "../../model/list-schedule.ts";
import { type Blocks, blocksOf, type Messages, messages } from "../../model/messages.ts";
import type { Topology } from "../../model/topology.ts";
import type { Synthesizer } from "../synthesizer.ts";

/** Returns the steps a, ascending, for which every NPU i has a link to i + a and these links make one ring. O(links). */
export function shiftsOf(topology: Topology): number[] {
  const { npuCount, linkSource, linkTarget } = topology;
  const seen = new Map<number, Set<number>>();
  for (let link = 0; link < linkSource.length; link++) {
    if (linkSource[link] >= npuCount || linkTarget[link] >= npuCount) continue;
    const shift = (linkTarget[link] - linkSource[link] + npuCount) % npuCount;
    const from = seen.get(shift) ?? new Set();
    seen.set(shift, from.add(linkSource[link]));
  }
  const rings = [...seen].filter(([shift, from]) => from.size === npuCount && gcd(shift, npuCount) === 1);
  return rings.map(([shift]) => shift).sort((a, b) => a - b);
}

/** The k-th chunks of all NPUs go round ring k modulo the number of rings: in each of N - 1 rounds every NPU passes one on. */
function rounds(list: Messages, blocks: Blocks, shifts: readonly number[], chunks: number, reduce: boolean): void {
  const { size } = blocks;
  for (let round = 0; round < size - 1; round++) {
    for (let npu = 0; npu < size; npu++) {
      for (let k = 0; k < chunks; k++) {
        const shift = shifts[k % shifts.length] as number;
        const back = reduce ? round + 1 : round;
        const owner = (((npu - back * shift) % size) + size) % size;
        list.add(owner * chunks + k, npu, (npu + shift) % size, reduce);
      }
    }
  }
}

/**
 * Rings i -> i + a side by side, one for every step a that has links everywhere and is prime to N, each with an equal part of the
 * chunks (the ShiftedRing of Zhao 2026, 3.8.2, where there are two such steps and their opposites).
 */
export const shiftedRings: Synthesizer = {
  name: "shifted-rings",
  description: "rings i -> i + a side by side, for every step a the network has, both ways (baseline)",
  collectives: ["allgather", "reducescatter", "allreduce"],
  policies: [],
  /** One for each ring. */
  ownChunks: async ({ topology }) => Math.max(1, shiftsOf(topology).length),
  async synthesize({ topology, collective }) {
    const { groupSize, groupCount, chunksPerNpu, kind } = collective;
    if (groupCount > 1 || groupSize !== topology.npuCount) {
      throw new InputError("--group", "no groups (shifted rings run over the whole network)", `${groupCount} groups`);
    }
    const shifts = shiftsOf(topology);
    if (shifts.length === 0) {
      const wanted = "a network in which links from every NPU i to i + a make a ring, such as ring:8, circulant:16,1,3";
      throw new InputError("the topology", wanted, topology.name);
    }
    const list = messages();
    const blocks = blocksOf(collective);
    if (kind !== "allgather") rounds(list, blocks, shifts, chunksPerNpu, true);
    if (kind !== "reducescatter") rounds(list, blocks, shifts, chunksPerNpu, false);
    const policy = `${shifts.length} rings: steps ${shifts.join(", ")}`;
    return { schedule: listSchedule(topology, collective, list), policy, trials: 1 };
  },
};
