/**
 * Returns the indices of `times` (exact integers, 0 .. 2^53 - 1) in ascending order of time, equal times in index order.
 * Radix sort, 16 bits at a time; O(n), or O(n) and no sorting where the times ascend already.
 */
export function orderByTime(times: Float64Array): Uint32Array {
  const count = times.length;
  let order: Uint32Array = Uint32Array.from({ length: count }, (_, i) => i);
  let highest = 0;
  let ascending = true;
  for (let i = 0; i < count; i++) {
    if (times[i] > highest) highest = times[i];
    if (i > 0 && times[i] < times[i - 1]) ascending = false;
  }
  if (ascending) return order;
  if (count < 20_000) return order.sort((a, b) => times[a] - times[b] || a - b);
  let spare: Uint32Array = new Uint32Array(count);
  const start = new Uint32Array(65_537);
  for (let scale = 1; scale <= highest; scale *= 65_536) {
    start.fill(0);
    for (let i = 0; i < count; i++) start[(Math.floor(times[i] / scale) % 65_536) + 1]++;
    for (let k = 0; k < 65_536; k++) start[k + 1] += start[k];
    for (let i = 0; i < count; i++) {
      const index = order[i];
      spare[start[Math.floor(times[index] / scale) % 65_536]++] = index;
    }
    [order, spare] = [spare, order];
  }
  return order;
}
