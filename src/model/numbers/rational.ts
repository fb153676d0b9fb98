import { InternalError } from "../../base/errors.ts";
import { bigGcd } from "./integers.ts";

/** An exact fraction in lowest terms; the denominator is positive. */
export interface Rational {
  readonly num: bigint;
  readonly den: bigint;
}

/** Returns num/den in lowest terms. */
export function rational(num: bigint | number, den: bigint | number = 1n): Rational {
  let n = BigInt(num);
  let d = BigInt(den);
  if (d === 0n) throw new InternalError("a rational with denominator 0");
  if (d < 0n) [n, d] = [-n, -d];
  const g = bigGcd(n, d);
  return g > 1n ? { num: n / g, den: d / g } : { num: n, den: d };
}

export const add = (a: Rational, b: Rational): Rational => rational(a.num * b.den + b.num * a.den, a.den * b.den);
export const subtract = (a: Rational, b: Rational): Rational => rational(a.num * b.den - b.num * a.den, a.den * b.den);
export const multiply = (a: Rational, b: Rational): Rational => rational(a.num * b.num, a.den * b.den);
export const divide = (a: Rational, b: Rational): Rational => rational(a.num * b.den, a.den * b.num);

/** Returns a negative, zero or positive number as a is below, equal to or above b. */
export function compare(a: Rational, b: Rational): number {
  const d = a.num * b.den - b.num * a.den;
  return d < 0n ? -1 : d > 0n ? 1 : 0;
}

/** Returns the smallest integer at or above the fraction. */
export function ceil(a: Rational): bigint {
  const q = a.num / a.den;
  return q * a.den < a.num ? q + 1n : q;
}

/** Returns the nearest double. */
export function toNumber(a: Rational): number {
  const limit = 9007199254740992n;
  if (a.num < limit && a.num > -limit && a.den < limit) return Number(a.num) / Number(a.den);
  const whole = a.num / a.den;
  const rest = a.num - whole * a.den;
  return Number(whole) + Number((rest * 1000000000000000n) / a.den) / 1e15;
}

/** Returns "2400/7", or "300" where the denominator is 1. */
export function format(a: Rational): string {
  return a.den === 1n ? a.num.toString() : `${a.num}/${a.den}`;
}

/** Returns the fraction written as "2400/7" or "300"; null when the text is neither. */
export function parseRational(text: string): Rational | null {
  const match = /^(-?\d+)(?:\/(\d+))?$/.exec(text.trim());
  if (match === null || (match[2] !== undefined && BigInt(match[2]) === 0n)) return null;
  return rational(BigInt(match[1] as string), BigInt(match[2] ?? "1"));
}

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
