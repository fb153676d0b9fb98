/**
 * Points in time at which transfers may start. In a schedule whose transfers all start as early as their order allows, each
 * starts at 0 or when another ends, so at a sum of durations: a program over those sums loses nothing, whatever the
 * durations (TACOS 2023, section IV-C, rounds them to slots instead; equal durations give equal slots here too).
 */

/** Returns the sums of durations up to `horizon`, ascending from 0; null where there are more than `most`. */
export function sumsOf(durations: Iterable<number>, horizon: number, most: number): Float64Array | null {
  const steps = [...new Set(durations)];
  const seen = new Set([0]);
  const queue = [0];
  for (let i = 0; i < queue.length; i++) {
    for (const step of steps) {
      const next = queue[i] + step;
      if (next > horizon || seen.has(next)) continue;
      if (queue.length >= most) return null;
      seen.add(next);
      queue.push(next);
    }
  }
  return Float64Array.from(queue).sort();
}

/** Returns the index of the first tick that is at least `time`; ticks.length where none is. O(log ticks). */
export function firstFrom(ticks: Float64Array, time: number): number {
  let low = 0;
  let high = ticks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ticks[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
