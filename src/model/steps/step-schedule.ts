import type { Collective } from "../collective/collective.ts";
import { groupedBy } from "../graph/graph.ts";
import { orderByTime } from "../numbers/ordering.ts";
import { type RouteSet, routeCount } from "../routes/routes.ts";
import type { Topology } from "../topology/topology.ts";

/** The transfer delivers the chunk as the source holds it. */
export const OP_COPY = 0;
/** The transfer's payload is added to what the target holds of the chunk. */
export const OP_REDUCE = 1;

/** Small unsigned columns are kept in the narrowest type that fits. */
export type IndexColumn = Uint8Array | Uint16Array | Int32Array;

/**
 * A schedule of transfers on a topology, as columns of equal length. Row i moves chunk[i] over route[i], occupying the
 * route from startPs[i] to endPs[i] (link-busy model); the payload is what the source holds at startPs[i], and the target
 * has it from endPs[i] on. Rows are in ascending order of (startPs, route, chunk).
 *
 * Rows with equal route, start and end are one *merged send* (TACCL, section 5.1): one message of all their chunks, which
 * takes the latencies of its route once and a rounded serialisation for each chunk, and delivers all of them when it ends.
 */
export interface StepSchedule {
  readonly topology: Topology;
  readonly collective: Collective;
  readonly routes: RouteSet;
  readonly chunk: IndexColumn;
  readonly route: IndexColumn;
  /** Exact integers, picoseconds. */
  readonly startPs: Float64Array;
  readonly endPs: Float64Array;
  /** OP_COPY or OP_REDUCE. */
  readonly op: Uint8Array;
}

export const transferCount = (schedule: StepSchedule): number => schedule.chunk.length;

/** Returns when the last transfer ends, in picoseconds; 0 for an empty schedule. O(transfers). */
export function makespanPs(schedule: StepSchedule): number {
  let last = 0;
  for (let i = 0; i < schedule.endPs.length; i++) if (schedule.endPs[i] > last) last = schedule.endPs[i];
  return last;
}

/** Returns a schedule of this many rows, all zeros (copies), in the narrowest columns. */
export function emptyRows(topology: Topology, collective: Collective, routes: RouteSet, count: number): StepSchedule {
  return {
    topology,
    collective,
    routes,
    chunk: indexColumn(count, collective.chunkCount),
    route: indexColumn(count, routeCount(routes)),
    startPs: new Float64Array(count),
    endPs: new Float64Array(count),
    op: new Uint8Array(count),
  };
}

/** Returns an empty column of `length` in the narrowest type for values 0 .. maximum. */
export function indexColumn(length: number, maximum: number): IndexColumn {
  if (maximum < 256) return new Uint8Array(length);
  return maximum < 65536 ? new Uint16Array(length) : new Int32Array(length);
}

type Columns = Pick<StepSchedule, "chunk" | "route" | "startPs" | "endPs" | "op">;

/**
 * Returns the schedule with its rows in ascending order of (startPs, route, chunk), rows that tie as they were: the order that
 * a StepSchedule has and by which a replay decides ties. Where starts ascend already, rows are moved within the columns that
 * were given. O(rows) where they are in order; else O(rows log of those that start at once).
 */
export function inRowOrder<Rows extends Columns>(schedule: Rows): Rows {
  const sorted = byStart(schedule);
  const { startPs } = sorted;
  const places = placesOf(sorted);
  for (let from = 0, to = 1; from < startPs.length; from = to++) {
    let ordered = true;
    for (; to < startPs.length && startPs[to] === startPs[from]; to++) {
      if (ordered && isBefore(sorted, to, to - 1)) ordered = false;
    }
    if (ordered) continue;
    moveRows(sorted, from, orderOfRoutes(sorted, from, to, places) ?? orderOfRun(sorted, from, to));
  }
  return sorted;
}

const isBefore = ({ route, chunk }: Columns, a: number, b: number): boolean =>
  route[a] < route[b] || (route[a] === route[b] && chunk[a] < chunk[b]);

/** Returns the schedule itself, or a copy with its rows in order of start. */
function byStart<Rows extends Columns>(schedule: Rows): Rows {
  const { chunk, route, startPs, endPs, op } = schedule;
  let at = 1;
  while (at < startPs.length && startPs[at - 1] <= startPs[at]) at++;
  if (at >= startPs.length) return schedule;
  const order = orderByTime(startPs);
  return {
    ...schedule,
    chunk: chunk.map((_, i) => chunk[order[i]]),
    route: route.map((_, i) => route[order[i]]),
    startPs: startPs.map((_, i) => startPs[order[i]]),
    endPs: endPs.map((_, i) => endPs[order[i]]),
    op: op.map((_, i) => op[order[i]]),
  };
}

