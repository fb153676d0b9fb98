import type { RouteView } from "./graph.ts";

/**
 * How many whole transfers fit into a time: sum over i of lanes[i] * floor((t - release[i]) / slot[i]), plus for each
 * shared link with unequal routes the smallest of its routes' sum, its lanes' count and its time over the least cost.
 */
export interface Capacity {
  readonly slot: number[];
  readonly release: number[];
  readonly lanes: number[];
  readonly shared: Shared[];
}

interface Shared {
  readonly routes: Capacity;
  readonly slot: number;
  readonly release: number;
  readonly lanes: number;
  /** Least link time of a transfer, share x slot, rounded down. */
  readonly cost: number;
}

const emptyCapacity = (): Capacity => ({ slot: [], release: [], lanes: [], shared: [] });

/** Routes with, for each, one position in `routes.links`: the link to which the route's transfers are charged. */
export interface Charged<Column extends ArrayLike<number> = number[]> {
  readonly route: Column;
  readonly position: Column;
}
type AnyCharged = Charged<ArrayLike<number>>;

function addTerm(capacity: Capacity, slot: number, release: number, lanes: number): void {
  const known = Math.min(capacity.slot.length, 8);
  for (let i = 0; i < known; i++) {
    if (capacity.slot[i] === slot && capacity.release[i] === release) {
      capacity.lanes[i] += lanes;
      return;
    }
  }
  capacity.slot.push(slot);
  capacity.release.push(release);
  capacity.lanes.push(lanes);
}

/**
 * Returns an upper bound on the transfers that the routes complete by a time; `release[npu]` (or null: 0) is the earliest
 * start of a useful transfer from that NPU.
 *
 * Per link it is the smallest of three. (1) Each route does one transfer at a time: sum of floor((t - release) / slot). (2) At
 * most L = floor(1 / smallest share) transfers are on the link at once; such intervals split into L lanes without overlap
 * (interval graphs are perfect), and each lane takes floor((t - release) / slot) of the shortest. (3) Each transfer takes
 * share x slot of the link's time, so floor((t - release) / least share x slot). Charging each route to
 * one of its links counts every transfer once, so the sum over the links is an upper bound too.
 *
 * Of messages of several chunks (a route's first one pays `leadPs`, each chunk `pacePs`; slot is the pace) all three hold with
 * release + lead: place the pace of a message's chunks at its end. That is after release + lead; where the message is, its
 * route is its own, it has a lane, and shares sum to at most 1.
 */
export function capacityOf(view: RouteView, charged: AnyCharged, release: Float64Array | null): Capacity {
  const all = emptyCapacity();
  if (view.direct) addDirect(all, view, charged, release);
  else forEachLink(charged, view, (_, entries) => addLink(all, view, charged, entries, release));
  return all;
}

/** Returns the capacity of each charged link by itself, by link. */
export function capacityByLink(
  view: RouteView,
  charged: AnyCharged,
  release: Float64Array | null,
): Map<number, Capacity> {
  const result = new Map<number, Capacity>();
  forEachLink(charged, view, (link, entries) => {
    const one = emptyCapacity();
    addLink(one, view, charged, entries, release);
    result.set(link, one);
  });
  return result;
}

/** Adds routes that have their links for themselves. */
function addDirect(all: Capacity, view: RouteView, { route }: AnyCharged, release: Float64Array | null): void {
  for (let i = 0; i < route.length; i++) {
    const start = startOn(view, route[i], release);
    if (start !== Number.POSITIVE_INFINITY) addTerm(all, view.pacePs[route[i]], start, 1);
  }
}

/** Returns when the first chunk on a route can begin to be serialised. */
function startOn({ routes, leadPs }: RouteView, route: number, release: Float64Array | null): number {
  const start = release === null ? 0 : release[routes.source[route]];
  return leadPs === null ? start : start + leadPs[route];
}

