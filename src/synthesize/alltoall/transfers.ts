import { divide, rational } from "../../model/numbers/rational.ts";
import { type RouteSet, routeCount } from "../../model/routes/routes.ts";
import { portRouteCount, routesOf } from "../../model/routes/routing.ts";
import { isNpu, switchCount, type Topology } from "../../model/topology/topology.ts";
import type { Paths } from "./paths.ts";

/** Above so many routes through switches, only those that paths take are listed. */
const MOST_PORT_ROUTES = 65_536;

/** What moves: the hops of all messages, one message after the other, each in the order of its path. */
export interface Hops {
  readonly routes: RouteSet;
  /** [transfers] message */
  readonly message: Int32Array;
  /** [transfers] */
  readonly route: Int32Array;
}

/**
 * Returns paths as transfers from NPU to NPU over routes: all links where there are no switches, else the routes of `ports`
 * (model/routes/routing.ts) and those that paths take beside them, each with the full rate of its bottleneck. O(path links).
 */
export function hopsOf(topology: Topology, paths: Paths): Hops {
  const { linkTarget } = topology;
  const direct = switchCount(topology) === 0;
  const known = direct || portRouteCount(topology) <= MOST_PORT_ROUTES ? routesOf(topology, "ports") : null;
  const numberOf = new Map<string, number>();
  const added: number[][] = [];
  for (let r = 0; !direct && known !== null && r < routeCount(known); r++) {
    numberOf.set(known.links.subarray(known.linkOffset[r], known.linkOffset[r + 1]).join(), r);
  }
  const first = known === null ? 0 : routeCount(known);
  const routeOf = (links: number[]): number => {
    if (direct) return links[0] as number;
    const name = links.join();
    let route = numberOf.get(name);
    if (route === undefined) {
      route = first + added.length;
      numberOf.set(name, route);
      added.push(links);
    }
    return route;
  };
  const message: number[] = [];
  const route: number[] = [];
  for (const [m, path] of paths.entries()) {
    let hop: number[] = [];
    for (const link of path) {
      hop.push(link);
      if (!isNpu(topology, linkTarget[link])) continue;
      message.push(m);
      route.push(routeOf(hop));
      hop = [];
    }
  }
  const more = withFullRates(topology, added);
  const routes = known === null ? more : added.length === 0 ? known : joined(known, more);
  return { routes, message: Int32Array.from(message), route: Int32Array.from(route) };
}

/** Returns ways as routes that may each take all that their narrowest link carries. */
function withFullRates({ linkSource, linkTarget, linkBytesPerSecond }: Topology, ways: readonly number[][]): RouteSet {
  const links = Int32Array.from(ways.flat());
  const shareNum = new Float64Array(links.length);
  const shareDen = new Float64Array(links.length);
  const linkOffset = new Int32Array(ways.length + 1);
  for (const [r, way] of ways.entries()) {
    const rate = way.reduce((least, link) => Math.min(least, linkBytesPerSecond[link]), Number.POSITIVE_INFINITY);
    for (const [i, link] of way.entries()) {
      const share = divide(rational(rate), rational(linkBytesPerSecond[link]));
      shareNum[linkOffset[r] + i] = Number(share.num);
      shareDen[linkOffset[r] + i] = Number(share.den);
    }
    linkOffset[r + 1] = linkOffset[r] + way.length;
  }
  return {
    source: Int32Array.from(ways, (way) => linkSource[way[0] as number]),
    target: Int32Array.from(ways, (way) => linkTarget[way.at(-1) as number]),
    linkOffset,
    links,
    shareNum,
    shareDen,
  };
}

function joined(a: RouteSet, b: RouteSet): RouteSet {
  const ints = (x: Int32Array, y: Int32Array): Int32Array => {
    const both = new Int32Array(x.length + y.length);
    both.set(x);
    both.set(y, x.length);
    return both;
  };
  const doubles = (x: Float64Array, y: Float64Array): Float64Array => {
    const both = new Float64Array(x.length + y.length);
    both.set(x);
    both.set(y, x.length);
    return both;
  };
  const ends = b.linkOffset.subarray(1).map((end) => end + a.links.length);
  return {
    source: ints(a.source, b.source),
    target: ints(a.target, b.target),
    linkOffset: ints(a.linkOffset, ends),
    links: ints(a.links, b.links),
    shareNum: doubles(a.shareNum, b.shareNum),
    shareDen: doubles(a.shareDen, b.shareDen),
  };
}
