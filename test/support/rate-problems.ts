import * as fc from "fast-check";
import { type Random, random } from "../../src/base/random.ts";
import type { Rate, RateProblem } from "../../src/engine/contract/kernels.ts";
import { nodeCount, type Topology } from "../../src/model/topology/topology.ts";
import { pick } from "./draws.ts";

/** Problems of the rate kernel, and their answer from the definition alone. */

/** A link: source, target, capacity. */
export type LinkRow = readonly [number, number, number];

/** Returns the problem of an all-gather over links. */
export function rateOf(npuCount: number, switches: number, links: readonly LinkRow[], weight?: readonly number[]) {
  return {
    nodeCount: npuCount + switches,
    npuCount,
    linkSource: Int32Array.from(links, ([source]) => source),
    linkTarget: Int32Array.from(links, ([, target]) => target),
    capacity: Float64Array.from(links, ([, , capacity]) => capacity),
    weight: Float64Array.from({ length: npuCount }, (_, npu) => weight?.[npu] ?? 1),
  } satisfies RateProblem;
}

/** Returns the problem of an all-gather on a network, capacities in bytes per second. */
export const rateOfTopology = (topology: Topology): RateProblem => ({
  nodeCount: nodeCount(topology),
  npuCount: topology.npuCount,
  linkSource: topology.linkSource,
  linkTarget: topology.linkTarget,
  capacity: topology.linkBytesPerSecond,
  weight: new Float64Array(topology.npuCount).fill(1),
});

/** Returns links of two directions. */
export const bothWays = (links: readonly LinkRow[]): LinkRow[] =>
  links.flatMap(([a, b, c]) => [[a, b, c] as const, [b, a, c] as const]);

function drawCapacity(generator: Random, most: number): number {
  const low = generator.below(Math.min(most, 2 ** 32));
  const value = most > 2 ** 32 ? generator.below(most / 2 ** 32) * 2 ** 32 + low : low;
  return Math.min(value + 1, Number.MAX_SAFE_INTEGER);
}

/** Closed walks of one capacity each: as much into every node as out of it. */
function walks(nodes: number, count: number, most: number, generator: Random): LinkRow[] {
  return Array.from({ length: count }, () => {
    const capacity = drawCapacity(generator, most);
    const stops = [generator.below(nodes)];
    for (let steps = 1 + generator.below(nodes); steps > 0; steps--) {
      const next = generator.below(nodes);
      if (next !== stops.at(-1) && (steps > 1 || next !== stops[0])) stops.push(next);
    }
    if (stops.at(-1) === stops[0]) stops.pop();
    return stops.length < 2
      ? []
      : stops.map((from, i) => [from, stops[(i + 1) % stops.length] as number, capacity] as const);
  }).flat();
}

function anyLinks(nodes: number, count: number, most: number, generator: Random): LinkRow[] {
  return Array.from({ length: count }, () => {
    const source = generator.below(nodes);
    return [source, (source + 1 + generator.below(nodes - 1)) % nodes, drawCapacity(generator, most)] as const;
  });
}

/** Random problems: balanced and not, some where NPUs cannot be reached, some with unequal weights. */
export const rateProblems: fc.Arbitrary<RateProblem> = fc
  .record({
    seed: fc.nat({ max: 2 ** 31 }),
    npus: fc.integer({ min: 3, max: 6 }),
    switches: fc.nat({ max: 3 }),
    balanced: fc.boolean(),
    density: fc.integer({ min: 1, max: 4 }),
    most: fc.constantFrom(1, 10, 1000, 1e6, 1e9, 2 ** 53),
    heaviest: fc.constantFrom(1, 1, 3, 1e6, 2 ** 50),
  })
  .map(({ seed, npus, switches, balanced, density, most, heaviest }) => {
    const generator = random(seed, 83);
    const nodes = npus + switches;
    const links = (balanced ? walks : anyLinks)(nodes, density * nodes, most, generator);
    const weight = Array.from({ length: npus }, () => (heaviest === 1 ? 1 : drawCapacity(generator, heaviest) - 1));
    weight[pick([...weight.keys()], generator)] = 1;
    return rateOf(npus, switches, links, weight);
  });

/** Returns the greatest ratio of all 2^nodes cuts, capacity 0 if one of them has no way out. */
export function rateByOracle({ nodeCount: nodes, npuCount, linkSource, linkTarget, capacity, weight }: RateProblem) {
  const npus = 2 ** npuCount - 1;
  let best = { shards: 0n, capacity: 1n };
  for (let set = 0; set < 2 ** nodes; set++) {
    if ((set & npus) === npus) continue;
    const has = (node: number): boolean => ((set >>> node) & 1) === 1;
    let shards = 0n;
    let leaving = 0n;
    for (let v = 0; v < npuCount; v++) if (has(v)) shards += BigInt(weight[v]);
    for (let i = 0; i < capacity.length; i++) {
      if (has(linkSource[i]) && !has(linkTarget[i])) leaving += BigInt(capacity[i]);
    }
    if (shards * best.capacity > best.shards * leaving) best = { shards, capacity: leaving };
  }
  return best;
}

/** Returns what is wrong with an answer: its figures must be those of its cut, which must lack an NPU. */
export function brokenRateLaws(problem: RateProblem, { shards, capacity, cut }: Rate): string[] {
  const { linkSource, linkTarget, weight, npuCount, nodeCount: nodes } = problem;
  const faults: string[] = [];
  let inside = 0n;
  let leaving = 0n;
  for (let v = 0; v < npuCount; v++) if (cut[v] === 1) inside += BigInt(weight[v]);
  for (let i = 0; i < linkSource.length; i++) {
    if (cut[linkSource[i]] === 1 && cut[linkTarget[i]] === 0) leaving += BigInt(problem.capacity[i]);
  }
  if (cut.length !== nodes || cut.some((mark) => mark > 1)) faults.push("the cut is not one mark per node");
  if (cut.subarray(0, npuCount).every((mark) => mark === 1)) faults.push("no NPU is outside");
  if (inside !== shards) faults.push(`the cut has ${inside} shards, not ${shards}`);
  if (leaving !== capacity) faults.push(`${leaving} leaves the cut, not ${capacity}`);
  return faults;
}
