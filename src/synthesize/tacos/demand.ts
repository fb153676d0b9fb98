import { type Collective, membersOf } from "../../model/collective/collective.ts";
import { distancesFrom, type Graph, graph, groupedBy } from "../../model/graph/graph.ts";
import { type RouteSet, routeCount } from "../../model/routes/routes.ts";
import { automorphismsOf } from "../../model/symmetry/automorphisms.ts";
import { compareMaps, mapColumns } from "../../model/symmetry/fold.ts";

/** Which NPUs take part in moving a chunk: those that want it; these and the ones on shortest paths to them; all. */
export type RelayMode = "members" | "paths" | "all";

/** What every NPU starts with: NPU v holds chunk[offset[v] .. offset[v + 1]], ascending. */
export interface Holdings {
  readonly offset: Int32Array;
  readonly chunk: Int32Array;
}

/** Returns the precondition NPU by NPU. O(NPUs + holdings). */
export function holdingsOf(collective: Collective, npuCount: number): Holdings {
  const offset = new Int32Array(npuCount + 1);
  for (let c = 0; c < collective.chunkCount; c++) {
    for (const v of membersOf(collective, collective.pre, c)) offset[v + 1]++;
  }
  for (let v = 0; v < npuCount; v++) offset[v + 1] += offset[v];
  const next = offset.slice(0, npuCount);
  const chunk = new Int32Array(offset[npuCount]);
  for (let c = 0; c < collective.chunkCount; c++) {
    for (const v of membersOf(collective, collective.pre, c)) chunk[next[v]++] = c;
  }
  return { offset, chunk };
}

/** Returns whether every NPU wants every chunk. */
export function everyoneWantsAll(collective: Collective, npuCount: number): boolean {
  return collective.post.kind === "group" && collective.groupCount === 1 && collective.groupSize === npuCount;
}

/** Returns one bit per (NPU, chunk) of the postcondition, rows of ceil(chunks / 32) words. */
export function wantedBits(collective: Collective, npuCount: number): Uint32Array {
  const words = (collective.chunkCount + 31) >>> 5;
  const bits = new Uint32Array(npuCount * words);
  for (let c = 0; c < collective.chunkCount; c++) {
    for (const v of membersOf(collective, collective.post, c)) bits[v * words + (c >>> 5)] |= 1 << (c & 31);
  }
  return bits;
}

/** Chunks with the same holders and the same wanters share their analysis. */
function chunkClasses(collective: Collective): Map<string, number[]> {
  const classes = new Map<string, number[]>();
  for (let c = 0; c < collective.chunkCount; c++) {
    const { pre, post } = collective;
    const from = membersOf(collective, pre, c).join();
    const to =
      post.kind === "group"
        ? `g${Math.floor((c * collective.groupCount) / collective.chunkCount)}`
        : membersOf(collective, post, c).join();
    const key = `${from}>${to}`;
    const list = classes.get(key);
    if (list === undefined) classes.set(key, [c]);
    else list.push(c);
  }
  return classes;
}

/** Returns whether every chunk can spread to the NPUs that want it over those NPUs alone. */
export function spreadsAmongMembers(collective: Collective, routes: RouteSet, npuCount: number): boolean {
  const leaving = groupedBy(routes.source, npuCount);
  for (const chunks of chunkClasses(collective).values()) {
    const wanters = new Set(membersOf(collective, collective.post, chunks[0] as number));
    const reached = new Set(membersOf(collective, collective.pre, chunks[0] as number));
    const queue = [...reached];
    for (let i = 0; i < queue.length; i++) {
      const v = queue[i] as number;
      for (let k = leaving.offset[v]; k < leaving.offset[v + 1]; k++) {
        const next = routes.target[leaving.items[k]];
        if (reached.has(next) || !wanters.has(next)) continue;
        reached.add(next);
        queue.push(next);
      }
    }
    for (const v of wanters) if (!reached.has(v)) return false;
  }
  return true;
}

/**
 * Returns the wanted bits with, for each chunk, the NPUs on shortest paths (in slot times) from its holders to those that
 * want it added: so every chunk can travel from NPU to NPU that all take it.
 */
export function wantedWithPaths(
  collective: Collective,
  routes: RouteSet,
  slotPs: Float64Array,
  npuCount: number,
): Uint32Array {
  const bits = wantedBits(collective, npuCount);
  const words = (collective.chunkCount + 31) >>> 5;
  const network = routeGraph(routes, slotPs, npuCount);
  const previous = new Int32Array(npuCount);
  for (const chunks of chunkClasses(collective).values()) {
    const holders = membersOf(collective, collective.pre, chunks[0] as number);
    previous.fill(-1);
    distancesFrom(network, holders, previous);
    const onPath = new Set<number>();
    for (const wanter of membersOf(collective, collective.post, chunks[0] as number)) {
      for (let v = wanter; v >= 0 && !onPath.has(v); v = previous[v] < 0 ? -1 : routes.source[previous[v]])
        onPath.add(v);
    }
    for (const c of chunks) for (const v of onPath) bits[v * words + (c >>> 5)] |= 1 << (c & 31);
  }
  return bits;
}

/** With more lengths of routes there is hardly a symmetry. */
const MOST_LENGTHS = 64;

/** Routes, and, where they are not equal, how long each is occupied. */
interface Routes {
  readonly source: Int32Array;
  readonly target: Int32Array;
  readonly slotPs: Float64Array | null;
}

/**
 * Returns the maps of the network onto itself, as the matching kernels take them, in lexicographic order: then one NPU of each
 * orbit is matched (an eighth of a square mesh, a 48th of a cube), and the others follow. Null where only the identity is found, or NPUs do not
 * hold equally many chunks.
 *
 * Symmetry costs no slots and mends some: where the oldest choice misses the bound, the best of five seeds with and without it
 * needs 655 and 706 slots on a 10x100 mesh (bound 500), 617 and 730 on 4x200 (400), 66 and 89 on a ring of 4 by a line of 30
 * (40), 400 and 406 on a 3x20x20 grid (400); it met every bound that the plain choice met (20x60, 31x33, 9x10x11, 12x12x12).
 */
export function foldingMaps({ source, target, slotPs }: Routes, held: Holdings, npuCount: number): Int32Array | null {
  if (held.offset.some((end, v) => end !== v * held.offset[1])) return null;
  const lengths = slotPs === null ? [] : [...new Set(slotPs)];
  if (lengths.length > MOST_LENGTHS) return null;
  const kind = slotPs === null ? null : Int32Array.from(slotPs, (slot) => lengths.indexOf(slot));
  const maps = automorphismsOf(npuCount, source, target, kind) ?? [];
  return maps.length < 2 ? null : mapColumns([...maps].sort(compareMaps), npuCount);
}

/** Returns the NPUs as a graph whose arcs are the routes, weighted with their slots. */
const routeGraph = (routes: RouteSet, slotPs: Float64Array, npuCount: number): Graph =>
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
