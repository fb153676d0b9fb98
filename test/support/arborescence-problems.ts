import * as fc from "fast-check";
import { random } from "../../src/base/random.ts";
import type { ArborescenceProblem } from "../../src/engine/contract/kernels.ts";

/** Problems of the arborescence kernel, and their answer from the definition alone. */

/** An arc: source, target, cost. */
export type ArcRow = readonly [number, number, number];

/** Returns the columns of a list of arcs. */
export const arborescenceOf = (nodeCount: number, root: number, arcs: readonly ArcRow[]): ArborescenceProblem => ({
  nodeCount,
  root,
  arcSource: Int32Array.from(arcs, ([source]) => source),
  arcTarget: Int32Array.from(arcs, ([, target]) => target),
  cost: Float64Array.from(arcs, ([, , cost]) => cost),
});

/** Random problems; some have no answer, some arcs lead to their own source or into the root, many cost the same. */
export const arborescenceProblems = (mostNodes = 6, mostDensity = 4): fc.Arbitrary<ArborescenceProblem> =>
  fc
    .record({
      seed: fc.nat({ max: 2 ** 31 }),
      nodes: fc.integer({ min: 1, max: mostNodes }),
      density: fc.nat({ max: mostDensity }),
      most: fc.constantFrom(1, 3, 10, 2 ** 28),
      scale: fc.constantFrom(1, 2 ** 17),
    })
    .map(({ seed, nodes, density, most, scale }) => {
      const generator = random(seed, 101);
      const arcs = Array.from({ length: density * nodes }, () => {
        const cost = scale * generator.below(most);
        return [generator.below(nodes), generator.below(nodes), cost] as const;
      });
      return arborescenceOf(nodes, generator.below(nodes), arcs);
    });

/** Returns the total cost of the arcs chosen; NaN unless one enters every node but the root and none is in a circle. */
export function costOfArcs({ nodeCount, root, arcSource, arcTarget, cost }: ArborescenceProblem, arc: Int32Array) {
  if (arc.length !== nodeCount || arc[root] !== -1) return Number.NaN;
  let sum = 0;
  for (let v = 0; v < nodeCount; v++) {
    if (v === root) continue;
    if (arcTarget[arc[v]] !== v) return Number.NaN;
    sum += cost[arc[v]];
    let at = v;
    for (let steps = 0; at !== root; steps++) {
      if (steps === nodeCount) return Number.NaN;
      at = arcSource[arc[at]];
    }
  }
  return sum;
}

/** Returns the least cost of all arborescences, by trying every choice of arcs; Infinity where there is none. */
export function leastCostByOracle(problem: ArborescenceProblem): number {
  const { nodeCount, root, arcTarget } = problem;
  const arc = new Int32Array(nodeCount).fill(-1);
  const tryFrom = (node: number): number => {
    if (node === nodeCount) {
      const cost = costOfArcs(problem, arc);
      return Number.isNaN(cost) ? Number.POSITIVE_INFINITY : cost;
    }
    if (node === root) return tryFrom(node + 1);
    let least = Number.POSITIVE_INFINITY;
    for (let a = 0; a < arcTarget.length; a++) {
      if (arcTarget[a] !== node) continue;
      arc[node] = a;
      least = Math.min(least, tryFrom(node + 1));
    }
    arc[node] = -1;
    return least;
  };
  return tryFrom(0);
}
