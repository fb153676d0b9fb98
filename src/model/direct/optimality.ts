import { type Rational, rational } from "../numbers/rational.ts";

/** What no network of N nodes with d ports each can beat, whatever its links and schedule (Zhao 2026, A.3). */

/** Returns T_L* / alpha: the fewest comm steps by the Moore bound of digraphs (definitions 9, 10). O(log N). */
export const mooreSteps = (nodes: number, degree: number): number => stepsToReach(nodes, degree, degree);

/** Returns T_L** / alpha, the same where links come in opposite pairs: an undirected graph of degree d. */
export const bidirectionalMooreSteps = (nodes: number, degree: number): number =>
  stepsToReach(nodes, degree, degree - 1);

function stepsToReach(nodes: number, first: number, factor: number): number {
  if (factor === 0 && nodes > 1 + first) return Number.POSITIVE_INFINITY;
  if (factor === 1) return Math.ceil((nodes - 1) / first);
  let steps = 0;
  for (let reached = 1, level = first; reached < nodes; reached += level, level *= factor) steps++;
  return steps;
}

/** Returns T_B* in units of M / B: the least bandwidth time of an all-gather or reduce-scatter (theorem 4). */
export const leastBandwidthTime = (nodes: number): Rational => rational(nodes - 1, nodes);

/**
 * Returns the greatest rate of an all-to-all in units of a link's bandwidth, f of (A.1): each node has d^t nodes at most at
 * distance t, and all distances together use the N * d links. O(log N).
 */
export function greatestAllToAllRate(nodes: number, degree: number): Rational {
  if (degree === 1) return rational(2n, BigInt(nodes) * BigInt(nodes - 1));
  let distances = 0n;
  for (let t = 1, level = degree, left = nodes - 1; left > 0; t++, level *= degree) {
    const here = Math.min(level, left);
    distances += BigInt(t) * BigInt(here);
    left -= here;
  }
  return rational(BigInt(degree), distances);
}
