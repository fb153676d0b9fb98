import { orderByTime } from "../../model/numbers/ordering.ts";
import type { RouteSet } from "../../model/routes/routes.ts";

/** Rows handed on at a time. */
const BLOCK = 65_536;
/** Up to so many different slot lengths, the rows of each are merged; beyond, they are sorted. */
const MOST_SLOTS = 8;

/** Returns the slot lengths in ascending order and the number of each route's, or null when these are too many. */
export function slotClasses(
  slotPs: Float64Array,
): { readonly classOf: Uint8Array; readonly lengths: Float64Array } | null {
  const known = new Set<number>();
  for (let route = 0; route < slotPs.length; route++) {
    known.add(slotPs[route]);
    if (known.size > MOST_SLOTS) return null;
  }
  const lengths = Float64Array.from(known).sort();
  return { classOf: Uint8Array.from(slotPs, (slot) => lengths.indexOf(slot)), lengths };
}

/** When the last row ends, and whether the rows are in order of their ends, as kernels give them. */
export interface Ends {
  readonly endPs: number;
  readonly ordered: boolean;
}

/** Returns these for the transfers of a phase. O(transfers). */
export function endsOf({ route, startPs, slotPs }: Pick<PhaseTransfers, "route" | "startPs" | "slotPs">): Ends {
  let endPs = 0;
  let ordered = true;
  for (let i = 0; i < route.length; i++) {
    const end = startPs[i] + slotPs[route[i]];
    if (end >= endPs) endPs = end;
    else ordered = false;
  }
  return { endPs, ordered };
}

/**
 * Returns when the phase ends, and its rows block by block in the order in which they start when it runs (a reversed one
 * backwards in time), equal starts in order of row. The blocks are views of one array that is written anew each time. Rows in
 * order of their ends need no sorting: backwards in time they are in order, and forwards those of each slot length are.
 * O(rows).
 */
export function rowsByStart(phase: PhaseTransfers): { readonly endPs: number; readonly blocks: Iterable<Uint32Array> } {
  const { endPs, ordered } = phase.ends ?? endsOf(phase);
  if (ordered && phase.reversed) return { endPs, blocks: backwards(phase) };
  const classes = ordered ? slotClasses(phase.slotPs) : null;
  if (classes !== null) return { endPs, blocks: merged(phase, classes.classOf, classes.lengths.length) };
  const { route, startPs, slotPs, reversed } = phase;
  const times = reversed ? startPs.map((start, i) => endPs - start - slotPs[route[i]]) : startPs;
  return { endPs, blocks: [orderByTime(times)] };
}

/** Yields rows with the last end first, equal ends in order of row. */
function* backwards({ route, startPs, slotPs }: PhaseTransfers): Generator<Uint32Array> {
  const block = new Uint32Array(BLOCK);
  let filled = 0;
  for (let behind = route.length; behind > 0; ) {
    const end = startPs[behind - 1] + slotPs[route[behind - 1]];
    let from = behind - 1;
    while (from > 0 && startPs[from - 1] + slotPs[route[from - 1]] === end) from--;
    for (let row = from; row < behind; row++) {
      block[filled++] = row;
      if (filled < BLOCK) continue;
      yield block;
      filled = 0;
    }
    behind = from;
  }
  yield block.subarray(0, filled);
}

/** Yields rows by start; those of each class are so already. */
function* merged({ route, startPs }: PhaseTransfers, classOf: Uint8Array, classes: number): Generator<Uint32Array> {
  const count = route.length;
  const block = new Uint32Array(BLOCK);
  /** The next row of each class and its start. */
  const head = new Float64Array(classes);
  const headPs = new Float64Array(classes);
  const advance = (k: number, from: number): void => {
    let row = from;
    while (row < count && classOf[route[row]] !== k) row++;
    head[k] = row;
    headPs[k] = row < count ? startPs[row] : Number.POSITIVE_INFINITY;
  };
  for (let k = 0; k < classes; k++) advance(k, 0);
  for (let row = 0; row < count; ) {
    const size = Math.min(BLOCK, count - row);
    for (let filled = 0; filled < size; filled++) {
      let least = 0;
      for (let k = 1; k < classes; k++) {
        if (headPs[k] < headPs[least] || (headPs[k] === headPs[least] && head[k] < head[least])) least = k;
      }
      block[filled] = head[least];
      advance(least, head[least] + 1);
    }
    row += size;
    yield block.subarray(0, size);
  }
}

/** The transfers of one phase in the direction in which it was synthesized. */
export interface PhaseTransfers {
  readonly chunk: Int32Array;
  readonly route: Int32Array;
  readonly startPs: Float64Array;
  /** [routes] of `routes`. */
  readonly slotPs: Float64Array;
  /** Routes in their true direction, also where the phase was synthesized on the reversed topology. */
  readonly routes: RouteSet;
  readonly reversed: boolean;
  readonly reduces: boolean;
  /** Where known; else found when needed. */
  readonly ends?: Ends;
}
