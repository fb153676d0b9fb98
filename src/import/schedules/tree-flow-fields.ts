import { parseRational, type Rational } from "../../model/numbers/rational.ts";
import { refuse } from "../text/json-value.ts";

/** Longer fractions are refused. */
const MOST_DIGITS = 10_000;

/** Returns a positive fraction, or 0 where that is allowed. */
export function fractionFromJson(value: unknown, place: string, allowsZero = false): Rational {
  const parsed = typeof value === "string" && value.length <= MOST_DIGITS ? parseRational(value) : null;
  const least = allowsZero ? 0n : 1n;
  if (parsed === null || parsed.num < least) {
    refuse(place, `a ${allowsZero ? "fraction of 0 or more" : "positive fraction"} as a text such as "2400/7"`, value);
  }
  return parsed;
}

/** Returns the fraction of a text such as "-7/2". */
export function signedFromJson(value: unknown, place: string): Rational {
  const parsed = typeof value === "string" && value.length <= MOST_DIGITS ? parseRational(value) : null;
  if (parsed === null) refuse(place, 'a fraction as a text such as "-7/2"', value);
  return parsed;
}

/** Returns "out" or "in". */
export function directionFromJson(value: unknown, place: string): "out" | "in" {
  if (value !== "out" && value !== "in") refuse(place, '"out" or "in"', value);
  return value;
}
