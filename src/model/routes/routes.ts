import { ceil, divide, multiply, type Rational, rational } from "../numbers/rational.ts";
import { PS_PER_SECOND } from "../numbers/units.ts";
import type { Topology } from "../topology/topology.ts";

/**
 * Routes: NPU -> (nodes that only forward) -> NPU over physical links, with a share (rational, in (0, 1]) of each link.
 * A direct link is a route with share 1. Columns; route r uses links[linkOffset[r] .. linkOffset[r + 1]] in order.
 */
export interface RouteSet {
  /** [routes] NPU the route starts at. */
  readonly source: Int32Array;
  /** [routes] NPU it ends at. */
  readonly target: Int32Array;
  /** [routes + 1] */
  readonly linkOffset: Int32Array;
  /** [route links] */
  readonly links: Int32Array;
  /** [route links] share of that link = shareNum / shareDen, exact integers. */
  readonly shareNum: Float64Array;
  readonly shareDen: Float64Array;
}

/** For what has no routes: nothing to send, tree flows. */
export const NO_ROUTES: RouteSet = {
  source: new Int32Array(0),
  target: new Int32Array(0),
  linkOffset: new Int32Array(1),
  links: new Int32Array(0),
  shareNum: new Float64Array(0),
  shareDen: new Float64Array(0),
};

/** Returns routes that have all of each of their links. */
export function wholeRoutes(
  source: ArrayLike<number>,
  target: ArrayLike<number>,
  linkOffset: ArrayLike<number>,
  links: ArrayLike<number>,
): RouteSet {
  const ones = new Float64Array(links.length).fill(1);
  return {
    source: Int32Array.from(source),
    target: Int32Array.from(target),
    linkOffset: Int32Array.from(linkOffset),
    links: Int32Array.from(links),
    shareNum: ones,
    shareDen: ones,
  };
}

export const routeCount = (routes: RouteSet): number => routes.source.length;

/** Returns the time that `bytes` occupy a share of a link, in picoseconds, exactly. */
export function serializationPs(bytes: Rational, bytesPerSecond: number, shareNum = 1, shareDen = 1): Rational {
  const perSecond = rational(BigInt(bytesPerSecond) * BigInt(shareNum), BigInt(shareDen));
  return divide(multiply(bytes, rational(PS_PER_SECOND)), perSecond);
}

/** So many of the first classes of equal links are found by comparing, which is faster than making a key of text. */
const COMPARED_CLASSES = 8;

/** Returns a function that rounds `serializationPs` up, working it out once per bandwidth and share. */
function roundedSerialization(bytes: Rational): (bytesPerSecond: number, num: number, den: number) => number {
  const compared: { readonly bytesPerSecond: number; readonly num: number; readonly den: number; ps: number }[] = [];
  const others = new Map<string, number>();
  return (bytesPerSecond, num, den) => {
    for (let i = 0; i < compared.length; i++) {
      const known = compared[i];
      if (known.bytesPerSecond === bytesPerSecond && known.num === num && known.den === den) return known.ps;
    }
    const key = `${bytesPerSecond}:${num}:${den}`;
    let ps = others.get(key);
    if (ps === undefined) {
      ps = Number(ceil(serializationPs(bytes, bytesPerSecond, num, den)));
      if (compared.length < COMPARED_CLASSES) compared.push({ bytesPerSecond, num, den, ps });
      else others.set(key, ps);
    }
    return ps;
  };
}

/** Serialisation of a chunk at each route's bottleneck, and the latencies on its way: exact integers in picoseconds. */
export interface RouteTimes {
  /** [routes] the bottleneck's serialisation, rounded up. */
  readonly serialPs: Float64Array;
  /** [routes] sum of the latencies of the route's links. */
  readonly latencyPs: Float64Array;
  /** [routes] latency + serialisation: how long a transfer occupies its route in the link-busy model (TACOS's TEN edge). */
  readonly slotPs: Float64Array;
}

/** Returns the times of one chunk of `chunkBytes` on every route. Computed once per class of equal links. O(route links). */
export function routeTimes(topology: Topology, routes: RouteSet, chunkBytes: Rational): RouteTimes {
  const count = routeCount(routes);
  const serialPs = new Float64Array(count);
  const latencyPs = new Float64Array(count);
  const slotPs = new Float64Array(count);
  const { linkOffset, links, shareNum, shareDen } = routes;
  const { linkLatencyPs, linkBytesPerSecond } = topology;
  const ceilPs = roundedSerialization(chunkBytes);
  for (let route = 0; route < count; route++) {
    let serial = 0;
    let latency = 0;
    for (let i = linkOffset[route]; i < linkOffset[route + 1]; i++) {
      const link = links[i];
      latency += linkLatencyPs[link];
      const ps = ceilPs(linkBytesPerSecond[link], shareNum[i], shareDen[i]);
      if (ps > serial) serial = ps;
    }
    serialPs[route] = serial;
    latencyPs[route] = latency;
    slotPs[route] = serial + latency;
  }
  return { serialPs, latencyPs, slotPs };
}

/**
 * Returns the routes turned around: route ids, links and shares stay; the order of the links is reversed. Shares the columns
 * that stay as they are.
 */
export function reversedRoutes(routes: RouteSet): RouteSet {
  if (routes.links.length === routeCount(routes)) return { ...routes, source: routes.target, target: routes.source };
  const links = new Int32Array(routes.links.length);
  const shareNum = new Float64Array(links.length);
  const shareDen = new Float64Array(links.length);
  for (let route = 0; route < routeCount(routes); route++) {
    const from = routes.linkOffset[route];
    const to = routes.linkOffset[route + 1];
    for (let i = from; i < to; i++) {
      const j = to - 1 - (i - from);
      links[j] = routes.links[i];
      shareNum[j] = routes.shareNum[i];
      shareDen[j] = routes.shareDen[i];
    }
  }
  return { source: routes.target, target: routes.source, linkOffset: routes.linkOffset, links, shareNum, shareDen };
}

/** Returns the route's links as a view. */
export function linksOfRoute(routes: RouteSet, route: number): Int32Array {
  return routes.links.subarray(routes.linkOffset[route], routes.linkOffset[route + 1]);
}
