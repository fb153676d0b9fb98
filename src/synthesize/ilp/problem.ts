import type { Collective } from "../../model/collective/collective.ts";
import { membersOf } from "../../model/collective/collective.ts";
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

/** Shares of a link become whole units of at most so many; larger ones are rounded up. */
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

/** Returns, for each size, the least times between NPUs at from * npus + to. O(sizes x NPUs x routes log NPUs). */
export function pairTimes({ npuCount, routes, durations }: FlowProblem): Float64Array[] {
  return durations.map((duration) => {
    const network = graph(npuCount, routes.source, routes.target, duration);
    const time = new Float64Array(npuCount * npuCount);
    for (let v = 0; v < npuCount; v++) time.set(distancesFrom(network, [v]), v * npuCount);
    return time;
  });
}
