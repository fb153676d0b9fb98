import { type Collective, membersOf } from "../../model/collective/collective.ts";
import { distancesFrom, graph } from "../../model/graph/graph.ts";
import { lcm } from "../../model/numbers/integers.ts";
import { type RouteSet, routeCount } from "../../model/routes/routes.ts";

/**
 * What one chunk must do. "copy": the NPUs of `from` hold it, those of `to` want it. "reduce": those of `from` contribute, the
 * one NPU of `to` wants the sum. "both": contributions meet somewhere, from where the sum spreads.
 */
export interface Flow {
  readonly kind: "copy" | "reduce" | "both";
  /** Which column of `durations` holds: chunks of several collectives differ in size. */
  readonly size: number;
  readonly from: Int32Array;
  readonly to: Int32Array;
}

/** Chunks, and how long routes are busy with them. */
export interface FlowProblem {
  readonly npuCount: number;
  readonly routes: RouteSet;
  /** [sizes][routes] whole numbers above 0 of some unit: picoseconds, or slots. */
  readonly durations: readonly Float64Array[];
  readonly flows: readonly Flow[];
}

/** Returns the flows of a collective. All-reduce and other sums that several NPUs want are "both". */
export function flowsOf(collective: Collective, size = 0): Flow[] {
  const { pre, post, reduces, chunkCount } = collective;
  return Array.from({ length: chunkCount }, (_, c): Flow => {
    const from = membersOf(collective, pre, c);
    const to = membersOf(collective, post, c);
    return { kind: !reduces ? "copy" : to.length === 1 ? "reduce" : "both", size, from, to };
  });
}

/** A link or a route: transfers that use it at one time may not use more than `capacity` units of it. */
export interface Resource {
  readonly route: readonly number[];
  readonly units: readonly number[];
  readonly capacity: number;
}

/** Shares of a link become whole units of at most this many; larger ones are rounded up. */
const MOST_UNITS = 1e6;

/**
 * Returns what transfers contend for: every route for itself, and links that several routes share; and whether all shares are
 * kept exactly (else some are rounded up, so a program may miss schedules that just fit). O(route links).
 */
export function resourcesOf(routes: RouteSet): { readonly resources: readonly Resource[]; readonly exact: boolean } {
  const { linkOffset, links, shareNum, shareDen } = routes;
  const users = new Map<number, { route: number; num: number; den: number }[]>();
  for (let route = 0; route < routeCount(routes); route++) {
    for (let i = linkOffset[route]; i < linkOffset[route + 1]; i++) {
      const list = users.get(links[i]) ?? [];
      list.push({ route, num: shareNum[i], den: shareDen[i] });
      users.set(links[i], list);
    }
  }
  const alone = new Uint8Array(routeCount(routes)).fill(1);
  const shared = new Map<string, Resource>();
  let exact = true;
  for (const list of users.values()) {
    if (list.length === 1) continue;
    const common = list.reduce((all, { den }) => (all > MOST_UNITS ? all : lcm(all, den)), 1);
    const capacity = Math.min(common, MOST_UNITS);
    const units = list.map(({ num, den }) => Math.ceil((num * capacity) / den));
    if (units.reduce((sum, one) => sum + one, 0) <= capacity) continue;
    exact &&= common <= MOST_UNITS;
    const route = list.map((use) => use.route);
    for (const [i, r] of route.entries()) if (2 * units[i] > capacity) alone[r] = 0;
    shared.set(`${capacity};${route};${units}`, { route, units, capacity });
  }
  const whole: Resource[] = [];
  for (let route = 0; route < alone.length; route++) {
    if (alone[route] === 1) whole.push({ route: [route], units: [1], capacity: 1 });
  }
  return { resources: [...whole, ...shared.values()], exact };
}

/** Returns text that is the same for equal resources. */
export const resourceKey = ({ route, units, capacity }: Resource): string =>
  `${capacity};${route
    .map((r, i) => [r, units[i]])
    .sort(([a], [b]) => a - b)
    .join(";")}`;

