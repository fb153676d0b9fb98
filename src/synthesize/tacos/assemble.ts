import type { Collective } from "../../model/collective/collective.ts";
import { orderByTime } from "../../model/numbers/ordering.ts";
import { type RouteSet, routeCount } from "../../model/routes/routes.ts";
import { emptyRows, OP_REDUCE, type StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type PhaseTransfers, rowsByStart } from "./row-order.ts";

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
