import { disjointSets, type Grouped, groupedBy } from "../../../model/graph/graph.ts";
import { type RouteSet, type RouteTimes, routeCount } from "../../../model/routes/routes.ts";

/** NPUs joined by edges that are alike one way and the other; at least two NPUs, all of them joined. */
export interface DuplexNetwork {
  readonly npuCount: number;
  /** [edges] its two NPUs. */
  readonly tail: Int32Array;
  readonly head: Int32Array;
  /** [edges] the routes from tail to head, and back. */
  readonly there: Int32Array;
  readonly back: Int32Array;
  /** [edges] how long a transfer occupies one direction, and how much later it arrives; exact integers, the first >= 1. */
  readonly serialPs: Float64Array;
  readonly latencyPs: Float64Array;
  /** [2 edges] edges of an NPU: items[offset[v] .. offset[v + 1]]. */
  readonly incident: Grouped;
}

/** Returns the NPU at the other end of an edge. */
export const otherEnd = ({ tail, head }: DuplexNetwork, edge: number, npu: number): number =>
  tail[edge] === npu ? head[edge] : tail[edge];

/**
 * Returns the routes as edges, each route with one alike that goes back, or null where one has none or where not all NPUs are
 * joined. O(routes log routes).
 */
export function duplexNetwork(
  npuCount: number,
  routes: RouteSet,
  { serialPs, latencyPs }: RouteTimes,
): DuplexNetwork | null {
  const count = routeCount(routes);
  const { source, target } = routes;
  const low = (r: number): number => Math.min(source[r], target[r]);
  const high = (r: number): number => Math.max(source[r], target[r]);
  /** Less or more than 0 for routes that cannot be two directions of one edge. */
  const unlike = (a: number, b: number): number =>
    low(a) - low(b) || high(a) - high(b) || serialPs[a] - serialPs[b] || latencyPs[a] - latencyPs[b];
  const upward = (r: number): number => (source[r] < target[r] ? 0 : 1);
  const order = Int32Array.from({ length: count }, (_, r) => r).sort(
    (a, b) => unlike(a, b) || upward(a) - upward(b) || a - b,
  );
  const runs: [number, number][] = [];
  for (let from = 0, to = 0; from < count; from = to) {
    while (to < count && unlike(order[from], order[to]) === 0) to++;
    const half = (to - from) / 2;
    if (!Number.isInteger(half) || upward(order[from + half - 1]) !== 0 || upward(order[from + half]) !== 1)
      return null;
    for (let i = 0; i < half; i++) runs.push([order[from + i], order[from + half + i]]);
  }
  const there = Int32Array.from(runs, ([r]) => r);
  const tail = there.map((r) => source[r]);
  const head = there.map((r) => target[r]);
  const { offset, items } = groupedBy(Int32Array.from([...tail, ...head]), npuCount);
  const network = {
    npuCount,
    tail,
    head,
    there,
    back: Int32Array.from(runs, ([, r]) => r),
    serialPs: Float64Array.from(there, (r) => serialPs[r]),
    latencyPs: Float64Array.from(there, (r) => latencyPs[r]),
    incident: { offset, items: items.map((end) => end % there.length) },
  };
  return npuCount > 1 && isJoined(network) ? network : null;
}

function isJoined({ npuCount, tail, head }: DuplexNetwork): boolean {
  const parts = disjointSets(npuCount);
  for (let e = 0; e < tail.length; e++) parts.join(tail[e], head[e]);
  for (let npu = 0; npu < npuCount; npu++) if (parts.least(npu) !== 0) return false;
  return true;
}
