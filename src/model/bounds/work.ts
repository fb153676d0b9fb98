import type { Collective } from "../collective/collective.ts";
import { distancesFrom, type Graph, graph } from "../graph/graph.ts";
import { bigLcm, commonDivisor } from "../numbers/integers.ts";
import { indicesBelow } from "../numbers/ordering.ts";
import { rational } from "../numbers/rational.ts";
import { PS_PER_SECOND, toGBps } from "../numbers/units.ts";
import type { RouteSet } from "../routes/routes.ts";
import { linkCount, nodeCount, type Topology } from "../topology/topology.ts";
import { capacityOf, smallestTime, transfersBy } from "./capacity.ts";
import type { RouteView } from "./graph.ts";
import { type Best, offerRational, offerWhole } from "./witness.ts";

/** Above this many (sources x arcs) the distance-weighted work is left out. */
const DISTANCE_WORK = 20_000_000;

/**
 * Returns how many chunk deliveries a collective needs over all NPUs, or 0 where distances count instead (custom: 0).
 *
 * All-gather N(N-1) x chunks, broadcast (N-1) x chunks: every NPU but the holder receives the chunk once. All-reduce
 * 2(N-1) per chunk: N-1 transfers must lead every contribution to the NPU that is complete first (a tree into it), and each
 * of the other N-1 NPUs is completed by a transfer that ends later than all of those (the gossip bound for one-way calls).
 */
function deliveries(collective: Collective): number {
  const { kind, groupSize, groupCount, chunksPerNpu } = collective;
  const others = (groupSize - 1) * groupCount * chunksPerNpu;
  if (kind === "allgather") return groupSize * others;
  if (kind === "broadcast") return others;
  return kind === "allreduce" ? 2 * groupSize * others : 0;
}

/** Offers the bounds from total work in whole transfers: all sending, all receiving, and distance for single targets. */
export function tryRouteWork(best: Best, view: RouteView, collective: Collective): void {
  const { routes, topology, pacePs } = view;
  const count = deliveries(collective);
  if (count === 0 && !hasSingleTargets(collective)) return;
  const every = indicesBelow(pacePs.length);
  const sending = capacityOf(view, { route: every, position: routes.linkOffset }, null);
  const lastLinks = every.map((route) => routes.linkOffset[route + 1] - 1);
  const receiving = view.direct ? sending : capacityOf(view, { route: every, position: lastLinks }, null);
  const tryCount = (count: number, demand: string): void => {
    if (count === 0) return;
    for (const capacity of [sending, receiving]) {
      if (transfersBy(capacity, best.wholePs) >= count) continue;
      const time = smallestTime(best.wholePs, (t) => transfersBy(capacity, t) >= count);
      offerWhole(best, time, () => ({ kind: "work", demand, ...usedInAll(topology, used) }));
    }
  };
  const used = usedBy(topology, routes);
  tryCount(count, `${count} transfers`);

  if (!hasSingleTargets(collective)) return;
  const { source, target } = routes;
  const hops = graph(topology.npuCount, source, target, new Float64Array(pacePs.length).fill(1));
  const transfers = totalDistance(collective, hops);
  if (transfers === null) return;
  tryCount(transfers, `${transfers} transfers`);

  // sum over a link's routes of share x pace x transfers is at most T, so all links together carry at most links x T
  const busy = new Float64Array(pacePs.length);
  for (let route = 0; route < busy.length; route++) {
    for (let i = routes.linkOffset[route]; i < routes.linkOffset[route + 1]; i++) {
      const part = pacePs[route] * routes.shareNum[i];
      if (part <= Number.MAX_SAFE_INTEGER) busy[route] += Math.floor(part / routes.shareDen[i]);
    }
  }
  const linkTime = totalDistance(collective, graph(topology.npuCount, source, target, busy));
  if (linkTime === null || linkTime > Number.MAX_SAFE_INTEGER) return;
  const links = used.reduce((a, b) => a + b, 0);
  offerWhole(best, Math.ceil(linkTime / links), () => ({
    kind: "work",
    demand: `${linkTime} ps of link time on ${links} links`,
    ...usedInAll(topology, used),
  }));
}

