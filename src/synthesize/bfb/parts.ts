import { bigLcm } from "../../model/numbers/integers.ts";
import type { Rational } from "../../model/numbers/rational.ts";

/** Returns the fewest equal parts of a shard in which loads in shards are whole: what an optimal schedule needs (Zhao 2026, A.5.2). */
export const exactParts = (loads: readonly Rational[]): bigint => loads.reduce((all, { den }) => bigLcm(all, den), 1n);

/**
 * Returns the number of parts, 1 .. most, in which steps of these loads take least: of P parts the busiest link carries
 * ceil(P * load), which is optimal (A.11), for the greatest of ceilings is the ceiling of the greatest. The fewest among equals.
 * O(most * steps).
 */
export function bestParts(loads: readonly Rational[], most: number): number {
  const exact = exactParts(loads);
  if (exact <= BigInt(most)) return Number(exact);
  const figures = loads.map(({ num, den }) => [Number(num), Number(den)] as const);
  let best = 1;
  let bestSum = Number.POSITIVE_INFINITY;
  for (let parts = 1; parts <= most; parts++) {
    let sum = 0;
    for (const [num, den] of figures) sum += Math.ceil((num * parts) / den);
    if (sum * best < bestSum * parts) [best, bestSum] = [parts, sum];
  }
  return best;
}