/** Calls `visit` with each charged link and its entries, links in the order of their first entry. */
function forEachLink(charged: AnyCharged, view: RouteView, visit: (link: number, entries: number[]) => void): void {
  const { lastEntry } = view; // all -1 between calls
  const previous: number[] = [];
  const first: number[] = [];
  for (let i = 0; i < charged.route.length; i++) {
    const link = view.routes.links[charged.position[i]];
    if (lastEntry[link] < 0) first.push(i);
    previous.push(lastEntry[link]);
    lastEntry[link] = i;
  }
  const entries: number[] = [];
  for (const start of first) {
    const link = view.routes.links[charged.position[start]];
    entries.length = 0;
    for (let i = lastEntry[link]; i >= 0; i = previous[i]) entries.push(i);
    lastEntry[link] = -1;
    visit(link, entries);
  }
}

function addLink(
  all: Capacity,
  view: RouteView,
  charged: AnyCharged,
  entries: readonly number[],
  release: Float64Array | null,
): void {
  const { shareNum, shareDen } = view.routes;
  let slot = Number.POSITIVE_INFINITY;
  let start = Number.POSITIVE_INFINITY;
  let lanes = 1;
  let cost = Number.POSITIVE_INFINITY;
  let load = 0;
  let equal = true;
  for (const i of entries) {
    const route = charged.route[i];
    const at = startOn(view, route, release);
    if (slot !== Number.POSITIVE_INFINITY && (view.pacePs[route] !== slot || at !== start)) equal = false;
    const share = shareNum[charged.position[i]] / shareDen[charged.position[i]];
    const first = charged.position[entries[0]];
    if (shareNum[charged.position[i]] * shareDen[first] !== shareNum[first] * shareDen[charged.position[i]])
      equal = false;
    load += share;
    // a hair below the exact product, so that rounding only weakens the bound
    cost = Math.min(cost, view.pacePs[route] * share * (1 - 1e-12));
    slot = Math.min(slot, view.pacePs[route]);
    start = Math.min(start, at);
    lanes = Math.max(lanes, Math.floor(shareDen[charged.position[i]] / shareNum[charged.position[i]]));
  }
  if (start === Number.POSITIVE_INFINITY) return; // nothing useful can ever be there
  if (equal) {
    addTerm(all, slot, start, Math.min(lanes, entries.length));
    return;
  }
  const routes = load <= 1 + 1e-9 ? all : emptyCapacity(); // all of them at once may fit
  for (const i of entries) {
    const route = charged.route[i];
    const at = startOn(view, route, release);
    if (at !== Number.POSITIVE_INFINITY) addTerm(routes, view.pacePs[route], at, 1);
  }
  if (routes !== all) all.shared.push({ routes, slot, release: start, lanes, cost });
}

/** Returns the terms of a capacity as a text: equal texts, equal transfers by any time. */
export function capacityText({ slot, release, lanes, shared }: Capacity): string {
  let text = "";
  for (let i = 0; i < slot.length; i++) text += `${slot[i]}:${release[i]}:${lanes[i]},`;
  for (const link of shared) {
    text += `[${capacityText(link.routes)}${link.slot}:${link.release}:${link.lanes}:${link.cost}]`;
  }
  return text;
}

const whole = (time: number, release: number, slot: number): number =>
  time <= release ? 0 : Math.floor((time - release) / slot);

/** Returns how many transfers can have completed by `time`. Exact up to 2^53 (quotients of such integers floor exactly). */
export function transfersBy(capacity: Capacity, time: number): number {
  const { slot, release, lanes, shared } = capacity;
  let sum = 0;
  for (let i = 0; i < slot.length; i++) sum += lanes[i] * whole(time, release[i], slot[i]);
  for (let i = 0; i < shared.length; i++) {
    const link = shared[i];
    sum += Math.min(
      transfersBy(link.routes, time),
      link.lanes * whole(time, link.release, link.slot),
      whole(time, link.release, link.cost),
    );
  }
  return sum;
}

/** Returns the smallest integer time in (from, 2^53) at which `fits` holds; it must be monotone. 2^53 - 1 if none. */
export function smallestTime(from: number, fits: (time: number) => boolean): number {
  let low = from;
  let step = 1;
  while (low + step < Number.MAX_SAFE_INTEGER && !fits(low + step)) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, Number.MAX_SAFE_INTEGER);
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2);
    if (fits(middle)) high = middle;
    else low = middle;
  }
  return high;
}
