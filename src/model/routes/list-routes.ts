import { InfeasibleError } from "../../base/errors.ts";
import type { Messages } from "../messages/messages.ts";
import { addTo } from "../numbers/ordering.ts";
import { inLinks, nodeCount, type Topology } from "../topology/topology.ts";
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
    if (next[from] < 0) {
      throw new InfeasibleError(`NPU ${topology.nodeNames[from]} cannot reach NPU ${topology.nodeNames[to]}`, {
        from,
        to,
      });
    }
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

/** Returns for each node the link to take towards `target`; -1 where there is no way, and at the target. O(nodes + links). */
function linksTowards(topology: Topology, target: number): Int32Array {
  const { linkSource, linkTarget } = topology;
  const into = inLinks(topology);
  const hops = new Int32Array(nodeCount(topology)).fill(-1);
  const next = new Int32Array(nodeCount(topology)).fill(-1);
  hops[target] = 0;
  const queue = [target];
  for (let i = 0; i < queue.length; i++) {
    const node = queue[i] as number;
    for (let k = into.offset[node]; k < into.offset[node + 1]; k++) {
      const link = into.links[k];
      const previous = linkSource[link];
      if (hops[previous] < 0) {
        hops[previous] = hops[node] + 1;
        queue.push(previous);
      }
      if (hops[previous] !== hops[node] + 1) continue;
      const known = next[previous];
      const better = known < 0 || node < linkTarget[known] || (node === linkTarget[known] && link < known);
      if (better) next[previous] = link;
    }
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
