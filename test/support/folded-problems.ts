import * as fc from "fast-check";
import { random } from "../../src/base/random.ts";
import type { MatchProblem } from "../../src/engine/contract/kernels.ts";
import { automorphismsOf } from "../../src/model/symmetry/automorphisms.ts";
import { pick, shuffle } from "./draws.ts";
import { allGather, networkOf, type Route } from "./networks.ts";

/** An all-gather, and a group of maps that take the routes onto routes that are as long, the identity first. */
export interface FoldedProblem {
  readonly problem: MatchProblem;
  readonly maps: readonly Int32Array[];
}

/** Returns the maps as the columns of a spread problem. */
export const mapColumns = (maps: readonly Int32Array[]): Int32Array =>
  Int32Array.from(maps.flatMap((map) => Array.from(map)));

const MOST_MAPS = 120;

/** Returns all maps that products of the given ones make, the identity first; only this one where they are too many. */
function groupOf(npus: number, generators: readonly Int32Array[]): Int32Array[] {
  const group = [Int32Array.from({ length: npus }, (_, v) => v)];
  const known = new Set(group.map((map) => map.join()));
  for (const map of group) {
    for (const generator of generators) {
      const next = map.map((image) => generator[image]);
      if (known.has(next.join())) continue;
      known.add(next.join());
      group.push(next);
      if (group.length > MOST_MAPS) return group.slice(0, 1);
    }
  }
  return group;
}

/** Generates random networks that are the same under the powers of a random permutation, or under two of them. */
export const foldedProblems: fc.Arbitrary<FoldedProblem> = fc
  .record({
    npus: fc.integer({ min: 2, max: 9 }),
    generators: fc.integer({ min: 1, max: 2 }),
    moved: fc.integer({ min: 2, max: 4 }),
    ends: fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 2, maxLength: 8 }),
    chunks: fc.integer({ min: 1, max: 3 }),
    seed: fc.nat(1e6),
    novelty: fc.nat(1),
    overtaking: fc.nat(1),
  })
  .map(({ npus, generators, moved, ends, chunks, ...policy }) => {
    const { seed } = policy;
    const draws = random(seed, 1);
    const permutation = (): Int32Array => {
      const places = Int32Array.from({ length: npus }, (_, v) => v);
      shuffle(places, draws);
      const cycle = places.slice(0, moved);
      const map = Int32Array.from({ length: npus }, (_, v) => v);
      for (const [i, v] of cycle.entries()) map[v] = cycle[(i + 1) % cycle.length];
      return map;
    };
    const maps = groupOf(npus, Array.from({ length: generators }, permutation));
    const routes: Route[] = [];
    const drawn = ends.map(([source, target]) => [source % npus, target % npus] as const);
    const ring = Array.from({ length: npus }, (_, v) => [v, (v + 1) % npus] as const);
    for (const [source, target] of [...drawn, ...ring]) {
      if (source === target) continue;
      const slotPs = pick([4, 4, 5, 9, 20], draws);
      for (const map of maps) routes.push({ source: map[source], target: map[target], slotPs });
    }
    shuffle(routes, draws);
    return { problem: allGather(networkOf(npus, routes), chunks, policy), maps };
  });

/** Returns an all-gather on a network with all maps onto itself that are found. */
export function foldedAllGather(problem: MatchProblem): FoldedProblem {
  const { npuCount, routeSource, routeTarget, slotPs } = problem.network;
  const lengths = [...new Set(slotPs)];
  const kinds = Int32Array.from(slotPs, (slot) => lengths.indexOf(slot));
  const maps = automorphismsOf(npuCount, routeSource, routeTarget, kinds);
  if (maps === null) throw new Error("no maps are found");
  return { problem, maps };
}
