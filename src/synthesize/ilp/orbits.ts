import { disjointSets } from "../../model/graph/disjoint-sets.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import { pairOf } from "./exchanges.ts";
import type { FlowProblem } from "./problem.ts";
import { classesOf, type FlowMap } from "./symmetries.ts";
import { type Columns, EXCHANGE, MEET } from "./windows.ts";

/** Returns for each column the least one of its orbit under the maps. O(maps x columns). */
export function orbitsOfColumns({ blocks, block, count, opposite }: Columns, maps: readonly FlowMap[]): Int32Array {
  const sets = disjointSets(count);
  for (const { npuTo, routeTo, flowTo } of maps) {
    for (const one of blocks) {
      const { side, place } = one;
      const exchanged = side === EXCHANGE ? pairOf(opposite, routeTo[place]) : routeTo[place];
      const image = block(flowTo[one.flow], side, side === MEET ? npuTo[place] : exchanged);
      if (image === undefined || image.low !== one.low || image.high !== one.high) continue;
      for (let k = 0; k <= one.high - one.low; k++) sets.join(one.first + k, image.first + k);
    }
  }
  return Int32Array.from({ length: count }, (_, column) => sets.least(column));
}

/**
 * Returns the maps with those that exchange alike flows added. The mean of a point of the relaxation over all its images is
 * a point too, so orbits under these leave the relaxation as feasible as it was.
 */
export function withExchanges(problem: FlowProblem, maps: readonly FlowMap[]): FlowMap[] {
  const flowTo = indicesBelow(problem.flows.length);
  for (const list of classesOf(problem.flows).values()) {
    for (const [i, f] of list.entries()) flowTo[f] = list[(i + 1) % list.length];
  }
  return [
    ...maps,
    { npuTo: indicesBelow(problem.npuCount), routeTo: indicesBelow(problem.routes.source.length), flowTo },
  ];
}
