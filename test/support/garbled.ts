import type { Random } from "../../src/base/random.ts";

/** Numbers that no column expects. */
const ODD = [-1, 0, 1, 2, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, 2 ** 53, -(2 ** 53)];

/** Returns the value with one in so many of its numbers and columns replaced by an extreme one, cut short, or with one entry changed. */
export function garbled(value: unknown, draws: Random, oneIn: number): unknown {
  const hit = (): boolean => draws.below(oneIn) === 0;
  if (typeof value === "number") return hit() ? ODD[draws.below(ODD.length)] : value;
  if (ArrayBuffer.isView(value)) {
    const column = (value as Float64Array).slice(0, hit() ? draws.below(4) : undefined);
    if (hit() && column.length > 0) column[draws.below(column.length)] = ODD[draws.below(ODD.length)];
    return column;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, garbled(part, draws, oneIn)]));
}
