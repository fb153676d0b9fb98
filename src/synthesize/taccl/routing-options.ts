import { type Collective, membersOf } from "../../model/collective/collective.ts";
import { routeCount } from "../../model/routes/routes.ts";
import type { SketchNetwork } from "../../model/sketch/sketch.ts";
import { mayCarry } from "../../model/sketch/sketch-relays.ts";
import type { RoutingCosts } from "./routing-costs.ts";
import { type Distances, distancesFrom } from "./routing-distances.ts";
import type { RoutingSymmetry } from "./routing-symmetry.ts";

/** What one chunk, and with it its images, may do. */
export interface ChunkOptions {
  readonly chunk: number;
  /** [npus] */
  readonly isHolder: Uint8Array;
  readonly isTarget: Uint8Array;
  /** NPUs that are no holders and that some option enters, in an order along all options. */
  readonly order: Int32Array;
  /** The chunk's options are numbers first .. end - 1, by the order of the NPUs that they enter. */
  readonly first: number;
  readonly end: number;
  /** [npus] when the chunk can be there at the earliest, picoseconds. */
  readonly timePs: Float64Array;
  /** Options that enter an NPU. */
  readonly into: ReadonlyMap<number, readonly number[]>;
}

/** Choices: an option sends a chunk over a route, and the chunk's images over the route's. */
export interface RoutingOptions {
  readonly chunks: readonly ChunkOptions[];
  /** [options] */
  readonly route: Int32Array;
  /** [options] by how much the route is off a shortest way, picoseconds; for one of the images. */
  readonly detourPs: Float64Array;
  /** [options] when the chunk can be at the route's source at the earliest. */
  readonly headPs: Float64Array;
  /** Loads of option i and its images: load[j] on link[j] for j in offset[i] .. offset[i + 1], without what is paid once. */
  readonly offset: Int32Array;
  readonly link: Int32Array;
  readonly load: Float64Array;
  /** Greatest time that some chunk needs to some target alone. */
  readonly longestPs: number;
}

/** A chunk for a single NPU takes a way of at most so many times the shortest. */
const LONGEST_DETOUR = 1.7;

/** Returns whether the sketch lets NPUs send a chunk of these holders over a route; images of it must be allowed too. */
function allowedFor(network: SketchNetwork, holders: Int32Array): (route: number) => boolean {
  const { leavesBox, routes, sketch } = network;
  if (sketch.internode === null || sketch.internode.relays === null) return () => true;
  return (route) => leavesBox[route] === 0 || holders.some((owner) => mayCarry(sketch, owner, routes.source[route]));
}

/** Returns the distances of each chunk, searched for once for chunks of equal holders. O(chunks * NPUs * log(NPUs)) and the searches. */
export function distancesOfChunks(network: SketchNetwork, whole: Collective, costs: RoutingCosts): Distances[] {
  const known = new Map<string, { readonly of: (turn: number) => Distances; chunks: number }>();
  return Array.from({ length: whole.chunkCount }, (_, chunk) => {
    const holders = membersOf(whole, whole.pre, chunk);
    const key = holders.join();
    let from = known.get(key);
    if (from === undefined) {
      const { npuCount } = network.topology;
      const of = distancesFrom(npuCount, network.routes, costs.times.slotPs, holders, allowedFor(network, holders));
      from = { of, chunks: 0 };
      known.set(key, from);
    }
    return from.of(from.chunks++);
  });
}

/**
 * Returns the options of one chunk of each orbit: routes that go up in its order of NPUs (see distancesFrom), so that whatever
 * is chosen has no cycle and needs no times (TACCL, equations 2 to 5, has them with constraints that switch on and off), and
 * that lead on to a target. Every target must be within reach. O(options * images * route length).
 */
