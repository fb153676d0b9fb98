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
  const byPair = new Map<number, number>();
  const ways = new Map<number, Int32Array>();
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
    let route = byPair.get(pair);
    if (route === undefined) {
      route = addRoute(from, to);
      byPair.set(pair, route);
    }
    routeOf[i] = route;
  }
  return { routes: wholeRoutes(source, target, linkOffset, links), routeOf, alternatives };
}

/** Passes over all pairs; few change after the second. */
const PASSES = 4;

/**
 * Returns routes of as few hops as the `shortest` (shortestRoutes), one per pair of NPUs, that load links evenly: from those on, in
 * some passes, each pair takes the way on which links pay least for it, a link that is busy so long paying the seventh power of
 * that. O(messages + passes x (targets x links + the links of all shortest ways)).
 */
export function evenRoutes(topology: Topology, { routes, routeOf }: MessageRoutes): MessageRoutes {
  const { linkTarget, linkSource, linkBytesPerSecond } = topology;
  const messages = new Float64Array(routes.source.length);
  for (const route of routeOf) messages[route]++;
  const slowest = linkBytesPerSecond.reduce((least, rate) => Math.min(least, rate), Number.POSITIVE_INFINITY);
  const cost = linkBytesPerSecond.map((rate) => slowest / rate);
  const busy = new Float64Array(cost.length);
  const ways = Array.from(messages, (_, r) => routes.links.slice(routes.linkOffset[r], routes.linkOffset[r + 1]));
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
        const { via, price } = cheapestWay(routes.source[route], hops, out, linkTarget, priceOf);
        if ((price.get(to) as number) < before * (1 - LEAST_GAIN)) {
          const way: number[] = [];
          for (let node = to; node !== routes.source[route]; node = linkSource[way.at(-1) as number])
            way.push(via.get(node) as number);
          ways[route] = Int32Array.from(way.reverse());
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

/** Returns, for the nodes on shortest ways from a node, what the cheapest way costs and its last link, the first of equal ones. */
function cheapestWay(
  from: number,
  hops: Int32Array,
  { offset, links }: ReturnType<typeof outLinks>,
  linkTarget: Int32Array,
  priceOf: (link: number) => number,
): { readonly via: Map<number, number>; readonly price: Map<number, number> } {
  const via = new Map<number, number>();
  const price = new Map<number, number>([[from, 0]]);
  for (let layer = [from]; layer.length > 0; ) {
    const next: number[] = [];
    for (const node of layer) {
      for (let k = offset[node]; k < offset[node + 1]; k++) {
        const to = linkTarget[links[k]];
        if (hops[to] !== hops[node] - 1) continue;
        const reach = (price.get(node) as number) + priceOf(links[k]);
        const known = price.get(to);
        if (known === undefined) next.push(to);
        if (known !== undefined && known <= reach) continue;
        price.set(to, reach);
        via.set(to, links[k]);
      }
    }
    layer = next;
  }
  return { via, price };
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
