import { InputError } from "../../base/errors.ts";
import { formatSize } from "../../model/numbers/units.ts";

/** Sizes that are compared: from one to another, each this many times the one before. */
export interface SizeRange {
  /** Exponents of 2, bytes. */
  readonly from: number;
  readonly to: number;
  /** Doublings from one size to the next. */
  readonly step: number;
}

export const FIRST_RANGE: SizeRange = { from: 10, to: 30, step: 4 };
const LEAST = 8;
const MOST = 36;
/** What ends of a range can be. */
export const POWERS = Array.from({ length: MOST - LEAST + 1 }, (_, i) => LEAST + i);
export const STEPS = [1, 2, 3, 4, 5] as const;

/** Returns the sizes in bytes, ascending; the last one is always among them. */
export function sizesOf({ from, to, step }: SizeRange): number[] {
  const sizes: number[] = [];
  for (let power = from; power < to; power += step) sizes.push(2 ** power);
  return [...sizes, 2 ** to];
}

/** Returns the range with one of its ends moved, the other pushed along where they would cross. */
export function withEnd(range: SizeRange, end: "from" | "to", power: number): SizeRange {
  return end === "from"
    ? { ...range, from: power, to: Math.max(range.to, power) }
    : { ...range, to: power, from: Math.min(range.from, power) };
}

/** Returns a range as addresses write it: "1KiB..1GiB*16", each size 16 times the one before. */
export const rangeText = ({ from, to, step }: SizeRange): string =>
  `${sizeWord(2 ** from)}..${sizeWord(2 ** to)}*${2 ** step}`;

/** Returns the range that an address writes. Throws InputError. */
export function readRange(text: string): SizeRange {
  const [, first = "", last = "", factor = ""] = /^(\w+)\.\.(\w+)\*(\d+)$/.exec(text) ?? [];
  const [from, to] = [powerOf(first), powerOf(last)];
  const step = STEPS.find((doublings) => String(2 ** doublings) === factor);
  if (from <= to && step !== undefined) return { from, to, step };
  const ends = `powers of 2 from ${sizeWord(2 ** LEAST)} to ${sizeWord(2 ** MOST)}`;
  const factors = `times ${STEPS.map((doublings) => 2 ** doublings).join(", ")}`;
  throw new InputError("sizes", `a range such as ${rangeText(FIRST_RANGE)} (${ends}; ${factors})`, text);
}

/** Returns the exponent of a size that can be an end of a range; NaN for others. */
const powerOf = (word: string): number => POWERS.find((power) => sizeWord(2 ** power) === word) ?? Number.NaN;

/** Returns a size as options write it: "1MiB". */
export const sizeWord = (bytes: number): string => formatSize(bytes).replace(" ", "");
