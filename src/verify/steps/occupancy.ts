import { type Grouped, groupedBy } from "../../model/graph/graph.ts";
import { bigLcm } from "../../model/numbers/integers.ts";
import { format, type Rational, rational } from "../../model/numbers/rational.ts";
import { type RouteSet, routeCount } from "../../model/routes/routes.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { linkCount } from "../../model/topology/topology.ts";
import type { Describer } from "../describe.ts";
import type { Recorder } from "../violation.ts";
import { roomFor, sortByKey } from "./rows.ts";

/** What occupies links: the rows of a schedule, or those of several together. */
type Occupants = Pick<StepSchedule, "topology" | "routes" | "chunk" | "route" | "startPs" | "endPs">;

/**
 * Records every message that departs while its route still carries one, and every one whose departure takes the shares in
 * use of a physical link above 1. A message uses its route during [start, end), whatever the number of its chunks. Exact.
 *
 * A sum of shares can only grow at a departure, so looking at departures is looking at all times. O(transfers + route
 * links) where rows are in order of their starts and links belong to one route each; otherwise sorts link by link.
 */
export function checkOccupancy(
  schedule: Occupants,
  messages: Messages,
  recorder: Recorder,
  words: Pick<Describer, "departure" | "link" | "time">,
  cargo = (row: number): string => `chunk ${schedule.chunk[row]} (transfer ${row})`,
  onProgress?: (done: number, total: number) => void,
): void {
  const crowded = checkRoutes(schedule, messages, recorder, words, cargo);
  checkLinks(schedule, messages.byRoute, crowded, recorder, words, onProgress);
}

/** Records overlaps on each route, and returns for each route whether there was one. */
function checkRoutes(
  schedule: Occupants,
  { byRoute, overlaps, chunks }: Messages,
  recorder: Recorder,
  words: Pick<Describer, "departure" | "time">,
  cargo: (row: number) => string,
): Uint8Array {
  const { startPs, endPs } = schedule;
  const { offset, items: rows } = byRoute;
  const crowded = new Uint8Array(offset.length - 1);
  for (let route = 0; route < crowded.length; route++) {
    if (overlaps[route] === 0) continue;
    const from = offset[route];
    const to = offset[route + 1];
    let last = rows[from];
    for (let i = from + 1; i < to; i++) {
      const row = rows[i];
      if (startPs[row] < endPs[last]) {
        const busy = last;
        crowded[route] = 1;
        recorder.record(() =>
          words.departure(
            "route-conflict",
            row,
            `, while ${cargo(busy)}${amongMerged(chunks, busy)} is on that route until ${words.time(endPs[busy])}`,
          ),
        );
      }
      if (endPs[row] > endPs[last]) last = row;
    }
  }
  return crowded;
}

/** Returns ", one of 3 merged chunks," for the first row of a merged send; nothing for a chunk alone. */
export function amongMerged(chunks: Int32Array | null, row: number): string {
  return chunks === null || chunks[row] < 2 ? "" : `, one of ${chunks[row]} merged chunks,`;
}

/** Positions of the route links, grouped by link, so in route order; and the route of each position. */
function linkUsers(routes: RouteSet, links: number): Grouped & { readonly routeOf: Int32Array } {
  const routeOf = new Int32Array(routes.links.length);
  for (let route = 0; route < routeCount(routes); route++) {
    routeOf.fill(route, routes.linkOffset[route], routes.linkOffset[route + 1]);
  }
  return { ...groupedBy(routes.links, links), routeOf };
}

/** So many messages of links lie between two reports of progress. */
const REPORT_ENTRIES = 1_000_000;

