import { type StepSchedule, transferCount } from "./step-schedule.ts";

/** Returns whether a row has route, start and end of the row before it, and so is of one message with it (StepSchedule). */
export const goesWithPrevious = (
  { route, startPs, endPs }: Pick<StepSchedule, "route" | "startPs" | "endPs">,
  row: number,
): boolean =>
  row > 0 && route[row] === route[row - 1] && startPs[row] === startPs[row - 1] && endPs[row] === endPs[row - 1];

/** Returns whether a schedule, its rows in order, has merged sends. O(transfers) where it has none. */
export function hasMergedSends(schedule: StepSchedule): boolean {
  const count = transferCount(schedule);
  for (let row = 1; row < count; row++) if (goesWithPrevious(schedule, row)) return true;
  return false;
}

/**
 * Returns how many chunks the message of each row has, [transfers]; null where each has one. Rows are in order, as those of a
 * StepSchedule are; its messages need not be valid. O(transfers).
 */
export function mergedCounts(schedule: StepSchedule): Int32Array | null {
  if (!hasMergedSends(schedule)) return null;
  const count = transferCount(schedule);
  const counts = new Int32Array(count).fill(1);
  for (let from = 0, to = 1; to <= count; to++) {
    if (to < count && goesWithPrevious(schedule, to)) continue;
    counts.fill(to - from, from, to);
    from = to;
  }
  return counts;
}
