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

/** Returns the spread of one or more times; of an even number the median is the mean of the two in the middle. */
export function spreadOf(seconds: readonly number[]): Spread {
  const sorted = [...seconds].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  const [low, high] = [sorted[sorted.length % 2 === 1 ? middle : middle - 1] as number, sorted[middle] as number];
  return { median: (low + high) / 2, min: sorted[0] as number, max: sorted.at(-1) as number, count: sorted.length };
}
