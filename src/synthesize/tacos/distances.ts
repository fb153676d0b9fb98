import { distancesFrom, type Graph, graph, groupedBy } from "../../model/graph/graph.ts";
import { type RouteSet, routeCount } from "../../model/routes/routes.ts";

/** Returns the NPUs as a graph whose arcs are the routes, weighted with their slots. */
export const routeGraph = (routes: RouteSet, slotPs: Float64Array, npuCount: number): Graph =>
  graph(npuCount, routes.source, routes.target, slotPs);

/** Of every pair of NPUs, at v * npus + t: the time from v to t (Infinity: no way) and the hops of one such way. */
export interface PairTimes {
  readonly timePs: Float64Array;
  readonly hops: Int32Array;
}

/** Returns the times and hops of all pairs. O(NPUs x routes log NPUs). */
export function allTimes(routes: RouteSet, slotPs: Float64Array, npuCount: number): PairTimes {
  const network = routeGraph(routes, slotPs, npuCount);
  const timePs = new Float64Array(npuCount * npuCount);
  const hops = new Int32Array(npuCount * npuCount);
  const previous = new Int32Array(npuCount);
  for (let v = 0; v < npuCount; v++) {
    previous.fill(-1);
    timePs.set(distancesFrom(network, [v], previous), v * npuCount);
    for (let t = 0; t < npuCount; t++) {
      for (let at = t; previous[at] >= 0; at = routes.source[previous[at]]) hops[v * npuCount + t]++;
    }
  }
  return { timePs, hops };
}

/** In which order an NPU's waiting chunks are served. */
export type RelayOrder = "farthest" | "nearest" | "load";

/**
 * Returns [npus * npus] for each NPU v all targets in the order of service: by remaining time, longest or shortest first,
 * or by the load that lies ahead, heaviest first. Ties: targets in rotation v + 1, v + 2, ..., so that NPUs on one switch
 * start with different targets.
 */
export function serviceOrder(
  order: RelayOrder,
  routes: RouteSet,
  slotPs: Float64Array,
  timesPs: Float64Array,
  demand: Float64Array,
): Int32Array {
  const npus = Math.sqrt(timesPs.length);
  const weight = order === "load" ? loadAhead(routes, slotPs, timesPs, demand, npus) : timesPs;
  const sign = order === "nearest" ? 1 : -1;
  const result = new Int32Array(npus * npus);
  for (let v = 0; v < npus; v++) {
    const row = result.subarray(v * npus, (v + 1) * npus);
    for (let t = 0; t < npus; t++) row[t] = t;
    const rotation = (t: number): number => (t - v - 1 + npus) % npus;
    row.sort((a, b) => {
      const x = weight[v * npus + a];
      const y = weight[v * npus + b];
      return x === y ? rotation(a) - rotation(b) : sign * (x < y ? -1 : 1);
    });
  }
  return result;
}

/**
 * Returns [npus * npus] the load on the way from v to t: route loads come from dividing every chunk equally over the
 * shortest ways (demand[v * npus + t] chunks from v to t), and a way's load is the mean over its next hops of the route's
 * load plus what follows. Doubles, computed in one fixed order; used as a priority only.
 */
function loadAhead(
  routes: RouteSet,
  slotPs: Float64Array,
  timesPs: Float64Array,
  demand: Float64Array,
  npus: number,
): Float64Array {
  const leaving = groupedBy(routes.source, npus);
  const routeLoad = new Float64Array(routeCount(routes));
  const ahead = new Float64Array(npus * npus);
  const sorted = (t: number): number[] => {
    const nodes = Array.from({ length: npus }, (_, v) => v).filter((v) => Number.isFinite(timesPs[v * npus + t]));
    return nodes.sort((a, b) => timesPs[b * npus + t] - timesPs[a * npus + t] || a - b);
  };
  const nextHops = (v: number, t: number): number[] => {
    const hops: number[] = [];
    for (let i = leaving.offset[v]; i < leaving.offset[v + 1]; i++) {
      const r = leaving.items[i];
      if (slotPs[r] + timesPs[routes.target[r] * npus + t] === timesPs[v * npus + t]) hops.push(r);
    }
    return hops;
  };
  for (let t = 0; t < npus; t++) {
    const flow = Float64Array.from({ length: npus }, (_, v) => demand[v * npus + t]);
    for (const v of sorted(t)) {
      if (v === t || flow[v] === 0) continue;
      const hops = nextHops(v, t);
      for (const r of hops) {
        routeLoad[r] += (flow[v] / hops.length) * slotPs[r];
        flow[routes.target[r]] += flow[v] / hops.length;
      }
    }
  }
  for (let t = 0; t < npus; t++) {
    for (const v of sorted(t).reverse()) {
      if (v === t) continue;
      const hops = nextHops(v, t);
      let sum = 0;
      for (const r of hops) sum += routeLoad[r] + ahead[routes.target[r] * npus + t];
      ahead[v * npus + t] = hops.length === 0 ? 0 : sum / hops.length;
    }
  }
  return ahead;
}
