import { commonDenominator, nearbyFraction, type Rational, rational } from "../../model/numbers/rational.ts";

/** Exact values near those of a linear program, which are doubles. */

/** Values of the program are right to this part of the greatest. */
export const ACCURACY = 1e-9;
const MOST_PARTS = 1e6;
/** Multiples of the bound's denominator that are tried as denominators of the values. */
const MULTIPLES = [1, 2, 3, 4, 6, 8, 12];

/** Precisions of the fractions that are tried, coarse ones first: the exact values mostly have small denominators. */
export const PRECISIONS = [
  { error: 1e-7, most: 1e3 },
  { error: 1e-9, most: 1e5 },
  { error: 1e-13, most: 1e7 },
];

/** Returns the fraction nearest to a value of either sign, as `nearbyFraction` finds it. */
export function signedFraction(value: number, { error, most }: (typeof PRECISIONS)[number]): Rational {
  const { num, den } = nearbyFraction(Math.abs(value), error, most);
  return rational(value < 0 ? -num : num, den);
}

/**
 * Returns the denominators that are tried for values, the most likely first: their common one, multiples of that of the bound, and
 * about `fine`; none so great that sums over all links (`bandwidth`) leave the whole numbers that doubles hold.
 */
export function partsTried(
  values: ReadonlySet<number>,
  bound: Rational,
  bandwidth: Float64Array,
  fine: number,
): readonly number[] {
  const most = Math.floor(Number.MAX_SAFE_INTEGER / (2 * bandwidth.reduce((sum, b) => sum + b, 0)));
  const common = commonDenominator(values, ACCURACY * Math.max(...values), MOST_PARTS);
  const multiples = MULTIPLES.map((multiple) => multiple * Number(bound.den));
  return [common ?? 1, ...multiples, Math.min(Math.max(1, Math.ceil(fine)), most)].filter((parts) => parts <= most);
}