/** Offers the bounds from total work in bytes over bandwidth, of collectives whose chunks each go to one NPU. */
export function tryByteWork(best: Best, topology: Topology, collective: Collective): void {
  const { chunkBytes } = collective;
  const { linkSource, linkTarget, linkBytesPerSecond } = topology;
  if (!hasSingleTargets(collective)) return;
  // each chunk crosses links whose weights sum to its distance at least: sum of distances <= T x sum of weight x bandwidth
  const links = linkBytesPerSecond.length;
  const fastest = linkBytesPerSecond.reduce((a, b) => Math.max(a, b), 1);
  const even = new Float64Array(links).fill(1);
  const byTime = linkBytesPerSecond.map((b) => Math.round((fastest / b) * 1_000_000));
  const exact = exactWeights(linkBytesPerSecond);
  for (const weight of exact === null ? [even, byTime] : [even, exact]) {
    const distance = totalDistance(collective, graph(nodeCount(topology), linkSource, linkTarget, weight));
    if (distance === null || distance > Number.MAX_SAFE_INTEGER) return;
    let capacity = 0n;
    for (let l = 0; l < links; l++) capacity += BigInt(linkBytesPerSecond[l]) * BigInt(weight[l]);
    const bytes = BigInt(distance) * chunkBytes.num * BigInt(PS_PER_SECOND);
    offerRational(best, rational(bytes, chunkBytes.den * capacity), () => ({
      kind: "work",
      demand: `${distance} weighted chunk hops`,
      totalGBps: totalGBps(topology, new Uint8Array(links).fill(1)),
      lengths: Array.from(weight),
    }));
  }
}

/** Returns integer weights proportional to 1 / bandwidth, or null when they would exceed 1e9. */
function exactWeights(bandwidth: Float64Array): Float64Array | null {
  let multiple = 1n;
  for (const b of new Set(bandwidth)) {
    multiple = bigLcm(multiple, BigInt(b));
    if (multiple > 1n << 80n) return null;
  }
  const weight = bandwidth.map((b) => Number(multiple / BigInt(b)));
  const least = commonDivisor(weight);
  const reduced = weight.map((w) => w / least);
  return reduced.every((w) => w <= 1e9) ? reduced : null;
}

const hasSingleTargets = (c: Collective): boolean => c.kind === "alltoall" || c.kind === "scatter";

/** Returns the sum over chunks of the distance from source to target; null when that is too much work. */
function totalDistance(collective: Collective, g: Graph): number | null {
  const { groupCount, groupSize, groupMembers, rootRank, chunksPerNpu, kind } = collective;
  const sources = kind === "scatter" ? groupCount : groupMembers.length;
  if (sources * (g.head.length + g.nodes) > DISTANCE_WORK) return null;
  let sum = 0;
  for (let group = 0; group < groupCount; group++) {
    const members = groupMembers.subarray(group * groupSize, (group + 1) * groupSize);
    for (let rank = 0; rank < groupSize; rank++) {
      if (kind === "scatter" && rank !== rootRank) continue;
      const distance = distancesFrom(g, [members[rank]]);
      for (const v of members) sum += distance[v];
    }
  }
  return sum * chunksPerNpu;
}

/** Returns, by link, 1 where a route uses it. */
export function usedBy(topology: Topology, { links }: RouteSet): Uint8Array {
  const used = new Uint8Array(linkCount(topology));
  for (let i = 0; i < links.length; i++) used[links[i]] = 1;
  return used;
}

/** Returns the bandwidth of the links that routes use (marked), and of all where that is more. */
export function usedInAll(topology: Topology, used: Uint8Array): { totalGBps: number; networkGBps?: number } {
  const own = totalGBps(topology, used);
  const isAll = used.every((one, link) => one === 1 || topology.linkBytesPerSecond[link] === 0);
  if (isAll) return { totalGBps: own };
  return { totalGBps: own, networkGBps: totalGBps(topology, new Uint8Array(used.length).fill(1)) };
}

const totalGBps = (topology: Topology, used: Uint8Array): number =>
  topology.linkBytesPerSecond.reduce((sum, b, l) => sum + used[l] * toGBps(b), 0);
