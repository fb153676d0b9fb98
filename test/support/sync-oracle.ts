import { type Collective, membersOf } from "../../src/model/collective/collective.ts";
import type { Topology } from "../../src/model/topology/topology.ts";

/** A chunk's bit where an NPU has it. */
const bitOf = (npu: number, chunk: number, chunks: number): number => 2 ** (npu * chunks + chunk);
const has = (state: number, bit: number): boolean => Math.floor(state / bit) % 2 === 1;

/** Returns the subsets of `size` elements, or the whole where there are not so many. */
function subsets<T>(of: readonly T[], size: number): T[][] {
  if (of.length <= size) return [[...of]];
  if (size === 0) return [[]];
  const [first, ...rest] = of as [T, ...T[]];
  return [...subsets(rest, size - 1).map((one) => [first, ...one]), ...subsets(rest, size)];
}

/**
 * Returns [steps - 1] the fewest rounds, by brute force over all that NPUs may hold, of networks of direct links and at most
 * 53 pairs of NPU and chunk; Infinity where so many steps are too few. A link carries floor(its bandwidth / the least) chunks
 * a round. Holding more never hurts, so every link sends as many as it can.
 */
export function syncOracle(topology: Topology, collective: Collective, mostSteps: number): number[] {
  const { linkSource, linkTarget, linkBytesPerSecond } = topology;
  const chunks = collective.chunkCount;
  const slowest = Math.min(...linkBytesPerSecond);
  const capacity = Array.from(linkBytesPerSecond, (rate) => Math.floor(rate / slowest));
  const sum = (of: "pre" | "post"): number[] =>
    Array.from({ length: chunks }, (_, c) => c).flatMap((c) =>
      Array.from(membersOf(collective, collective[of], c), (v) => bitOf(v, c, chunks)),
    );
  const wanted = sum("post");
  let states = new Map([[sum("pre").reduce((a, b) => a + b, 0), 0]]);
  const found: number[] = [];
  for (let step = 1; step <= mostSteps; step++) {
    const next = new Map<number, number>();
    for (const [state, before] of states) {
      for (let rounds = 1; rounds <= chunks; rounds++) {
        let reached = new Set([state]);
        for (let link = 0; link < capacity.length; link++) {
          const source = linkSource[link] as number;
          const target = linkTarget[link] as number;
          const further = new Set<number>();
          for (const at of reached) {
            const sent = Array.from({ length: chunks }, (_, c) => c).filter(
              (c) => has(state, bitOf(source, c, chunks)) && !has(at, bitOf(target, c, chunks)),
            );
            for (const some of subsets(sent, rounds * (capacity[link] as number))) {
              further.add(some.reduce((all, c) => all + bitOf(target, c, chunks), at));
            }
          }
          reached = further;
        }
        for (const at of reached) next.set(at, Math.min(next.get(at) ?? Number.POSITIVE_INFINITY, before + rounds));
      }
    }
    states = next;
    let fewest = Number.POSITIVE_INFINITY;
    for (const [state, rounds] of states) if (wanted.every((bit) => has(state, bit))) fewest = Math.min(fewest, rounds);
    found.push(fewest);
  }
  return found;
}
