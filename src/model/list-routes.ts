import { InfeasibleError } from "../errors.ts";
import type { Messages } from "./messages.ts";
import type { RouteSet } from "./routes.ts";
import { type Adjacency, inLinks, nodeCount, outLinks, type Topology } from "./topology.ts";

/** The routes of messages: `routeOf[i]` is that of message i. */
export interface MessageRoutes {
  readonly routes: RouteSet;
  readonly routeOf: Int32Array;
  /** [routes] where a route is the first of several equal links between its NPUs, the others follow it: how many; else 1. */
  readonly alternatives: readonly number[];
}

/**
 * Returns the routes of the messages, one per pair of NPUs: fewest hops, at every node on to the lowest node (then lowest
 * link). Other NPUs on the way only forward, as routers do. Throws InfeasibleError for NPUs that cannot be reached.
 * O(messages + targets x links).
 */
export function shortestRoutes(topology: Topology, list: Messages): MessageRoutes {
  const out = outLinks(topology);
  const into = inLinks(topology);
  const byPair = new Map<number, number>();
  const distances = new Map<number, Int32Array>();
  const source: number[] = [];
  const target: number[] = [];
  const linkOffset = [0];
  const links: number[] = [];
  const alternatives: number[] = [];
  const routeOf = Int32Array.from(list.chunk, (_, i) => {
    const from = list.source[i] as number;
    const to = list.target[i] as number;
    const pair = from * topology.npuCount + to;
    const known = byPair.get(pair);
    if (known !== undefined) return known;
    let hops = distances.get(to);
    if (hops === undefined) {
      hops = hopsTo(topology, into, to);
      distances.set(to, hops);
    }
    if (hops[from] < 0) {
      throw new InfeasibleError(`NPU ${topology.nodeNames[from]} cannot reach NPU ${topology.nodeNames[to]}`, {
        from,
        to,
      });
    }
    for (let node = from; node !== to; ) {
      let best = -1;
      for (let k = out.offset[node]; k < out.offset[node + 1]; k++) {
        const next = topology.linkTarget[out.links[k]];
        if (hops[next] !== hops[node] - 1) continue;
        if (best < 0 || next < topology.linkTarget[best]) best = out.links[k];
      }
      links.push(best);
      node = topology.linkTarget[best];
    }
    const route = source.length;
    byPair.set(pair, route);
    const equal = hops[from] === 1 ? equalLinks(topology, out, links[links.length - 1] as number) : [];
    links.push(...equal);
    for (let k = 0; k <= equal.length; k++) {
      source.push(from);
      target.push(to);
      linkOffset.push(links.length - equal.length + k);
      alternatives.push(equal.length + 1);
    }
    return route;
  });
  const whole = new Float64Array(links.length).fill(1);
  const routes = {
    source: Int32Array.from(source),
    target: Int32Array.from(target),
    linkOffset: Int32Array.from(linkOffset),
    links: Int32Array.from(links),
    shareNum: whole,
    shareDen: whole,
  };
  return { routes, routeOf, alternatives };
}

/** Returns hop counts from every node to `target`; -1 where there is no way. Breadth-first, O(nodes + links). */
function hopsTo(topology: Topology, into: Adjacency, target: number): Int32Array {
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

/** Returns the other links between the same nodes with the same figures. */
function equalLinks(topology: Topology, out: Adjacency, link: number): number[] {
  const { linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  const from = linkSource[link];
  return [...out.links.subarray(out.offset[from], out.offset[from + 1])].filter(
    (other) =>
      other !== link &&
      linkTarget[other] === linkTarget[link] &&
      linkBytesPerSecond[other] === linkBytesPerSecond[link] &&
      linkLatencyPs[other] === linkLatencyPs[link],
  );
}
