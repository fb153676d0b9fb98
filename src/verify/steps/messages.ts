import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { type Grouping, groupRows } from "./order.ts";

/** The columns that tell which rows go together. */
type Rows = Pick<StepSchedule, "chunk" | "route" | "startPs" | "endPs">;

/** What departs on each route: rows of equal start and end go together, one merged send. */
export interface Messages {
  /** The first row of each message, by route and in order of departure. */
  readonly byRoute: Grouping;
  /** [routes] 1 where rows of a route overlap; those of one message do. */
  readonly overlaps: Uint8Array;
  /** [rows] chunks of the message that begins with the row, 0 for its other rows; null where every row is a message. */
  readonly chunks: Int32Array | null;
}

/**
 * Returns the messages of rows in any order. A message begins with its lowest chunk; a chunk that is in it twice is, the
 * second time, a message of its own. Rows of different tenants (`tenant`, ascending where start and route are equal) are
 * never one message. O(rows + routes) where the rows of each route are in order of (start, chunk); otherwise sorts them.
 */
export function messagesOf(rows: Rows, routes: number, tenant: Int32Array | null = null): Messages {
  const byRoute = groupRows(rows.route, routes);
  const overlaps = new Uint8Array(routes);
  let chunks: Int32Array | null = null;
  for (let route = 0; route < routes; route++) {
    const own = byRoute.rows.subarray(byRoute.offset[route], byRoute.offset[route + 1]);
    const found = sortByStart(own, rows);
    if (found === APART) continue;
    overlaps[route] = 1;
    if (found === OVERLAPPING) continue;
    chunks ??= new Int32Array(rows.route.length).fill(1);
    for (let from = 0, to = 1; to <= own.length; to++) {
      if (to < own.length && rows.startPs[own[to]] === rows.startPs[own[from]]) continue;
      if (to > from + 1) joinEqual(own.subarray(from, to), rows, tenant, chunks);
      from = to;
    }
  }
  return { byRoute: chunks === null ? byRoute : firstRows(byRoute, chunks), overlaps, chunks };
}

/** What the rows of a route are to each other in order of their starts. */
const APART = 0;
const OVERLAPPING = 1;
const TIED = 2;

/** Sorts rows by start, then by row, and returns whether each ends before the next starts, and else whether two start together. */
function sortByStart(rows: Int32Array, times: Pick<Rows, "startPs" | "endPs">): number {
  const { startPs, endPs } = times;
  let found = APART;
  for (let i = 1; i < rows.length; i++) {
    const before = rows[i - 1];
    const start = startPs[rows[i]];
    if (endPs[before] <= start) continue;
    if (startPs[before] > start) {
      rows.sort((a, b) => startPs[a] - startPs[b] || a - b);
      return sortByStart(rows, times);
    }
    found = Math.max(found, startPs[before] === start ? TIED : OVERLAPPING);
  }
  return found;
}

/** Joins those rows of one route and start that end together, and are of one tenant. */
function joinEqual(rows: Int32Array, { chunk, endPs }: Rows, tenant: Int32Array | null, chunks: Int32Array): void {
  const owner = (row: number): number => (tenant === null ? 0 : tenant[row]);
  const order = (a: number, b: number): number =>
    endPs[a] - endPs[b] || owner(a) - owner(b) || chunk[a] - chunk[b] || a - b;
  if (rows.some((row, i) => i > 0 && order(rows[i - 1], row) > 0)) rows.sort(order);
  let first = rows[0];
  for (let i = 1; i < rows.length; i++) {
    const row = rows[i];
    if (endPs[row] !== endPs[first] || owner(row) !== owner(first)) first = row;
    else if (chunk[row] !== chunk[rows[i - 1]]) {
      chunks[first]++;
      chunks[row] = 0;
    }
  }
}

/** Returns the groups without the rows that belong to a message of another row. */
function firstRows({ offset, rows }: Grouping, chunks: Int32Array): Grouping {
  const kept = new Int32Array(offset.length);
  let count = 0;
  for (let g = 0; g + 1 < offset.length; g++) {
    for (let i = offset[g]; i < offset[g + 1]; i++) if (chunks[rows[i]] > 0) rows[count++] = rows[i];
    kept[g + 1] = count;
  }
  return { offset: kept, rows: rows.subarray(0, count) };
}