/** Runs of at least one row for so many routes are sorted by counting. */
const MOST_ROUTES_A_ROW = 8;

/** Sorts rows of one route, which lie side by side, by chunk; equal ones stay as they are. */
function sortAlike(order: Int32Array, { route, chunk }: Columns): void {
  for (let from = 0, to = 1; from < order.length; from = to++) {
    while (to < order.length && route[order[to]] === route[order[from]]) to++;
    if (to - from > 1) order.subarray(from, to).sort((a, b) => chunk[a] - chunk[b] || a - b);
  }
}

/** Returns a place for each route, -1; none where there are many more of them than rows. */
function placesOf({ route }: Columns): Int32Array {
  let routes = 0;
  for (let i = 0; i < route.length; i++) if (route[i] >= routes) routes = route[i] + 1;
  return new Int32Array(routes <= MOST_ROUTES_A_ROW * route.length ? routes : 0).fill(-1);
}

/**
 * Returns the rows from..to-1, which start at once, in order of their routes; null where two have one route, or few of the routes
 * have a row. `places`: of placesOf, also when it returns.
 */
function orderOfRoutes({ route }: Columns, from: number, to: number, places: Int32Array): Int32Array | null {
  const count = to - from;
  if (places.length === 0 || places.length > MOST_ROUTES_A_ROW * count) return null;
  for (let i = from; i < to; i++) {
    if (places[route[i]] >= 0) {
      for (let k = from; k < i; k++) places[route[k]] = -1;
      return null;
    }
    places[route[i]] = i;
  }
  const order = new Int32Array(count);
  for (let r = 0, k = 0; k < count; r++) {
    if (places[r] < 0) continue;
    order[k++] = places[r];
    places[r] = -1;
  }
  return order;
}

/** Returns the rows from..to-1, which start at once, in order of (route, chunk, row). */
function orderOfRun(rows: Columns, from: number, to: number): ArrayLike<number> {
  const { route, chunk } = rows;
  const count = to - from;
  let [routes, chunks] = [1, 1];
  for (let i = from; i < to; i++) {
    if (route[i] >= routes) routes = route[i] + 1;
    if (chunk[i] >= chunks) chunks = chunk[i] + 1;
  }
  if (routes <= MOST_ROUTES_A_ROW * count) {
    const order = groupedBy(Int32Array.from(route.subarray(from, to)), routes).items;
    for (let i = 0; i < count; i++) order[i] += from;
    sortAlike(order, rows);
    return order;
  }
  if (routes * chunks * count > Number.MAX_SAFE_INTEGER) {
    const order = Float64Array.from({ length: count }, (_, i) => from + i);
    return order.sort((a, b) => route[a] - route[b] || chunk[a] - chunk[b] || a - b);
  }
  // route, chunk and row as the digits of one number: sorted without a call for each comparison
  const keys = new Float64Array(count);
  for (let i = 0; i < count; i++) keys[i] = (route[from + i] * chunks + chunk[from + i]) * count + i;
  keys.sort();
  for (let i = 0; i < count; i++) keys[i] = from + (keys[i] % count);
  return keys;
}

/** Puts row order[i] in place of row from + i, in all columns but the starts, which are equal. */
function moveRows({ chunk, route, endPs, op }: Columns, from: number, order: ArrayLike<number>): void {
  const moved = new Float64Array(order.length);
  for (const column of [chunk, route, endPs, op]) {
    for (let i = 0; i < order.length; i++) moved[i] = column[order[i]];
    column.set(moved, from);
  }
}

/** Returns whether a row has route, start and end of the row before it, and so is of one message with it (StepSchedule). */
export const goesWithPrevious = (
  { route, startPs, endPs }: Pick<StepSchedule, "route" | "startPs" | "endPs">,
  row: number,
): boolean =>
  row > 0 && route[row] === route[row - 1] && startPs[row] === startPs[row - 1] && endPs[row] === endPs[row - 1];

/** Returns whether a schedule, its rows in order, has merged sends. O(transfers) where it has none. */
export function hasMergedSends(schedule: StepSchedule): boolean {
  const count = transferCount(schedule);
  for (let row = 1; row < count; row++) if (goesWithPrevious(schedule, row)) return true;
  return false;
}

/**
 * Returns how many chunks the message of each row has, [transfers]; null where each has one. Rows are in order, as those of a
 * StepSchedule are; its messages need not be valid. O(transfers).
 */
export function mergedCounts(schedule: StepSchedule): Int32Array | null {
  if (!hasMergedSends(schedule)) return null;
  const count = transferCount(schedule);
  const counts = new Int32Array(count).fill(1);
  for (let from = 0, to = 1; to <= count; to++) {
    if (to < count && goesWithPrevious(schedule, to)) continue;
    counts.fill(to - from, from, to);
    from = to;
  }
  return counts;
}
