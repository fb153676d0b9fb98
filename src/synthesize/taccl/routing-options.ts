import { type Collective, membersOf, type Placement } from "../../model/collective/collective.ts";
import { groupedOnce, heap } from "../../model/graph/graph.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import type { Rational } from "../../model/numbers/rational.ts";
import { type RouteSet, type RouteTimes, routeCount, routeTimes } from "../../model/routes/routes.ts";
import { mayCarry, type SketchNetwork } from "../../model/sketch/sketch.ts";
import { imagesByName } from "../../model/symmetry/network-maps.ts";

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

/** A chunk for a single NPU takes a way of at most this many times the shortest. */
const LONGEST_DETOUR = 1.7;

/** Returns whether the sketch lets NPUs send a chunk of these holders over a route; images of it must be allowed too. */
function allowedFor(network: SketchNetwork, holders: Int32Array): (route: number) => boolean {
  const { leavesBox, routes, sketch } = network;
  if (sketch.internode === null || sketch.internode.relays === null) return () => true;
  return (route) => leavesBox[route] === 0 || holders.some((owner) => mayCarry(network, owner, routes.source[route]));
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

/** Shortest ways of a chunk from its holders. */
export interface Distances {
  /** [npus] in picoseconds, Infinity where the chunk cannot come. */
  readonly timePs: Float64Array;
  /** [npus] place in the order in which the chunk may pass the NPUs, holders first; -1 where it cannot come. */
  readonly rank: Int32Array;
  /** NPUs by rank. */
  readonly order: Int32Array;
}

/**
 * Returns a function that gives times and an order of NPUs such that routes which go up in it make no cycle. The order is by the sum of squared
 * times over the way: several quick routes come before one as slow as all of them (TACCL allows the NPUs on shortest ways
 * only, and loses NDv2's ring of double links by it); equal ones, as behind one switch, follow the first holder cyclically,
 * `turn` places on: so several chunks of one holder begin at different NPUs.
 * O(routes * log(routes)).
 */
export function distancesFrom(
  npuCount: number,
  routes: RouteSet,
  slotPs: Float64Array,
  holders: Int32Array,
  allowed: (route: number) => boolean,
): (turn: number) => Distances {
  const least = slotPs.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const squares = slotPs.map((ps) => Math.max(1, Math.round((64 * ps) / Math.max(least, 1))) ** 2);
  const timePs = shortest(npuCount, routes, slotPs, holders, allowed);
  const sums = shortest(npuCount, routes, squares, holders, allowed);
  const reached = Int32Array.from({ length: npuCount }, (_, npu) => npu).filter(
    (npu) => sums[npu] < Number.POSITIVE_INFINITY,
  );
  return (turn) => {
    const place = (npu: number): number => (npu + 2 * npuCount - holders[0] - 1 - (turn % npuCount)) % npuCount;
    const order = reached.slice().sort((a, b) => sums[a] - sums[b] || place(a) - place(b));
    const rank = new Int32Array(npuCount).fill(-1);
    for (let i = 0; i < order.length; i++) rank[order[i]] = i;
    return { timePs, rank, order };
  };
}

/** Dijkstra's algorithm from several NPUs. */
function shortest(
  npuCount: number,
  { source, target }: RouteSet,
  length: Float64Array,
  from: Int32Array,
  allowed: (route: number) => boolean,
): Float64Array {
  const leaving = groupedOnce(source, npuCount);
  const distance = new Float64Array(npuCount).fill(Number.POSITIVE_INFINITY);
  const done = new Uint8Array(npuCount);
  const queue = heap();
  for (const npu of from) {
    distance[npu] = 0;
    queue.add(0, npu);
  }
  while (queue.size() > 0) {
    const npu = queue.take();
    if (done[npu] === 1) continue;
    done[npu] = 1;
    for (let i = leaving.offset[npu]; i < leaving.offset[npu + 1]; i++) {
      const route = leaving.items[i];
      const way = distance[npu] + length[route];
      if (way >= distance[target[route]] || !allowed(route)) continue;
      distance[target[route]] = way;
      queue.add(way, target[route]);
    }
  }
  return distance;
}

/** One member of the group that a sketch's rotations generate. */
export interface RoutingMap {
  /** [chunks] */
  readonly chunkTo: Int32Array;
  /** [routes] */
  readonly routeTo: Int32Array;
}

/** Chunks that are images of each other are routed alike, so one of each orbit stands for all. */
export interface RoutingSymmetry {
  /** The identity first; no other map leaves a chunk in place, so every orbit has as many chunks as there are maps. */
  readonly maps: readonly RoutingMap[];
  /** Least chunk of each orbit, ascending. */
  readonly representatives: Int32Array;
  /** Rotations that had to be left out, in words. */
  readonly notes: readonly string[];
}

/** So many entries of maps are held at most. */
const MOST_ENTRIES = 2e7;

/**
 * Returns the orbits of chunks under the sketch's rotations (TACCL, appendix B.1, symmetric sends). Chunks follow their holders
 * and targets, the k-th of equal ones onto the k-th, so all-to-all turns both ends. A rotation is left out, with a note, where
 * the collective is not the same after it (a broadcast's root moves) or where it leaves chunks in place, so that their routes
 * would have to be images of each other. O(maps * (chunks + routes)).
 */
export function routingSymmetry(network: SketchNetwork, whole: Collective): RoutingSymmetry {
  const routes = routeCount(network.routes);
  const identity: RoutingMap = { chunkTo: indicesBelow(whole.chunkCount), routeTo: indicesBelow(routes) };
  const notes: string[] = [];
  const generators: RoutingMap[] = [];
  let maps: readonly RoutingMap[] = [identity];
  for (const [i, symmetry] of network.symmetries.entries()) {
    const leaveOut = (why: string): void => {
      const { offset, period } = network.sketch.symmetries[i] ?? { offset: 0, period: 0 };
      notes.push(`symmetry_offsets [${offset}, ${period}] is not used: ${why}`);
    };
    const chunkTo = imagesByName(endsOf(whole, null), endsOf(whole, symmetry.npuTo));
    if (chunkTo === null) {
      leaveOut("it is no symmetry of the collective");
      continue;
    }
    const more = [...generators, { chunkTo, routeTo: symmetry.routeTo }];
    const closed = closure(identity, more, Math.min(whole.chunkCount, MOST_ENTRIES / (whole.chunkCount + routes)));
    if (closed === null) {
      leaveOut("it leaves chunks in place, or takes too much memory");
      continue;
    }
    maps = closed;
    generators.push(more[more.length - 1]);
  }
  const least = indicesBelow(whole.chunkCount);
  for (const { chunkTo } of maps) {
    for (let chunk = 0; chunk < chunkTo.length; chunk++) least[chunkTo[chunk]] = Math.min(least[chunkTo[chunk]], chunk);
  }
  return { maps, representatives: identity.chunkTo.filter((chunk) => least[chunk] === chunk), notes };
}

/** Returns all products of the generators; null where there are more than `most` or one but the identity keeps a chunk. */
function closure(identity: RoutingMap, generators: readonly RoutingMap[], most: number): RoutingMap[] | null {
  const maps = [identity];
  const seen = new Set([keyOf(identity)]);
  for (let i = 0; i < maps.length; i++) {
    for (const { chunkTo, routeTo } of generators) {
      const product = {
        chunkTo: maps[i].chunkTo.map((chunk) => chunkTo[chunk]),
        routeTo: maps[i].routeTo.map((route) => routeTo[route]),
      };
      const key = keyOf(product);
      if (seen.has(key)) continue;
      if (maps.length >= most || product.chunkTo.some((to, chunk) => to === chunk)) return null;
      seen.add(key);
      maps.push(product);
    }
  }
  return maps;
}

const keyOf = ({ chunkTo, routeTo }: RoutingMap): string => `${chunkTo.join()};${routeTo.join()}`;

/** Returns a text for each chunk that tells its holders and targets, each NPU taken to its image. */
function endsOf(whole: Collective, npuTo: Int32Array | null): string[] {
  const known = new Map<string, string>();
  const textOf = (placement: Placement, chunk: number): string => {
    const members = membersOf(whole, placement, chunk);
    if (members.length === 1) return `${npuTo === null ? members[0] : npuTo[members[0]]}`;
    const key = members.join();
    let text = known.get(key);
    if (text === undefined) {
      text = (npuTo === null ? members.slice() : members.map((npu) => npuTo[npu])).sort().join();
      known.set(key, text);
    }
    return text;
  };
  return Array.from(
    { length: whole.chunkCount },
    (_, chunk) => `${textOf(whole.pre, chunk)}>${textOf(whole.post, chunk)}`,
  );
}

/**
 * What chunks cost the links that they pass: `eachPs` for every chunk, `oncePs` for each route that carries any. Sends between
 * boxes may be merged, so there latency counts once (TACCL, section 5.1); its own routing counts alpha for every chunk.
 */
export interface RoutingCosts {
  readonly times: RouteTimes;
  /** [routes] */
  readonly eachPs: Float64Array;
  /** [routes] */
  readonly oncePs: Float64Array;
  /** [route links] part of the link's time that the route takes, 0 to 1. */
  readonly share: Float64Array;
}

/** Returns the costs of chunks of this many bytes. O(route links). */
export function routingCosts(network: SketchNetwork, chunkBytes: Rational): RoutingCosts {
  const { routes, leavesBox } = network;
  const times = routeTimes(network.topology, routes, chunkBytes);
  const count = routeCount(routes);
  const eachPs = new Float64Array(count);
  const oncePs = new Float64Array(count);
  for (let route = 0; route < count; route++) {
    eachPs[route] = leavesBox[route] === 1 ? times.serialPs[route] : times.slotPs[route];
    oncePs[route] = leavesBox[route] === 1 ? times.latencyPs[route] : 0;
  }
  return { times, eachPs, oncePs, share: routes.shareNum.map((num, i) => num / routes.shareDen[i]) };
}

/** Returns the costs where sends may be merged on every route: what no schedule can go below. */
export const mergedCosts = (costs: RoutingCosts): RoutingCosts => ({
  ...costs,
  eachPs: costs.times.serialPs,
  oncePs: costs.times.latencyPs,
});
