import type { IndexColumn } from "../../model/steps/step-schedule.ts";

/** Rows in groups: the rows of group g are `rows[offset[g] .. offset[g + 1]]`. */
export interface Grouping {
  /** [groups + 1] */
  readonly offset: Int32Array;
  /** [rows] */
  readonly rows: Int32Array;
}

/** Returns the rows grouped by their key, each group in row order (counting sort). O(rows + groups). */
export function groupRows(keys: IndexColumn, groups: number): Grouping {
  const count = keys.length;
  const offset = new Int32Array(groups + 1);
  for (let row = 0; row < count; row++) offset[keys[row] + 1]++;
  for (let g = 0; g < groups; g++) offset[g + 1] += offset[g];
  const next = offset.slice(0, groups);
  const rows = new Int32Array(count);
  for (let row = 0; row < count; row++) rows[next[keys[row]]++] = row;
  return { offset, rows };
}

/** Sorts `items` by ascending key, then by item, in place; O(items) where they are in order of their keys already. */
export function sortByKey(items: Int32Array, key: Float64Array): void {
  for (let i = 1; i < items.length; i++) {
    if (key[items[i - 1]] > key[items[i]]) {
      items.sort((a, b) => key[a] - key[b] || a - b);
      return;
    }
  }
}

/** Returns the array, or one of at least `length` places where it is too short. */
export function roomFor(array: Int32Array, length: number): Int32Array {
  return array.length >= length ? array : new Int32Array(Math.max(length, 2 * array.length));
}
