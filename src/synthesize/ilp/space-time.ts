import { closure, type FlowMap, productsOf } from "./flow-maps.ts";
import { type FlowProblem, isReversible, oppositeRoutes, type Resource } from "./problem.ts";

/**
 * Symmetries of all-reduces in space and time: a map of the network, played forwards, or backwards over the routes the other
 * way with sums for copies. A group of them need not hold the mirror itself: the 4x4 mesh with a chunk per NPU takes 13 slots
 * under the half turn and the diagonals played forwards, with quarter turns and the axes played backwards.
 */
export interface SpaceTimeMap {
  readonly map: FlowMap;
  readonly backwards: boolean;
}

/** Larger groups of maps are not looked through for those that two of them generate. */
const MOST_PAIRED = 24;
/** So many groups are returned, the largest, and of equal ones first those that turn time around without holding the mirror. */
const MOST_GROUPS = 6;

/**
 * Returns groups of maps whose order divides the number of chunks, the largest first, one of those that are the same but for
 * a map of the network; each begins with the identity, which alone is none of them. Of flows that are all alike all-reduces;
 * none otherwise. O(maps^3 x order).
 */
export function spaceTimeGroups(
  problem: FlowProblem,
  resources: readonly Resource[],
  maps: readonly FlowMap[],
): SpaceTimeMap[][] {
  const product = productsOf(maps);
  if (product === null || maps.length > MOST_PAIRED) return [];
  const count = 2 * maps.length;
  const reversible = isReversible(oppositeRoutes(problem), resources);
  /** Element 2i is map i played forwards, 2i + 1 backwards. */
  const both = Int32Array.from({ length: count * count }, (_, at) => {
    const [a, b] = [Math.floor(at / count), at % count];
    return 2 * product[(a >> 1) * maps.length + (b >> 1)] + ((a ^ b) & 1);
  });
  const elements = Array.from({ length: count }, (_, e) => e).filter((e) => reversible || (e & 1) === 0);
  const inverse = elements.map((a) => elements.find((b) => both[a * count + b] === 0) ?? 0);
  const found = new Map<string, number[]>();
  const seen = new Set<string>();
  for (const a of elements) {
    for (const b of elements.filter((one) => one >= a)) {
      const group = closure([a, b], both);
      if (group.length === 1 || problem.flows.length % group.length !== 0 || seen.has(group.join())) continue;
      const conjugates = elements.map((g, i) =>
        group
          .map((e) => both[both[g * count + e] * count + inverse[i]])
          .sort((x, y) => x - y)
          .join(),
      );
      for (const one of conjugates) seen.add(one);
      found.set(group.join(), group);
    }
  }
  const mixes = (group: readonly number[]): number => (group.some((e) => (e & 1) === 1) && !group.includes(1) ? 1 : 0);
  return [...found.values()]
    .sort((a, b) => b.length - a.length || mixes(b) - mixes(a))
    .slice(0, MOST_GROUPS)
    .map((group) => group.map((e) => ({ map: maps[e >> 1], backwards: (e & 1) === 1 })));
}
