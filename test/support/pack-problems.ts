import * as fc from "fast-check";
import { type Random, random } from "../../src/base/random.ts";
import type { Kernels, PackedTrees, PackOutcome, PackProblem } from "../../src/engine/contract/kernels.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { nodeCount } from "../../src/model/topology/topology.ts";
import { optimumFrom, packable } from "../../src/synthesize/forestcoll/optimum.ts";
import { shuffle } from "./draws.ts";
import { type LinkRow, rateOfTopology } from "./rate-problems.ts";

/** Problems of the pack kernel, what an answer must keep, and what forbids one, from the definitions alone. */

export type PackSettings = Partial<Omit<PackProblem, "linkSource" | "linkTarget" | "capacity" | "copies">>;

/** Returns the problem of packing copies at each NPU; the low prefer depth to load. */
export function packOf(
  copies: readonly number[],
  switches: number,
  links: readonly LinkRow[],
  settings: PackSettings = {},
): PackProblem {
  const npuCount = copies.length;
  const maxTrees = 16 + 4 * (npuCount + links.length);
  return {
    nodeCount: npuCount + switches,
    npuCount,
    linkSource: Int32Array.from(links, ([source]) => source),
    linkTarget: Int32Array.from(links, ([, target]) => target),
    capacity: Float64Array.from(links, ([, , capacity]) => capacity),
    copies: Float64Array.from(copies),
    depthPrice: 1000,
    loadPrice: 200,
    scheduled: false,
    seed: 1,
    repairs: 0,
    enoughHeight: 0,
    maxTrees,
    maxLinks: maxTrees * npuCount * (switches + 1),
    ...settings,
  };
}

/** Returns the problem of an optimal all-gather on a preset's network: k copies at each NPU, U times the bandwidths. */
export function packOfPreset(preset: string, kernels: Kernels, settings: PackSettings = {}): PackProblem {
  const topology = presetTopology(preset);
  const rate = kernels.rate(rateOfTopology(topology));
  const network = { ...topology, nodeCount: nodeCount(topology), bandwidth: topology.linkBytesPerSecond };
  const columns = packable(optimumFrom(network, new Float64Array(topology.npuCount).fill(1), rate));
  if (columns === null) throw new Error(`${preset}: capacities leave 2^53 - 1`);
  const links = Array.from(columns.capacity, (c, i) => [topology.linkSource[i], topology.linkTarget[i], c] as const);
  return packOf([...columns.copies], nodeCount(topology) - topology.npuCount, links, settings);
}

/** Adds a tree that spans the NPUs, over paths that pass each switch at most once. */
function addTree(copies: number[], switches: number, times: number, links: LinkRow[], generator: Random): void {
  const order = [...copies.keys()];
  shuffle(order, generator);
  copies[order[0]] += times;
  for (let i = 1; i < order.length; i++) {
    let at = order[generator.below(i)];
    for (let s = 0; s < switches; s++) {
      if (generator.below(3) > 0) continue;
      links.push([at, copies.length + s, times]);
      at = copies.length + s;
    }
    links.push([at, order[i], times]);
  }
}

/** Adds a closed walk of one capacity: as much into every node as out of it. */
function addWalk(nodes: number, times: number, links: LinkRow[], generator: Random): void {
  const first = generator.below(nodes);
  let at = first;
  for (let steps = generator.below(nodes); steps >= 0; steps--) {
    const to = steps === 0 ? first : generator.below(nodes);
    if (to !== at) links.push([at, to, times]);
    at = to;
  }
}

/** Random problems whose switches are balanced: made of trees, so that these use up every link, or of walks and any copies. */
export const packProblems = (mostNpus = 5): fc.Arbitrary<PackProblem> =>
  fc
    .record({
      seed: fc.nat({ max: 2 ** 31 }),
      npus: fc.integer({ min: 1, max: mostNpus }),
      switches: fc.nat({ max: 3 }),
      ofTrees: fc.boolean(),
      density: fc.integer({ min: 1, max: 3 }),
      most: fc.constantFrom(1, 3, 1000, 2 ** 32),
      settings: fc.record({
        depthPrice: fc.constantFrom(0, 500, 1000),
        loadPrice: fc.constantFrom(0, 200, 1000),
        scheduled: fc.boolean(),
        seed: fc.nat(),
        repairs: fc.constantFrom(0, 0, 5),
        enoughHeight: fc.nat({ max: 3 }),
      }),
    })
    .map(({ seed, npus, switches, ofTrees, density, most, settings }) => {
      const generator = random(seed, 101);
      const copies = Array.from({ length: npus }, () => (ofTrees ? 0 : generator.below(most)));
      const links: LinkRow[] = [];
      for (let i = density * npus; i > 0; i--) {
        const times = 1 + generator.below(most);
        if (ofTrees) addTree(copies, switches, times, links, generator);
        else addWalk(npus + switches, times, links, generator);
      }
      return packOf(copies, switches, links, settings);
    });

