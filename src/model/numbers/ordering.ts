/** Up to this many different times, each is counted; beyond, digits are. */
const MOST_TIMES = 32_768;
/** Power of two above MOST_TIMES: places of the hash table. */
const PLACES = 131_072;

/** Returns 0 .. count - 1. */
export function indicesBelow(count: number): Int32Array {
  const indices = new Int32Array(count);
  for (let i = 0; i < count; i++) indices[i] = i;
  return indices;
}

/** Returns the greatest of values, at least 0. */
export function greatest(values: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < values.length; i++) most = Math.max(most, values[i]);
  return most;
}

/** Returns the map that does one after the other. */
export function composed(second: Int32Array, first: Int32Array): Int32Array {
  const both = new Int32Array(first.length);
  for (let i = 0; i < both.length; i++) both[i] = second[first[i]];
  return both;
}

/** Returns the map that takes everything back. */
export function inverted(map: Int32Array): Int32Array {
  const inverse = new Int32Array(map.length);
  for (let i = 0; i < map.length; i++) inverse[map[i]] = i;
  return inverse;
}

/**
 * Returns indices by the last of some columns, where equal by the one before, and so on; then in index order. Values are counted: they are
 * integers from 0. O(columns * (indices + values)).
 */
export function orderByColumns(columns: readonly Int32Array[]): Int32Array {
  let order = indicesBelow(columns[0]?.length ?? 0);
  for (const values of columns) {
    let [most, ascending] = [0, true];
    for (let k = 0, before = 0; k < order.length; k++) {
      const value = values[order[k]];
      ascending &&= before <= value;
      before = value;
      most = Math.max(most, value);
    }
    if (ascending) continue;
    const next = new Int32Array(most + 2);
    for (let i = 0; i < values.length; i++) next[values[i] + 1]++;
    for (let value = 1; value < next.length; value++) next[value] += next[value - 1];
    const sorted = new Int32Array(order.length);
    for (let k = 0; k < order.length; k++) sorted[next[values[order[k]]]++] = order[k];
    order = sorted;
  }
  return order;
}

/**
 * Returns the indices of `times` (exact integers, 0 .. 2^53 - 1) in ascending order of time, equal times in index order.
 * Counts equal times where there are few different ones, as in schedules; else radix sort, 16 bits at a time. O(n), and no
 * sorting where the times ascend already.
 */
export function orderByTime(times: Float64Array): Uint32Array {
  const count = times.length;
  let ascending = true;
  for (let i = 1; i < count && ascending; i++) ascending = times[i - 1] <= times[i];
  if (!ascending && count >= 20_000) return orderByCounting(times) ?? orderByDigits(times);
  const order = new Uint32Array(indicesBelow(count).buffer);
  return ascending ? order : order.sort((a, b) => times[a] - times[b] || a - b);
}

/** Returns the order, or null where there are too many different times. */
function orderByCounting(times: Float64Array): Uint32Array | null {
  const count = times.length;
  const hashed = new Float64Array(PLACES).fill(-1);
  const numbers = new Uint32Array(PLACES);
  const distinct = new Float64Array(MOST_TIMES);
  const number = new Uint16Array(count);
  let found = 0;
  let place = 0;
  for (let i = 0; i < count; i++) {
    const time = times[i];
    if (hashed[place] !== time) {
      const low = time >>> 0;
      const high = (time - low) / 4_294_967_296;
      place = Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1) >>> 15;
      while (hashed[place] !== time && hashed[place] >= 0) place = (place + 1) & (PLACES - 1);
      if (hashed[place] < 0) {
        if (found === MOST_TIMES) return null;
        hashed[place] = time;
        distinct[found] = time;
        numbers[place] = found++;
      }
    }
    number[i] = numbers[place];
  }
  const starts = new Uint32Array(found);
  for (let i = 0; i < count; i++) starts[number[i]]++;
  let next = 0;
  for (const k of indicesBelow(found).sort((a, b) => distinct[a] - distinct[b])) {
    const many = starts[k];
    starts[k] = next;
    next += many;
  }
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[starts[number[i]]++] = i;
  return order;
}

function orderByDigits(times: Float64Array): Uint32Array {
  const count = times.length;
  let order: Uint32Array<ArrayBuffer> = new Uint32Array(indicesBelow(count).buffer as ArrayBuffer);
  let spare: Uint32Array<ArrayBuffer> = new Uint32Array(count);
  let highest = 0;
  for (let i = 0; i < count; i++) if (times[i] > highest) highest = times[i];
  const start = new Uint32Array(65_537);
  for (let scale = 1; scale <= highest; scale *= 65_536) {
    start.fill(0);
    for (let i = 0; i < count; i++) start[(Math.floor(times[i] / scale) & 0xffff) + 1]++;
    for (let k = 0; k < 65_536; k++) start[k + 1] += start[k];
    for (let i = 0; i < count; i++) {
      const index = order[i];
      spare[start[Math.floor(times[index] / scale) & 0xffff]++] = index;
    }
    [order, spare] = [spare, order];
  }
  return order;
}

/** Returns the indices in order of key[index], 0 .. keys - 1 each, those of equal keys as they were. O(indices + keys). */
export function sortedBy(order: Int32Array, key: ArrayLike<number>, keys: number): Int32Array {
  const start = new Uint32Array(keys + 1);
  for (let i = 0; i < order.length; i++) start[key[order[i]] + 1]++;
  for (let k = 0; k < keys; k++) start[k + 1] += start[k];
  const sorted = new Int32Array(order.length);
  for (let i = 0; i < order.length; i++) sorted[start[key[order[i]]]++] = order[i];
  return sorted;
}

/** Appends an item to the list that a key has. */
export function addTo<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}
