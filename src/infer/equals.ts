import { median } from "../model/numbers/median.ts";

/** Figures that are the same within what they were measured to. */
export interface Equals {
  /** [figures] */
  readonly classOf: Int32Array;
  /** [classes] the middle of each, ascending, and one standard error. */
  readonly value: readonly number[];
  readonly error: readonly number[];
}

/** Closer than this part, figures are not told apart, however well they were measured. */
const LEAST_GAP = 0.02;
/** In standard errors. */
const SURE = 4;
/** The greatest of a class is greater than the least by no more than this part, and twice what the errors make. */
const WIDEST = 0.06;

/** Returns the classes of equal figures: the sorted ones, cut where the next is farther than its error. O(figures log figures). */
export function equalsAmong(values: ArrayLike<number>, errors: ArrayLike<number>): Equals {
  const order = Array.from({ length: values.length }, (_, i) => i).sort((a, b) => values[a] - values[b] || a - b);
  const classOf = new Int32Array(values.length);
  const members: number[][] = [];
  for (const [k, i] of order.entries()) {
    const current = members[members.length - 1];
    const before = order[k - 1];
    const gap = k === 0 ? 0 : values[i] - values[before];
    const error = k === 0 ? 0 : Math.hypot(errors[i], errors[before]);
    const far = gap > Math.max(LEAST_GAP * values[i], SURE * error);
    const wide =
      current !== undefined && values[i] - values[current[0]] > Math.max(WIDEST * values[i], 2 * SURE * errors[i]);
    if (current === undefined || far || wide) members.push([i]);
    else current.push(i);
    classOf[i] = members.length - 1;
  }
  return {
    classOf,
    value: members.map((own) => median(own.map((i) => values[i]))),
    error: members.map(
      (own) => (median(own.map((i) => errors[i])) * (own.length > 2 ? 1.2533 : 1)) / Math.sqrt(own.length),
    ),
  };
}
