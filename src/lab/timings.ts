import { median } from "../model/numbers/median.ts";

/** What came of timed calls of one size. */
export interface Timed {
  readonly sizeBytes: number;
  /** Of each call, the slowest process: seconds. */
  readonly seconds: readonly number[];
  /** Every result was right; null where nobody looked. */
  readonly right: boolean | null;
}

/** Returns what `time-calls` printed, one per size; lines of others are passed over. */
export function readTimings(text: string): Timed[] {
  return text.split("\n").flatMap((line) => {
    if (!/^\{"collective":.*\}\s*$/.test(line)) return [];
    const { bytes, seconds, right = null } = partsOf(line);
    if (
      typeof bytes !== "number" ||
      !Number.isFinite(bytes) ||
      !Array.isArray(seconds) ||
      !seconds.every(Number.isFinite)
    )
      return [];
    return [{ sizeBytes: bytes, seconds, right: right === null ? null : right === true }];
  });
}

/** Returns what a line says; nothing where it is cut off. */
function partsOf(line: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}

/** Median, least and greatest of times, in seconds. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly count: number;
}

/** Returns the spread of one or more times. */
export const spreadOf = (seconds: readonly number[]): Spread => ({
  median: median(seconds),
  min: Math.min(...seconds),
  max: Math.max(...seconds),
  count: seconds.length,
});
