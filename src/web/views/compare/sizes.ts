import { formatSize } from "../../../model/units.ts";

/** Sizes that are compared: from one to another, each so many times the one before. */
export interface SizeRange {
  /** Exponents of 2, bytes. */
  readonly from: number;
  readonly to: number;
  /** Doublings from one size to the next. */
  readonly step: number;
}

export const FIRST_RANGE: SizeRange = { from: 10, to: 30, step: 4 };
export const LEAST = 8;
export const MOST = 36;
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

/** Returns a size as options write it: "1MiB". */
export const sizeWord = (bytes: number): string => formatSize(bytes).replace(" ", "");
