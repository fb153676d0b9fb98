import { type Rational, rational } from "./rational.ts";

/** Returns the convergent of the continued fraction of a value >= 0 that first comes within `error`, or the last with a denominator up to `most`. */
function convergent(value: number, error: number, most: number): { num: number; den: number; near: boolean } {
  let [num, den, previousNum, previousDen] = [Math.floor(value), 1, 1, 0];
  let rest = value - num;
  while (Math.abs(value - num / den) > error && rest > 0) {
    const inverse = 1 / rest;
    const term = Math.floor(inverse);
    const nextDen = term * den + previousDen;
    const nextNum = term * num + previousNum;
    if (nextDen > most || nextNum > Number.MAX_SAFE_INTEGER) return { num, den, near: false };
    [previousNum, previousDen, num, den] = [num, den, nextNum, nextDen];
    rest = inverse - term;
  }
  return { num, den, near: true };
}

/** Returns a fraction near a double >= 0, of denominator 1 .. `most`. */
export function nearbyFraction(value: number, error: number, most: number): Rational {
  const { num, den } = convergent(value, error, most);
  return rational(num, den);
}

/** Returns a denominator, at most `most`, that all values have within `error`; null where none is found. */
export function commonDenominator(values: Iterable<number>, error: number, most: number): number | null {
  let common = 1;
  for (const value of values) {
    const { den, near } = convergent(value * common, error * common, most / common);
    if (!near) return null;
    common *= den;
  }
  return common;
}
