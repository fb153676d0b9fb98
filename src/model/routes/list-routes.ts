import { InfeasibleError } from "../../base/errors.ts";
import { groupedBy } from "../graph/graph.ts";
import type { Messages } from "../messages/messages.ts";
import { addTo, indicesBelow } from "../numbers/ordering.ts";
import { inLinks, nodeCount, outLinks, type Topology } from "../topology/topology.ts";
import { type RouteSet, wholeRoutes } from "./routes.ts";

/** The routes of messages: `routeOf[i]` is that of message i. */
export interface MessageRoutes {
  readonly routes: RouteSet;
  readonly routeOf: Int32Array;
  /** [routes] where a route is the first of several equal links between its NPUs, or of ways around one, which follow it: how many; else 1. */
  readonly alternatives: readonly number[];
}

/**
 * Returns the routes of the messages, one per pair of NPUs: fewest hops, at every node on to the lowest node (then lowest
 * link). Other NPUs on the way only forward, as routers do. Throws InfeasibleError for NPUs that cannot be reached.
 * O(messages + targets x links).
 */
export function shortestRoutes(topology: Topology, list: Messages): MessageRoutes {
  const twins = equalLinks(topology);
  const byPair = pairTable(topology.npuCount, list.count);
  const ways = waysTowards(topology);
  const source: number[] = [];
  const target: number[] = [];
  const linkOffset = [0];
  const links: number[] = [];
  const alternatives: number[] = [];

  const addRoute = (from: number, to: number): number => {
    let next = ways.get(to);
    if (next === undefined) {
      next = linksTowards(topology, to);
      ways.set(to, next);
    }
    if (next[from] < 0) throw unreached(topology, from, to);
    for (let node = from; node !== to; node = topology.linkTarget[next[node]]) links.push(next[node]);
    const route = source.length;
    const equal = topology.linkTarget[next[from]] === to ? (twins.get(next[from]) ?? []) : [];
    links.push(...equal);
    for (let k = 0; k <= equal.length; k++) {
      source.push(from);
      target.push(to);
      linkOffset.push(links.length - equal.length + k);
      alternatives.push(equal.length + 1);
    }
    return route;
  };

  const routeOf = new Int32Array(list.count);
  for (let i = 0; i < list.count; i++) {
    const [from, to] = [list.source[i], list.target[i]];
    const pair = from * topology.npuCount + to;
    if (byPair.at(pair) < 0) byPair.set(pair, addRoute(from, to));
    routeOf[i] = byPair.at(pair);
  }
  return { routes: wholeRoutes(source, target, linkOffset, links), routeOf, alternatives };
}

/** Numbers of pairs of NPUs, -1 where there is none: a table where that is small or has a place for each message, else hashed. */
function pairTable(npuCount: number, messages: number) {
  const pairs = npuCount * npuCount;
  if (pairs <= Math.max(FEW_PAIRS, messages)) {
    const table = new Int32Array(pairs).fill(-1);
    return {
      at: (pair: number): number => table[pair],
      set: (pair: number, number: number): void => {
        table[pair] = number;
      },
    };
  }
  const hashed = new Map<number, number>();
  return {
    at: (pair: number): number => hashed.get(pair) ?? -1,
    set: (pair: number, number: number): void => void hashed.set(pair, number),
  };
}

/** Ways towards all NPUs of a network are kept while these are so few numbers. */
const MOST_KEPT = 2 ** 22;
const kept = new WeakMap<Topology, Map<number, Int32Array>>();

/** Returns the ways towards targets that are known of a network, to which more may be added. */
function waysTowards(topology: Topology): Map<number, Int32Array> {
  const known = kept.get(topology) ?? new Map<number, Int32Array>();
  if (topology.npuCount * nodeCount(topology) <= MOST_KEPT) kept.set(topology, known);
  return known;
}

/** Pairs of NPUs for which a table costs nothing to speak of. */
const FEW_PAIRS = 2 ** 16;

/** Passes over all pairs; few change after the second. */
const PASSES = 4;

/**
 * Returns routes, one per pair of NPUs, that load links evenly: from the `given` ones on (shortestRoutes), in some passes, each
 * pair takes the way on which links pay least for it, a link that is busy so long paying the seventh power of that. Ways have at
 * most `detour` hops more than the fewest. O(messages + passes x (targets x links + (1 + detour) x the links of all such ways)).
 */
