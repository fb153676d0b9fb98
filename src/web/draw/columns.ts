/** Sorted columns, and rows grouped by a key. */

/** Returns the first index of ascending `times` in from .. to whose value is greater than `time`; `to` where none is. O(log n). */
export function after(times: ArrayLike<number>, time: number, from = 0, to = times.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle] > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns the first index of ascending `times` in from .. to whose value is `time` or greater; `to` where none is. O(log n). */
export function notBefore(times: ArrayLike<number>, time: number, from = 0, to = times.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle] >= time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Items of each key: items[offset[key] .. offset[key + 1]]. */
export interface Grouped {
  readonly offset: Int32Array;
  readonly items: Int32Array;
}

/** Returns the indices of `keys` by key (0 .. keyCount - 1), each group in ascending order. O(n + keys). */
export function groupBy(keys: ArrayLike<number>, keyCount: number): Grouped {
  const offset = new Int32Array(keyCount + 1);
  for (let i = 0; i < keys.length; i++) offset[keys[i] + 1]++;
  for (let key = 0; key < keyCount; key++) offset[key + 1] += offset[key];
  const next = offset.slice(0, keyCount);
  const items = new Int32Array(keys.length);
  for (let i = 0; i < keys.length; i++) items[next[keys[i]]++] = i;
  return { offset, items };
}

/** Returns pairs (key, value) turned round: for each value below `valueCount` its keys, ascending. O(pairs + values). */
export function inverted(offset: Int32Array, values: Int32Array, valueCount: number): Grouped {
  const byValue = groupBy(values, valueCount);
  const keyOf = new Int32Array(values.length);
  for (let key = 0; key + 1 < offset.length; key++) keyOf.fill(key, offset[key], offset[key + 1]);
  return { offset: byValue.offset, items: byValue.items.map((pair) => keyOf[pair]) };
}
