import * as fc from "fast-check";
import { random } from "../../src/base/random.ts";
import type { PartitionProblem } from "../../src/engine/contract/kernels.ts";
import { nodeCount, type Topology } from "../../src/model/topology/topology.ts";
import type { LinkRow } from "./rate-problems.ts";

/** Problems of the partition kernel, and their answer from the definition alone. */

/** Returns the problem of terminals, switches, and switches that go with no part, over links; each terminal a part to begin with. */
export const partitionOf = (
  terminals: number,
  switches: number,
  links: readonly LinkRow[],
  { outside = 0, start = [...Array(terminals).keys()] }: { outside?: number; start?: readonly number[] } = {},
): PartitionProblem => ({
  nodeCount: terminals + switches + outside,
  outsideCount: outside,
  linkSource: Int32Array.from(links, ([source]) => source),
  linkTarget: Int32Array.from(links, ([, target]) => target),
  capacity: Float64Array.from(links, ([, , capacity]) => capacity),
  start: Int32Array.from(start),
});

/** Returns the problem of a network whose switches do nothing but forward, capacities in bytes per second. */
export const partitionOfTopology = (topology: Topology): PartitionProblem => ({
  nodeCount: nodeCount(topology),
  outsideCount: 0,
  linkSource: topology.linkSource,
  linkTarget: topology.linkTarget,
  capacity: topology.linkBytesPerSecond,
  start: Int32Array.from({ length: topology.npuCount }, (_, npu) => npu),
});

/** Random problems: directed links, some parallel, some terminals without any; any parts to begin with. */
export const partitionProblems: fc.Arbitrary<PartitionProblem> = fc
  .record({
    seed: fc.nat({ max: 2 ** 31 }),
    terminals: fc.integer({ min: 1, max: 6 }),
    switches: fc.nat({ max: 3 }),
    outside: fc.nat({ max: 2 }),
    density: fc.integer({ min: 1, max: 4 }),
    bothWays: fc.boolean(),
    most: fc.constantFrom(1, 3, 10, 1000, 2 ** 50),
  })
  .map(({ seed, terminals, switches, outside, density, bothWays, most }) => {
    const generator = random(seed, 59);
    const nodes = terminals + switches + outside;
    const links: LinkRow[] = [];
    for (let i = nodes === 1 ? 0 : density * nodes; i > 0; i--) {
      const source = generator.below(nodes);
      const target = (source + 1 + generator.below(nodes - 1)) % nodes;
      const low = generator.below(Math.min(most, 2 ** 30));
      const capacity = 1 + low + (most > 2 ** 30 ? generator.below(most / 2 ** 30) * 2 ** 30 : 0);
      links.push([source, target, capacity]);
      if (bothWays) links.push([target, source, capacity]);
    }
    const start = Array.from({ length: terminals }, () => generator.below(terminals));
    return partitionOf(terminals, switches, links, { outside, start });
  });

/** Yields all partitions of 0 .. count - 1, each as part numbers in the order in which they come. */
export function* partitionsOf(count: number): Generator<number[]> {
  const part = new Array<number>(count).fill(0);
  function* place(item: number, parts: number): Generator<number[]> {
    if (item === count) yield part;
    else {
      for (let own = 0; own <= parts; own++) {
        part[item] = own;
        yield* place(item + 1, Math.max(parts, own + 1));
      }
    }
  }
  if (count > 0) yield* place(0, 0);
}

/** Returns the least capacity that leaves the terminals of `set` (bits) with any of the switches. */
export function leastBorder({
  nodeCount: nodes,
  outsideCount,
  linkSource,
  linkTarget,
  capacity,
  start,
}: PartitionProblem) {
  const terminals = start.length;
  const switches = nodes - outsideCount - terminals;
  return (set: number): bigint => {
    let least: bigint | null = null;
    for (let chosen = 0; chosen < 2 ** switches; chosen++) {
      const inside = set + chosen * 2 ** terminals;
      const has = (node: number): boolean => Math.floor(inside / 2 ** node) % 2 === 1;
      let leaving = 0n;
      for (let i = 0; i < capacity.length; i++) {
        if (has(linkSource[i]) && !has(linkTarget[i])) leaving += BigInt(capacity[i]);
      }
      if (least === null || leaving < least) least = leaving;
    }
    return least ?? 0n;
  };
}

/** Returns the borders of the parts together, and how many parts there are, less one. */
export function ratioOf(border: (set: number) => bigint, part: ArrayLike<number>): { border: bigint; others: bigint } {
  const sets = new Map<number, number>();
  for (let v = 0; v < part.length; v++) sets.set(part[v], (sets.get(part[v]) ?? 0) + 2 ** v);
  let sum = 0n;
  for (const set of sets.values()) sum += border(set);
  return { border: sum, others: BigInt(sets.size - 1) };
}

/** Returns the least ratio of all partitions into at least two parts; null where there is none. */
export function narrowestByOracle(problem: PartitionProblem): { border: bigint; others: bigint } | null {
  const known = new Map<number, bigint>();
  const least = leastBorder(problem);
  const border = (set: number): bigint => {
    const value = known.get(set) ?? least(set);
    known.set(set, value);
    return value;
  };
  let best: { border: bigint; others: bigint } | null = null;
  for (const part of partitionsOf(problem.start.length)) {
    const ratio = ratioOf(border, part);
    if (ratio.others === 0n) continue;
    if (best === null || ratio.border * best.others < best.border * ratio.others) best = ratio;
  }
  return best;
}