function checkLinks(
  schedule: Occupants,
  groups: Grouped,
  crowded: Uint8Array,
  recorder: Recorder,
  words: Pick<Describer, "departure" | "link">,
  onProgress?: (done: number, total: number) => void,
): void {
  const { routes, startPs, endPs, route } = schedule;
  const users = linkUsers(routes, linkCount(schedule.topology));
  const weight = new Float64Array(routeCount(routes));
  let scratch: Int32Array = new Int32Array(0);
  let scratchByEnd: Int32Array = scratch;
  let unreported = 0;

  for (let link = 0; link + 1 < users.offset.length; link++) {
    const positions = users.items.subarray(users.offset[link], users.offset[link + 1]);
    // One route, not crowded, at most the whole link: nothing can be wrong.
    if (positions.length === 0 || (positions.length === 1 && crowded[users.routeOf[positions[0]]] === 0)) continue;

    let entries = 0;
    for (const p of positions) entries += groups.offset[users.routeOf[p] + 1] - groups.offset[users.routeOf[p]];
    if (entries === 0) continue;
    unreported += entries;
    if (onProgress !== undefined && unreported >= REPORT_ENTRIES) {
      onProgress(link, users.offset.length - 1);
      unreported = 0;
    }
    scratch = roomFor(scratch, entries);
    let count = 0;
    let previous = -1;
    for (const p of positions) {
      const user = users.routeOf[p];
      if (user === previous) continue; // the route passes this link twice: its weight says so
      previous = user;
      const own = groups.items.subarray(groups.offset[user], groups.offset[user + 1]);
      scratch.set(own, count);
      count += own.length;
    }
    const byStart = scratch.subarray(0, count);
    sortByKey(byStart, startPs);
    scratchByEnd = roomFor(scratchByEnd, count);
    scratchByEnd.set(byStart);
    const byEnd = scratchByEnd.subarray(0, count);
    sortByKey(byEnd, endPs);

    const meter = meterOf(routes, users.routeOf, positions, entries, weight);
    let ended = 0;
    for (let i = 0; i < count; i++) {
      const row = byStart[i];
      while (endPs[byEnd[ended]] <= startPs[row]) meter.leave(route[byEnd[ended++]]);
      if (meter.enter(route[row])) {
        recorder.record(() => {
          const fault = `, taking link ${words.link(link)} to ${format(meter.inUse())} times its capacity`;
          return { ...words.departure("link-conflict", row, fault), link };
        });
      }
    }
  }
}

/** The shares of one link that are in use. */
interface Meter {
  /** Adds the share of a route and returns whether more than the whole link is in use. */
  enter(route: number): boolean;
  leave(route: number): void;
  inUse(): Rational;
}

/**
 * Returns the meter of a link that counts in units of 1/D, D a common denominator of its shares: in doubles where no sum
 * can leave 2^53, else in BigInt. `weight` is scratch, one place a route.
 */
function meterOf(
  routes: RouteSet,
  routeOf: Int32Array,
  positions: Int32Array,
  entries: number,
  weight: Float64Array,
): Meter {
  const { shareNum, shareDen } = routes;
  let whole = 1n;
  let previous = 1;
  for (const p of positions) {
    if (shareDen[p] === previous) continue;
    previous = shareDen[p];
    whole = bigLcm(whole, BigInt(previous));
  }
  if (whole * BigInt(entries) <= BigInt(Number.MAX_SAFE_INTEGER)) {
    const all = Number(whole);
    let used = 0;
    for (const p of positions) weight[routeOf[p]] = 0;
    for (const p of positions) weight[routeOf[p]] += shareNum[p] * (all / shareDen[p]);
    return {
      enter: (route) => {
        used += weight[route];
        return used > all;
      },
      leave: (route) => {
        used -= weight[route];
      },
      inUse: () => rational(used, whole),
    };
  }
  const exact = new Map<number, bigint>();
  for (const p of positions) {
    const share = BigInt(shareNum[p]) * (whole / BigInt(shareDen[p]));
    exact.set(routeOf[p], (exact.get(routeOf[p]) ?? 0n) + share);
  }
  let used = 0n;
  return {
    enter: (route) => {
      used += exact.get(route) as bigint;
      return used > whole;
    },
    leave: (route) => {
      used -= exact.get(route) as bigint;
    },
    inUse: () => rational(used, whole),
  };
}

/** The columns that tell which rows go together. */
type Rows = Pick<StepSchedule, "chunk" | "route" | "startPs" | "endPs">;

/** What departs on each route: rows of equal start and end go together, one merged send. */
export interface Messages {
  /** The first row of each message, by route and in order of departure. */
  readonly byRoute: Grouped;
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
  const byRoute = groupedBy(rows.route, routes);
  const overlaps = new Uint8Array(routes);
  let chunks: Int32Array | null = null;
  for (let route = 0; route < routes; route++) {
    const own = byRoute.items.subarray(byRoute.offset[route], byRoute.offset[route + 1]);
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
function firstRows({ offset, items: rows }: Grouped, chunks: Int32Array): Grouped {
  const kept = new Int32Array(offset.length);
  let count = 0;
  for (let g = 0; g + 1 < offset.length; g++) {
    for (let i = offset[g]; i < offset[g + 1]; i++) if (chunks[rows[i]] > 0) rows[count++] = rows[i];
    kept[g + 1] = count;
  }
  return { offset: kept, items: rows.subarray(0, count) };
}
