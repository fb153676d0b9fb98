import { sumsOf } from "./ticks.ts";

/** More ticks than this and times are rounded to slots instead. */
const MOST_TICKS = 160;
/** So many slots at most until the end of the schedule known. */
const MOST_SLOTS = 48;
const FINEST = 8;

/** Times of a program: exact, or in slots to which durations are rounded. */
export type Clock =
  | { readonly kind: "sums"; readonly ticks: Float64Array }
  | { readonly kind: "slots"; readonly slotPs: number };

/**
 * Returns the sums of durations up to `horizonPs` where these are few. Else a slot, a part of one of the durations, for which
 * rounding up (TACOS 2023, section IV-C) makes no duration longer than need be, in proportion.
 */
export function clockFor(durations: readonly Float64Array[], horizonPs: number): Clock {
  const distinct = [...new Set(durations.flatMap((column) => [...column]))].sort((a, b) => a - b);
  const ticks = sumsOf(distinct, horizonPs, MOST_TICKS);
  if (ticks !== null) return { kind: "sums", ticks };
  let best = { slotPs: Math.max(1, Math.ceil(horizonPs / MOST_SLOTS)), loss: Number.POSITIVE_INFINITY };
  for (const duration of distinct) {
    for (let parts = 1; parts <= FINEST; parts++) {
      const slotPs = Math.ceil(duration / parts);
      if (slotPs > distinct[0] || horizonPs / slotPs > MOST_SLOTS) continue;
      const loss = Math.max(...distinct.map((one) => (Math.ceil(one / slotPs) * slotPs) / one));
      if (loss < best.loss) best = { slotPs, loss };
    }
  }
  return { kind: "slots", slotPs: best.slotPs };
}

/** Returns durations in whole slots: rounded up, so that what fits is a schedule, or down, so that what does not fit is none. */
export const inSlots = (durations: readonly Float64Array[], slotPs: number, up: boolean): Float64Array[] =>
  durations.map((column) => column.map((ps) => Math.max(1, up ? Math.ceil(ps / slotPs) : Math.floor(ps / slotPs))));

/** Returns 0, 1, ..., `slots`. */
export const slotTicks = (slots: number): Float64Array => Float64Array.from({ length: slots + 1 }, (_, k) => k);