export function evenRoutes(topology: Topology, { routes, routeOf }: MessageRoutes, detour = 0): MessageRoutes {
  const { linkBytesPerSecond } = topology;
  const messages = new Float64Array(routes.source.length);
  for (const route of routeOf) messages[route]++;
  const slowest = linkBytesPerSecond.reduce((least, rate) => Math.min(least, rate), Number.POSITIVE_INFINITY);
  const cost = linkBytesPerSecond.map((rate) => slowest / rate);
  const busy = new Float64Array(cost.length);
  const ways: Int32Array[] = Array.from(messages, (_, r) =>
    routes.links.slice(routes.linkOffset[r], routes.linkOffset[r + 1]),
  );
  const load = (route: number, times: 1 | -1): void => {
    for (const link of ways[route] as Int32Array) busy[link] += times * messages[route] * cost[link];
  };
  const used = indicesBelow(messages.length).filter((route) => messages[route] > 0);
  for (const route of used) load(route, 1);
  const byTarget = groupedBy(
    used.map((route) => routes.target[route]),
    topology.npuCount,
  );
  const out = outLinks(topology);
  const scale = 1 / busy.reduce((most, value) => Math.max(most, value), 1);
  let changes = 1;
  for (let pass = 0; pass < PASSES && changes > 0; pass++) {
    changes = 0;
    for (let to = 0; to < topology.npuCount; to++) {
      if (byTarget.offset[to] === byTarget.offset[to + 1]) continue;
      const hops = hopsTo(topology, to);
      for (let k = byTarget.offset[to]; k < byTarget.offset[to + 1]; k++) {
        const route = used[byTarget.items[k]];
        load(route, -1);
        const priceOf = (link: number): number => seventh((busy[link] + messages[route] * cost[link]) * scale);
        const before = (ways[route] as Int32Array).reduce((sum, link) => sum + priceOf(link), 0);
        const most = before * (1 - LEAST_GAIN);
        const way = cheapestWay(topology, routes.source[route], { to, hops, detour, out, priceOf, most });
        if (way !== null) {
          ways[route] = way;
          changes++;
        }
        load(route, 1);
      }
    }
  }
  const linkOffset = new Int32Array(ways.length + 1);
  ways.forEach((way, r) => {
    linkOffset[r + 1] = linkOffset[r] + way.length;
  });
  const links = new Int32Array(linkOffset[ways.length]);
  for (const [r, way] of ways.entries()) links.set(way, linkOffset[r]);
  const even = wholeRoutes(routes.source, routes.target, linkOffset, links);
  return { routes: even, routeOf, alternatives: new Array<number>(ways.length).fill(1) };
}

/** By products, which are the same on every engine; powers are not. */
const seventh = (x: number): number => {
  const cube = x * x * x;
  return cube * cube * x;
};

/** A way must be cheaper by more than rounding errors. */
const LEAST_GAIN = 1e-9;

/** What a cheapest way is looked for by. */
interface WaySearch {
  readonly to: number;
  /** [nodes] links to `to`. */
  readonly hops: Int32Array;
  /** So many more hops than the fewest a way may have. */
  readonly detour: number;
  readonly out: ReturnType<typeof outLinks>;
  /** Above 0. */
  readonly priceOf: (link: number) => number;
  /** Ways must be cheaper. */
  readonly most: number;
}

/** Returns the links of the cheapest way of few hops from a node, of equal ones the first; null where none is cheap enough. */
function cheapestWay(
  { linkTarget, linkSource }: Topology,
  from: number,
  { to, hops, detour, out: { offset, links }, priceOf, most }: WaySearch,
): Int32Array | null {
  /** By number of hops: the last link of the cheapest way of so many to each node. */
  const via: Map<number, number>[] = [new Map()];
  let best = most;
  let length = 0;
  const price = new Map<number, number>();
  let layer = new Map([[from, 0]]);
  for (let left = hops[from] + detour; left > 0 && layer.size > 0; left--) {
    const next = new Map<number, number>();
    const last = new Map<number, number>();
    for (const [node, paid] of layer) {
      for (let k = offset[node]; k < offset[node + 1]; k++) {
        const node2 = linkTarget[links[k]];
        if (hops[node2] < 0 || hops[node2] >= left) continue;
        const reach = paid + priceOf(links[k]);
        if (reach >= best || reach >= (price.get(node2) ?? Number.POSITIVE_INFINITY)) continue;
        price.set(node2, reach);
        next.set(node2, reach);
        last.set(node2, links[k]);
      }
    }
    via.push(last);
    const paid = next.get(to);
    if (paid !== undefined) [best, length] = [paid, via.length - 1];
    layer = next;
  }
  if (length === 0) return null;
  const way = new Int32Array(length);
  for (let i = length, node = to; i > 0; i--) {
    way[i - 1] = (via[i] as Map<number, number>).get(node) as number;
    node = linkSource[way[i - 1]];
  }
  return way;
}