/** Returns how many more copies start in a set of nodes than can leave it. */
export function excessOf({ linkSource, linkTarget, capacity, copies }: PackProblem, has: (node: number) => boolean) {
  let excess = 0n;
  for (const [npu, count] of copies.entries()) if (has(npu)) excess += BigInt(count);
  for (const [i, room] of capacity.entries()) {
    if (has(linkSource[i]) && !has(linkTarget[i])) excess -= BigInt(room);
  }
  return excess;
}

/** Returns whether more copies start in one of the 2^nodes sets than can leave it, an NPU being outside. */
export function isViolated(problem: PackProblem): boolean {
  const npus = 2 ** problem.npuCount - 1;
  for (let set = 0; set < 2 ** problem.nodeCount; set++) {
    if ((set & npus) !== npus && excessOf(problem, (node) => ((set >>> node) & 1) === 1) > 0n) return true;
  }
  return false;
}

/** Returns what is wrong with an answer, at most a few sentences. */
export function brokenPackLaws(problem: PackProblem, outcome: PackOutcome | null): string[] {
  if (outcome === null) return ["there is not enough room"];
  if (outcome.kind === "stuck") return ["the search is stuck"];
  if (outcome.kind === "packed") return treeFaults(problem, outcome.trees);
  const { cut } = outcome;
  const faults: string[] = [];
  if (cut.length !== problem.nodeCount || cut.some((mark) => mark > 1)) faults.push("the cut is not one mark per node");
  if (cut.subarray(0, problem.npuCount).every((mark) => mark === 1)) faults.push("no NPU is outside");
  if (excessOf(problem, (node) => cut[node] === 1) <= 0n) faults.push("what starts in the cut can leave it");
  return faults;
}

function treeFaults({ npuCount, linkSource, linkTarget, capacity, copies }: PackProblem, trees: PackedTrees): string[] {
  const faults = new Set<string>();
  const load = Array.from(capacity, () => 0n);
  const started = Array.from(copies, () => 0n);
  const { root, linkOffset, links } = trees;
  if (linkOffset.length !== root.length * (npuCount - 1) + 1 || trees.copies.length !== root.length) return ["lengths"];
  if (linkOffset[0] !== 0 || linkOffset.at(-1) !== links.length) return ["the links are not those of the edges"];
  for (let t = 0; t < root.length; t++) {
    if (!(trees.copies[t] >= 1)) return [`tree ${t} stands for ${trees.copies[t]} copies`];
    const times = BigInt(trees.copies[t]);
    const reached = new Set([root[t]]);
    started[root[t]] += times;
    for (let e = t * (npuCount - 1); e < (t + 1) * (npuCount - 1); e++) {
      const path = links.subarray(linkOffset[e], linkOffset[e + 1]);
      if (path.length === 0) return [`edge ${e} has no links`];
      const stops = [linkSource[path[0]], ...Array.from(path, (link) => linkTarget[link])];
      if (path.some((link, i) => linkSource[link] !== stops[i])) faults.add(`edge ${e} is broken`);
      if (new Set(stops).size < stops.length) faults.add(`edge ${e} visits a node twice`);
      if (stops.slice(1, -1).some((stop) => stop < npuCount)) faults.add(`edge ${e} passes an NPU`);
      const last = stops[stops.length - 1];
      if (!reached.has(stops[0])) faults.add(`edge ${e} starts at ${stops[0]}, which the tree has not reached`);
      if (last >= npuCount || reached.has(last)) faults.add(`edge ${e} ends at ${last}`);
      reached.add(last);
      for (const link of path) load[link] += times;
    }
  }
  for (const [i, sum] of load.entries()) if (sum > BigInt(capacity[i])) faults.add(`link ${i} carries ${sum}`);
  for (const [v, sum] of started.entries())
    if (sum !== BigInt(copies[v])) faults.add(`${sum} copies start at NPU ${v}`);
  return [...faults];
}

/** Returns the edges on the longest way down from a root. */
export function heightOf({ npuCount, linkSource, linkTarget }: PackProblem, trees: PackedTrees): number {
  const depth = new Int32Array(npuCount);
  let height = 0;
  for (let t = 0; t < trees.root.length; t++) {
    depth[trees.root[t]] = 0;
    for (let e = t * (npuCount - 1); e < (t + 1) * (npuCount - 1); e++) {
      const [first, last] = [trees.links[trees.linkOffset[e]], trees.links[trees.linkOffset[e + 1] - 1]];
      depth[linkTarget[last]] = depth[linkSource[first]] + 1;
      height = Math.max(height, depth[linkTarget[last]]);
    }
  }
  return height;
}
