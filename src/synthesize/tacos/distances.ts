import { type RouteSet, routeCount } from "../../model/routes.ts";

/** Routes grouped by one of their ends: routes[offset[v] .. offset[v + 1]]. */
export interface RouteLists {
  readonly offset: Int32Array;
  readonly routes: Int32Array;
}

/** Returns the routes that leave each NPU (`source` column) or enter it (`target` column). O(NPUs + routes). */
export function routesBy(column: Int32Array, npuCount: number): RouteLists {
  const offset = new Int32Array(npuCount + 1);
  for (const v of column) offset[v + 1]++;
  for (let v = 0; v < npuCount; v++) offset[v + 1] += offset[v];
  const next = offset.slice(0, npuCount);
  const routes = new Int32Array(column.length);
  for (let r = 0; r < column.length; r++) routes[next[column[r]]++] = r;
  return { offset, routes };
}

/** A binary heap of NPUs by (key, NPU): enough for Dijkstra's algorithm. */
function heap() {
  const nodes: number[] = [];
  const keys: number[] = [];
  const below = (a: number, b: number): boolean => keys[a] < keys[b] || (keys[a] === keys[b] && nodes[a] < nodes[b]);
  const swap = (a: number, b: number): void => {
    [nodes[a], nodes[b]] = [nodes[b], nodes[a]];
    [keys[a], keys[b]] = [keys[b], keys[a]];
  };
  return {
    push(node: number, key: number): void {
      let i = nodes.push(node) - 1;
      keys.push(key);
      for (let up = (i - 1) >> 1; i > 0 && below(i, up); i = up, up = (i - 1) >> 1) swap(i, up);
    },
    pop(): { node: number; key: number } | null {
      if (nodes.length === 0) return null;
      const top = { node: nodes[0], key: keys[0] };
      const last = nodes.length - 1;
      swap(0, last);
      nodes.pop();
      keys.pop();
      for (let i = 0; ; ) {
        const left = 2 * i + 1;
        if (left >= last) break;
        const child = left + 1 < last && below(left + 1, left) ? left + 1 : left;
        if (!below(child, i)) break;
        swap(i, child);
        i = child;
      }
      return top;
    },
  };
}

/**
 * Returns the time from the nearest of `sources` to every NPU over free routes, and the route by which it is reached (-1
 * at the sources and where there is no way; ties: the route relaxed first). Dijkstra, O(routes log NPUs).
 */
export function timesFrom(
  routes: RouteSet,
  slotPs: Float64Array,
  outgoing: RouteLists,
  sources: Iterable<number>,
): { readonly timePs: Float64Array; readonly previous: Int32Array } {
  const npus = outgoing.offset.length - 1;
  const timePs = new Float64Array(npus).fill(Number.POSITIVE_INFINITY);
  const previous = new Int32Array(npus).fill(-1);
  const queue = heap();
  for (const v of sources) {
    timePs[v] = 0;
    queue.push(v, 0);
  }
  for (let top = queue.pop(); top !== null; top = queue.pop()) {
    if (top.key > timePs[top.node]) continue;
    for (let i = outgoing.offset[top.node]; i < outgoing.offset[top.node + 1]; i++) {
      const r = outgoing.routes[i];
      const time = top.key + slotPs[r];
      const next = routes.target[r];
      if (time >= timePs[next]) continue;
      timePs[next] = time;
      previous[next] = r;
      queue.push(next, time);
    }
  }
  return { timePs, previous };
}

/** Of every pair of NPUs, at v * npus + t: the time from v to t (Infinity: no way) and the hops of one such way. */
export interface PairTimes {
  readonly timePs: Float64Array;
  readonly hops: Int32Array;
}

/** Returns the times and hops of all pairs. O(NPUs x routes log NPUs). */
export function allTimes(routes: RouteSet, slotPs: Float64Array, npuCount: number): PairTimes {
  const outgoing = routesBy(routes.source, npuCount);
  const timePs = new Float64Array(npuCount * npuCount);
  const hops = new Int32Array(npuCount * npuCount);
  for (let v = 0; v < npuCount; v++) {
    const from = timesFrom(routes, slotPs, outgoing, [v]);
    timePs.set(from.timePs, v * npuCount);
    for (let t = 0; t < npuCount; t++) {
      for (let at = t; from.previous[at] >= 0; at = routes.source[from.previous[at]]) hops[v * npuCount + t]++;
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
  const outgoing = routesBy(routes.source, npus);
  const routeLoad = new Float64Array(routeCount(routes));
  const ahead = new Float64Array(npus * npus);
  const sorted = (t: number): number[] => {
    const nodes = Array.from({ length: npus }, (_, v) => v).filter((v) => Number.isFinite(timesPs[v * npus + t]));
    return nodes.sort((a, b) => timesPs[b * npus + t] - timesPs[a * npus + t] || a - b);
  };
  const nextHops = (v: number, t: number): number[] => {
    const hops: number[] = [];
    for (let i = outgoing.offset[v]; i < outgoing.offset[v + 1]; i++) {
      const r = outgoing.routes[i];
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
