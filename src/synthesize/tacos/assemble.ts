import type { Collective } from "../../model/collective/collective.ts";
import { orderByTime } from "../../model/numbers/ordering.ts";
import { type RouteSet, routeCount } from "../../model/routes/routes.ts";
import { emptyRows, OP_REDUCE, type StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";

/** Returns when the last transfer ends. */
export function endOf(transfers: Pick<PhaseTransfers, "route" | "startPs" | "slotPs">): number {
  const { route, startPs, slotPs } = transfers;
  let end = 0;
  for (let i = 0; i < route.length; i++) {
    const at = startPs[i] + slotPs[route[i]];
    if (at > end) end = at;
  }
  return end;
}

/** Returns one route set that holds both, and where the second begins in it; equal sets are shared. */
function merged(first: RouteSet, second: RouteSet): { routes: RouteSet; offset: number } {
  if (first === second) return { routes: first, offset: 0 };
  const offset = routeCount(first);
  const joinInts = (a: Int32Array, b: Int32Array, shift = 0): Int32Array => {
    const joined = new Int32Array(a.length + b.length);
    joined.set(a);
    for (let i = 0; i < b.length; i++) joined[a.length + i] = b[i] + shift;
    return joined;
  };
  const joinDoubles = (a: Float64Array, b: Float64Array): Float64Array => {
    const joined = new Float64Array(a.length + b.length);
    joined.set(a);
    joined.set(b, a.length);
    return joined;
  };
  return {
    offset,
    routes: {
      source: joinInts(first.source, second.source),
      target: joinInts(first.target, second.target),
      linkOffset: joinInts(first.linkOffset, second.linkOffset.subarray(1), first.links.length),
      links: joinInts(first.links, second.links),
      shareNum: joinDoubles(first.shareNum, second.shareNum),
      shareDen: joinDoubles(first.shareDen, second.shareDen),
    },
  };
}

/** Returns the schedule that runs the phases one after the other, rows in order of start. O(transfers). */
export function assemble(topology: Topology, collective: Collective, phases: readonly PhaseTransfers[]): StepSchedule {
  const first = phases[0] as PhaseTransfers;
  const second = phases[1];
  const { routes, offset } =
    second === undefined ? { routes: first.routes, offset: 0 } : merged(first.routes, second.routes);
  const count = phases.reduce((sum, phase) => sum + phase.chunk.length, 0);
  const schedule = emptyRows(topology, collective, routes, count);
  let row = 0;
  let base = 0;
  for (const phase of phases) {
    const { endPs: end, blocks } = rowsByStart(phase);
    for (const rows of blocks) {
      writeRows(schedule, row, rows, phase, { base, end, shift: phase === first ? 0 : offset });
      row += rows.length;
    }
    base += end;
  }
  return schedule;
}

/** Writes these rows of the phase from `row` on; the phase begins at `base` and takes until `end`, its routes begin at `shift`. */
function writeRows(
  schedule: StepSchedule,
  row: number,
  rows: Uint32Array,
  phase: PhaseTransfers,
  { base, end, shift }: { readonly base: number; readonly end: number; readonly shift: number },
): void {
  const { slotPs, reversed } = phase;
  const { chunk, route, startPs, endPs } = schedule;
  for (let i = 0; i < rows.length; i++) {
    const from = rows[i];
    const over = phase.route[from];
    const slot = slotPs[over];
    const start = base + (reversed ? end - phase.startPs[from] - slot : phase.startPs[from]);
    chunk[row + i] = phase.chunk[from];
    route[row + i] = over + shift;
    startPs[row + i] = start;
    endPs[row + i] = start + slot;
  }
  if (phase.reduces) schedule.op.fill(OP_REDUCE, row, row + rows.length);
}

/** Returns the schedule with new starts, row by row, and its rows in order again. */
export function assembleRows(schedule: StepSchedule, startPs: Float64Array, slotPs: Float64Array): StepSchedule {
  const { topology, collective, routes } = schedule;
  const order = orderByTime(startPs);
  const moved = emptyRows(topology, collective, routes, order.length);
  for (let i = 0; i < order.length; i++) {
    const from = order[i];
    moved.chunk[i] = schedule.chunk[from];
    moved.route[i] = schedule.route[from];
    moved.op[i] = schedule.op[from];
    moved.startPs[i] = startPs[from];
    moved.endPs[i] = startPs[from] + slotPs[from];
  }
  return moved;
}

/**
 * Returns the transfers without those that bring a chunk to an NPU that neither wants it nor passes it on. `wanted` as in
 * MatchProblem; every (NPU, chunk) is delivered at most once, in order of ends. O(transfers).
 */
export function pruned(
  transfers: { readonly chunk: Int32Array; readonly route: Int32Array; readonly startPs: Float64Array },
  routes: RouteSet,
  wanted: Uint32Array,
  chunkCount: number,
): { chunk: Int32Array; route: Int32Array; startPs: Float64Array } {
  const words = (chunkCount + 31) >>> 5;
  const needed = wanted.slice();
  const keep = new Uint8Array(transfers.chunk.length);
  let count = 0;
  for (let i = transfers.chunk.length - 1; i >= 0; i--) {
    const c = transfers.chunk[i];
    const r = transfers.route[i];
    const word = c >>> 5;
    const bit = 1 << (c & 31);
    if ((needed[routes.target[r] * words + word] & bit) === 0) continue;
    needed[routes.source[r] * words + word] |= bit;
    keep[i] = 1;
    count++;
  }
  const kept = { chunk: new Int32Array(count), route: new Int32Array(count), startPs: new Float64Array(count) };
  for (let i = 0, row = 0; i < keep.length; i++) {
    if (keep[i] === 0) continue;
    kept.chunk[row] = transfers.chunk[i];
    kept.route[row] = transfers.route[i];
    kept.startPs[row++] = transfers.startPs[i];
  }
  return kept;
}

/** Rows handed on at a time. */
const BLOCK = 65_536;
/** Up to this many different slot lengths, the rows of each are merged; beyond, they are sorted. */
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
 * backwards in time), equal starts in order of row. The blocks are views of one array that is rewritten each time. Rows in
 * order of their ends need no sorting: backwards in time they are in order, and forwards those of each slot length are.
 * O(rows).
 */
function rowsByStart(phase: PhaseTransfers): { readonly endPs: number; readonly blocks: Iterable<Uint32Array> } {
  const { endPs, ordered } = phase.ends ?? endsOf(phase);
  if (ordered && phase.reversed) return { endPs, blocks: backwards(phase) };
  const classes = ordered ? slotClasses(phase.slotPs) : null;
  if (classes !== null) return { endPs, blocks: mergedBlocks(phase, classes.classOf, classes.lengths.length) };
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
function* mergedBlocks(
  { route, startPs }: PhaseTransfers,
  classOf: Uint8Array,
  classes: number,
): Generator<Uint32Array> {
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