/** Returns, for each size, the least times between NPUs at from * npus + to. O(sizes x NPUs x routes log NPUs). */
export function pairTimes({ npuCount, routes, durations }: FlowProblem): Float64Array[] {
  return durations.map((duration) => {
    const network = graph(npuCount, routes.source, routes.target, duration);
    const time = new Float64Array(npuCount * npuCount);
    for (let v = 0; v < npuCount; v++) time.set(distancesFrom(network, [v]), v * npuCount);
    return time;
  });
}

/**
 * Points in time at which transfers may start. In a schedule whose transfers all start as early as their order allows, each
 * starts at 0 or when another ends, so at a sum of durations: a program over those sums loses nothing, whatever the
 * durations (TACOS 2023, section IV-C, rounds them to slots instead; equal durations give equal slots here too).
 */

/** Returns the sums of durations up to `horizon`, ascending from 0; null where there are more than `most`. */
function sumsOf(durations: Iterable<number>, horizon: number, most: number): Float64Array | null {
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
 * Returns slots of the length asked for; without one the sums of durations up to `horizonPs` where these are few. Else a slot, a
 * part of one of the durations, for which rounding up (TACOS 2023, section IV-C) makes no duration longer than need be, in
 * proportion.
 */
export function clockFor(durations: readonly Float64Array[], horizonPs: number, slotPs: number | null): Clock {
  if (slotPs !== null) return { kind: "slots", slotPs };
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

/**
 * Exchanges: two neighbours, where the contributions of one part of the NPUs and of all others have met, send each other
 * their sums at the same time. As many transfers as for trees through one place, and half a step off their timing.
 *
 * The 4x4 mesh with a chunk per NPU needs them: its bound is 13 slots, and trees through one place take 14. For in 13 slots
 * every corner must send its part of two chunks in each of the slots 1 to 8, and these must go without a stop to the corner
 * across, where two come in each of the slots 6 to 13. Through place (i, j), by slot m, the corners' parts then leave in the
 * slots m + 1 - their distances to it. Each corner's part leaves first of all (slot 1, so m is the place's eccentricity)
 * for two chunks that meet in the quarter across, and last (slot 8) for two that meet in its own: that is each of the 16
 * chunks once. A corner's slots 6 are then late chunks that meet in the inner place of the quarter across, its slots 3 early
 * ones in the inner place of its own, so all meet in inner places; the four early chunks beside it leave in slot 2, where
 * there is room for two. Pairs of neighbours reach the bound.
 */

/** Returns for each route one of the same durations the other way, one to one; -1 where there is none. O(routes). */
export function oppositeRoutes({ routes, durations }: FlowProblem): Int32Array {
  const waiting = new Map<string, number[]>();
  const key = (u: number, v: number, r: number): string => `${u};${v};${durations.map((column) => column[r])}`;
  for (let r = routes.source.length - 1; r >= 0; r--) {
    const at = key(routes.source[r], routes.target[r], r);
    const list = waiting.get(at);
    if (list === undefined) waiting.set(at, [r]);
    else list.push(r);
  }
  return routes.source.map((u, r) => waiting.get(key(routes.target[r], u, r))?.pop() ?? -1);
}

/** Returns the route that stands for an exchange over `route`: the lesser one of the two. */
export const pairOf = (opposite: Int32Array, route: number): number => Math.min(route, opposite[route]);

/** Returns whether every route has one the other way, and shared links are shared by those too. */
export function isReversible(opposite: Int32Array, resources: readonly Resource[]): boolean {
  if (opposite.includes(-1)) return false;
  const known = new Set(resources.map(resourceKey));
  return resources.every(({ route, units, capacity }) =>
    known.has(resourceKey({ route: route.map((r) => opposite[r]), units, capacity })),
  );
}
