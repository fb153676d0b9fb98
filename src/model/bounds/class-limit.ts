import type { Collective } from "../collective/collective.ts";
import { compare, type Rational, toNumber } from "../numbers/rational.ts";
import { BYTES_PER_GB, PS_PER_SECOND } from "../numbers/units.ts";
import { type RouteSet, type RouteTimes, routeCount, routeTimes } from "../routes/routes.ts";
import { isActive, type Topology } from "../topology/topology.ts";
import { mergedBoundOf } from "./bounds.ts";
import type { Bound } from "./witness.ts";

/** Schedules for which more is proved than for any algorithm: what they have in common. */
export type ScheduleClass = "whole chunks" | "forwarding switches" | "sums at one NPU" | "phases";

/** What the schedules of a class have in common, in words. */
export const CLASS_TEXT: Readonly<Record<ScheduleClass, string>> = {
  "whole chunks": "whole chunks over these routes",
  "forwarding switches": "switches that only forward",
  "sums at one NPU": "each byte summed at one NPU",
  phases: "one dimension after the other",
};

/** A limit, in the network model, for schedules that have something in common. */
export interface ClassLimit extends Bound {
  readonly of: ScheduleClass;
  /** What a limit of whole chunks is above, on a network whose switches can do more than forward: that of switches that do not. */
  readonly forwarding?: Bound;
  /** Of whole chunks: how much sooner what crosses would be over if the routes used all the links there, where they do not. */
  readonly unusedPs?: number;
}

/**
 * Returns the limit of schedules that send these whole chunks over these routes, in the network model: what serialises
 * occupies a route, latencies do not. `stores`: each link of a route passes a chunk on when it has all of it.
 *
 * `mergedBoundOf` proves it: its count, that by T a route ends no more than floor((T - latency) / serialisation) chunks, asks
 * of messages only what holds of chunks here. A chunk holds its route, at the route's shares, from its start for its
 * serialisation and ends the latency later; moved by its latency, that is an interval before its end, as there.
 * Throws InfeasibleError. Costs as `boundOf`.
 */
export function wholeChunksLimit(
  topology: Topology,
  collective: Collective,
  routes: RouteSet,
  stores: boolean,
): ClassLimit {
  const times = networkTimes(stores)(topology, routes, collective.chunkBytes);
  return wholeChunks(mergedBoundOf(topology, collective, routes, times), collective.chunkBytes);
}

/** Returns a bound of whole chunks over routes as the limit of their class; `chunkBytes`: null where chunks differ in size. */
export function wholeChunks(bound: Bound, chunkBytes: Rational | null): ClassLimit {
  const { ps, witness } = bound;
  const isCut = witness.kind === "cut" || witness.kind === "tail";
  const [used, all] = isCut
    ? [witness.usedGBps, witness.entryGBps]
    : witness.kind === "work" && witness.networkGBps !== undefined
      ? [witness.totalGBps, witness.networkGBps]
      : [];
  if (used === undefined || all === undefined) return { ...bound, of: "whole chunks" };
  const bytes =
    isCut && chunkBytes !== null && witness.chunks !== undefined ? witness.chunks * toNumber(chunkBytes) : null;
  const busyPs = bytes === null ? toNumber(ps) : (bytes / (used * BYTES_PER_GB)) * PS_PER_SECOND;
  return { ...bound, of: "whole chunks", unusedPs: busyPs * (1 - used / all) };
}

/** Returns what gives the times of a chunk on routes in the network model. */
export const networkTimes = (stores: boolean): typeof routeTimes => (stores ? storedTimes : routeTimes);

/**
 * Returns the times of a chunk on routes whose links store it before they forward it: it takes the sum of what its links take,
 * each at all of its bandwidth. A link of the route is held for its own serialisation, that of the fastest at least; so n chunks
 * over any one of its links end no sooner than the whole way of one and n - 1 times that.
 */
function storedTimes(topology: Topology, routes: RouteSet, chunkBytes: Rational): RouteTimes {
  const { linkOffset, links } = routes;
  const ofLink = routeTimes(topology, oneLinkRoutes(topology), chunkBytes);
  const count = routeCount(routes);
  const times = {
    serialPs: new Float64Array(count),
    latencyPs: new Float64Array(count),
    slotPs: new Float64Array(count),
  };
  for (let route = 0; route < count; route++) {
    let least = Number.POSITIVE_INFINITY;
    let sum = 0;
    for (let i = linkOffset[route]; i < linkOffset[route + 1]; i++) {
      least = Math.min(least, ofLink.serialPs[links[i]]);
      sum += ofLink.slotPs[links[i]];
    }
    times.serialPs[route] = least;
    times.latencyPs[route] = sum - least;
    times.slotPs[route] = sum;
  }
  return times;
}

/** Returns a route of one link for each link of a network, by link. */
function oneLinkRoutes({ linkSource, linkTarget }: Topology): RouteSet {
  const count = linkSource.length;
  const each = Int32Array.from({ length: count + 1 }, (_, i) => i);
  const ones = new Float64Array(count).fill(1);
  return {
    source: linkSource,
    target: linkTarget,
    linkOffset: each,
    links: each.subarray(0, count),
    shareNum: ones,
    shareDen: ones,
  };
}

/** Networks with switches that only forward, of which as much is remembered as of networks that are given. */
const FORWARDING = new WeakMap<Topology, Topology>();

/**
 * Returns the limit of schedules whose switches neither copy nor sum, on a network that has switches that can; null on others.
 * `limitFor`: the limit for any algorithm.
 */
export function limitOfForwarding(
  topology: Topology,
  collective: Collective,
  limitFor: (topology: Topology, collective: Collective) => Bound,
): ClassLimit | null {
  if (!topology.nodeTraits.some(isActive)) return null;
  let forwarding = FORWARDING.get(topology);
  if (forwarding === undefined) {
    const nodeTraits = topology.nodeTraits.map(({ multicast: _, aggregation: __, ...traits }) => traits);
    forwarding = { ...topology, nodeTraits };
    FORWARDING.set(topology, forwarding);
  }
  return { ...limitFor(forwarding, collective), of: "forwarding switches" };
}

/** Returns the limit of whole chunks with that of forwarding switches, or the latter where it is greater. */
export function withForwarding(chunks: ClassLimit, forwarding: ClassLimit | null): ClassLimit {
  if (forwarding === null) return chunks;
  return compare(forwarding.ps, chunks.ps) >= 0 ? forwarding : { ...chunks, forwarding };
}

/** Returns the greatest of limits, the first among equals; null where there is none. */
export function greatestOf(limits: readonly (ClassLimit | null)[]): ClassLimit | null {
  let best: ClassLimit | null = null;
  for (const one of limits) if (one !== null && (best === null || compare(one.ps, best.ps) > 0)) best = one;
  return best;
}