/**
 * Returns the route of several (`alternatives`) whose first link is free first, of those that are free at once the first.
 * `linkFree`: [links].
 */
export function firstFreeRoute({ routes, alternatives }: MessageRoutes, first: number, linkFree: Float64Array): number {
  const freeAt = (route: number): number => linkFree[routes.links[routes.linkOffset[route]]];
  let best = first;
  for (let other = first + 1; other < first + (alternatives[first] as number); other++) {
    if (freeAt(other) < freeAt(best)) best = other;
  }
  return best;
}

const unreached = ({ nodeNames }: Topology, from: number, to: number): InfeasibleError =>
  new InfeasibleError(`NPU ${nodeNames[from]} cannot reach NPU ${nodeNames[to]}`, { from, to });

/** Returns [nodes] how many links are to be taken to `target`; -1 where there is no way. O(nodes + links). */
function hopsTo(topology: Topology, target: number): Int32Array<ArrayBuffer> {
  const into = inLinks(topology);
  const hops = new Int32Array(nodeCount(topology)).fill(-1);
  hops[target] = 0;
  const queue = [target];
  for (let i = 0; i < queue.length; i++) {
    const node = queue[i] as number;
    for (let k = into.offset[node]; k < into.offset[node + 1]; k++) {
      const previous = topology.linkSource[into.links[k]];
      if (hops[previous] >= 0) continue;
      hops[previous] = hops[node] + 1;
      queue.push(previous);
    }
  }
  return hops;
}

/** Returns for each node the link to take towards `target`; -1 where there is no way, and at the target. O(nodes + links). */
function linksTowards(topology: Topology, target: number): Int32Array {
  const { linkSource, linkTarget } = topology;
  const hops = hopsTo(topology, target);
  const next = new Int32Array(hops.length).fill(-1);
  for (let link = 0; link < linkSource.length; link++) {
    const [from, to] = [linkSource[link], linkTarget[link]];
    if (hops[to] < 0 || hops[from] !== hops[to] + 1) continue;
    const known = next[from];
    if (known < 0 || to < linkTarget[known]) next[from] = link;
  }
  return next;
}

/**
 * Returns the greatest latency of a way of the fewest hops between members, picoseconds. Throws InfeasibleError for NPUs that cannot be
 * reached. O(members x links).
 */
export function longestShortestPs(topology: Topology, members: Int32Array): number {
  const { linkTarget, linkLatencyPs } = topology;
  const out = outLinks(topology);
  const wayPs = new Float64Array(nodeCount(topology));
  let latencyPs = 0;
  for (const target of members) {
    const hops = hopsTo(topology, target);
    wayPs.fill(0);
    for (const node of fromNearest(hops)) {
      for (let k = out.offset[node]; k < out.offset[node + 1]; k++) {
        const link = out.links[k];
        const next = linkTarget[link];
        if (hops[next] >= 0 && hops[next] === hops[node] - 1)
          wayPs[node] = Math.max(wayPs[node], wayPs[next] + linkLatencyPs[link]);
      }
    }
    for (const member of members) {
      if (hops[member] < 0) throw unreached(topology, member, target);
      latencyPs = Math.max(latencyPs, wayPs[member]);
    }
  }
  return latencyPs;
}

/** Returns the nodes from which there is a way, those with fewer hops first. O(nodes). */
function fromNearest(hops: Int32Array): Int32Array {
  const { offset, items } = groupedBy(
    hops.map((count) => count + 1),
    hops.reduce((most, count) => Math.max(most, count + 2), 2),
  );
  return items.subarray(offset[1]);
}

/** Returns, for the first of several links with the same ends and figures, the others. O(links). */
function equalLinks({
  linkSource,
  linkTarget,
  linkBytesPerSecond,
  linkLatencyPs,
  nodeNames,
}: Topology): Map<number, number[]> {
  const others = new Map<number, number[]>();
  const between = new Map<number, number>();
  for (let link = 0; link < linkSource.length; link++) {
    const ends = linkSource[link] * nodeNames.length + linkTarget[link];
    const first = between.get(ends);
    if (first === undefined) {
      between.set(ends, link);
    } else if (linkBytesPerSecond[first] === linkBytesPerSecond[link] && linkLatencyPs[first] === linkLatencyPs[link]) {
      addTo(others, first, link);
    }
  }
  return others;
}
