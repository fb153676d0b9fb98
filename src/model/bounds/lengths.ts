import { divide, multiply, type Rational, rational } from "../numbers/rational.ts";
import { PS_PER_SECOND } from "../numbers/units.ts";
import type { Bound } from "./witness.ts";

/**
 * Returns the bound on the time of an all-to-all that lengths of links prove, where every unit of demand is `bytes` and
 * `bytesPerSecond` is the sum of bandwidth * length over links by the sum of demand * distance over pairs: what is sent from s to
 * t uses length as much as their distance at least, and a link carries no more than its bandwidth times the time (dual of
 * LP A.1, Zhao 2026). Holds for any routes, chunks and latencies.
 */
export const lengthsBound = (lengths: Int32Array, bytesPerSecond: Rational, bytes: Rational): Bound => ({
  ps: divide(multiply(bytes, rational(PS_PER_SECOND)), bytesPerSecond),
  witness: { kind: "lengths", lengths: Array.from(lengths) },
});