export function routingOptions(
  network: SketchNetwork,
  whole: Collective,
  costs: RoutingCosts,
  symmetry: RoutingSymmetry,
  distancesOf: readonly Distances[],
): RoutingOptions {
  const chunks: ChunkOptions[] = [];
  const route: number[] = [];
  const detourPs: number[] = [];
  const headPs: number[] = [];
  let longestPs = 0;
  for (const chunk of symmetry.representatives) {
    const distances = distancesOf[chunk];
    const { timePs, order } = distances;
    const isHolder = flags(network, membersOf(whole, whole.pre, chunk));
    const isTarget = flags(network, membersOf(whole, whole.post, chunk));
    const useful = usefulRoutes(network, costs, distances, isHolder, isTarget);
    const first = route.length;
    const into = new Map<number, number[]>();
    for (const npu of order) {
      if (isTarget[npu] === 1) longestPs = Math.max(longestPs, timePs[npu]);
      const kept = useful.get(npu) ?? [];
      if (kept.length > 0)
        into.set(
          npu,
          Array.from(kept, (_, i) => route.length + i),
        );
      for (const r of kept) {
        route.push(r);
        headPs.push(timePs[network.routes.source[r]]);
        detourPs.push(timePs[network.routes.source[r]] + costs.times.slotPs[r] - timePs[npu]);
      }
    }
    const entered = Int32Array.from(into.keys());
    chunks.push({ chunk, isHolder, isTarget, order: entered, first, end: route.length, timePs, into });
  }
  return {
    chunks,
    route: Int32Array.from(route),
    detourPs: Float64Array.from(detourPs),
    headPs: Float64Array.from(headPs),
    ...loads(network, costs, symmetry, route),
    longestPs,
  };
}

function flags(network: SketchNetwork, npus: Int32Array): Uint8Array {
  const flag = new Uint8Array(network.topology.npuCount);
  for (const npu of npus) flag[npu] = 1;
  return flag;
}

/** Returns, for each NPU, routes into it that go up in the chunk's order and lead on to a target. */
function usefulRoutes(
  network: SketchNetwork,
  costs: RoutingCosts,
  { timePs, rank, order }: Distances,
  isHolder: Uint8Array,
  isTarget: Uint8Array,
): Map<number, readonly number[]> {
  const { routes } = network;
  const { slotPs } = costs.times;
  const holders = Int32Array.from(isHolder.keys()).filter((npu) => isHolder[npu] === 1);
  const allowed = allowedFor(network, holders);
  const into: number[][] = Array.from(order, () => []);
  for (let route = 0; route < routeCount(routes); route++) {
    const [from, to] = [routes.source[route], routes.target[route]];
    if (rank[from] < 0 || rank[from] >= rank[to] || isHolder[to] === 1 || !allowed(route)) continue;
    into[rank[to]].push(route);
  }
  // times that are left from each NPU to the nearest target that it leads to, by routes within the limit
  const timesLeft = (limit: number, keep?: (npu: number, kept: readonly number[]) => void): Float64Array => {
    const left = new Float64Array(timePs.length).fill(Number.POSITIVE_INFINITY);
    for (let i = order.length - 1; i >= 0; i--) {
      const npu = order[i];
      if (isTarget[npu] === 1 && isHolder[npu] === 0) left[npu] = 0;
      if (left[npu] === Number.POSITIVE_INFINITY) continue;
      const kept = into[i].filter((route) => timePs[routes.source[route]] + slotPs[route] + left[npu] <= limit);
      for (const route of kept) {
        const from = routes.source[route];
        left[from] = Math.min(left[from], slotPs[route] + left[npu]);
      }
      keep?.(npu, kept);
    }
    return left;
  };
  const targets = order.filter((npu) => isTarget[npu] === 1 && isHolder[npu] === 0);
  let limit = Number.POSITIVE_INFINITY;
  if (targets.length === 1) {
    const left = timesLeft(limit);
    const ascending = holders.reduce((least, npu) => Math.min(least, left[npu]), limit);
    limit = Math.max(LONGEST_DETOUR * timePs[targets[0]], ascending);
  }
  const useful = new Map<number, readonly number[]>();
  timesLeft(limit, (npu, kept) => useful.set(npu, kept));
  return useful;
}

function loads(
  { routes }: SketchNetwork,
  { eachPs, share }: RoutingCosts,
  { maps }: RoutingSymmetry,
  route: readonly number[],
): Pick<RoutingOptions, "offset" | "link" | "load"> {
  const offset = new Int32Array(route.length + 1);
  const link: number[] = [];
  const load: number[] = [];
  const sums = new Map<number, number>();
  for (let option = 0; option < route.length; option++) {
    sums.clear();
    for (const { routeTo } of maps) {
      const image = routeTo[route[option]];
      for (let i = routes.linkOffset[image]; i < routes.linkOffset[image + 1]; i++)
        sums.set(routes.links[i], (sums.get(routes.links[i]) ?? 0) + eachPs[image] * share[i]);
    }
    for (const [l, ps] of sums) {
      link.push(l);
      load.push(ps);
    }
    offset[option + 1] = link.length;
  }
  return { offset, link: Int32Array.from(link), load: Float64Array.from(load) };
}
