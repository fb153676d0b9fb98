import { InfeasibleError } from "../errors.ts";
import type { Collective } from "./collective.ts";
import type { Messages } from "./messages.ts";
import { orderByTime } from "./ordering.ts";
import { type RouteSet, routeTimes } from "./routes.ts";
import { indexColumn, OP_COPY, OP_REDUCE, type StepSchedule } from "./step-schedule.ts";
import { inLinks, linkCount, nodeCount, outLinks, type Topology } from "./topology.ts";

/** Returns hop counts from every node to `target`; -1 where there is no way. Breadth-first, O(nodes + links). */
function hopsTo(topology: Topology, into: ReturnType<typeof inLinks>, target: number): Int32Array {
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

/**
 * Returns the routes of the messages, one per pair of NPUs: fewest hops, at every node on to the lowest node (then lowest
 * link). Other NPUs on the way only forward, as routers do. `routeOf[i]` is the route of message i; where that is one of several
 * equal links between its NPUs, the others follow it, and `alternatives[route]` counts them all (else 1).
 */
function shortestRoutes(
  topology: Topology,
  list: Messages,
): { routes: RouteSet; routeOf: Int32Array; alternatives: readonly number[] } {
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

/** Returns the other links between the same nodes with the same figures. */
function equalLinks(topology: Topology, out: ReturnType<typeof outLinks>, link: number): number[] {
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

/**
 * Returns the schedule of messages issued in order: each starts when its chunk is at its source, everything the source
 * must add to it has arrived, and the links of its way are free (of equal links the first that is); it holds all of them for
 * latency + serialisation (link-busy model). Replays show what a network with store-and-forward makes of it. O(message hops).
 */
export function listSchedule(topology: Topology, collective: Collective, list: Messages): StepSchedule {
  const { routes, routeOf, alternatives } = shortestRoutes(topology, list);
  const { slotPs } = routeTimes(topology, routes, collective.chunkBytes);
  const count = list.chunk.length;
  const linkFree = new Float64Array(linkCount(topology));
  const ready = new Map<number, number>();
  const startPs = new Float64Array(count);
  const freeAt = (route: number): number => linkFree[routes.links[routes.linkOffset[route]]];
  const firstFree = (route: number): number => {
    let best = route;
    for (let other = route + 1; other < route + (alternatives[route] as number); other++) {
      if (freeAt(other) < freeAt(best)) best = other;
    }
    return best;
  };
  for (let i = 0; i < count; i++) {
    const route = firstFree(routeOf[i]);
    routeOf[i] = route;
    let start = ready.get((list.chunk[i] as number) * topology.npuCount + (list.source[i] as number)) ?? 0;
    const end = routes.linkOffset[route + 1];
    for (let k = routes.linkOffset[route]; k < end; k++) start = Math.max(start, linkFree[routes.links[k]]);
    startPs[i] = start;
    const done = start + slotPs[route];
    for (let k = routes.linkOffset[route]; k < end; k++) linkFree[routes.links[k]] = done;
    const key = (list.chunk[i] as number) * topology.npuCount + (list.target[i] as number);
    ready.set(key, Math.max(ready.get(key) ?? 0, done));
  }
  const order = orderByTime(startPs);
  const chunk = indexColumn(count, collective.chunkCount);
  const route = indexColumn(count, routes.source.length);
  const op = new Uint8Array(count);
  const sortedStart = new Float64Array(count);
  const endPs = new Float64Array(count);
  for (let row = 0; row < count; row++) {
    const i = order[row];
    chunk[row] = list.chunk[i] as number;
    route[row] = routeOf[i];
    op[row] = list.reduce[i] ? OP_REDUCE : OP_COPY;
    sortedStart[row] = startPs[i];
    endPs[row] = startPs[i] + slotPs[routeOf[i]];
  }
  return { topology, collective, routes, chunk, route, startPs: sortedStart, endPs, op };
}
