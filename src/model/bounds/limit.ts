import type { Collective } from "../collective/collective.ts";
import type { LineAlgorithm, NetworkDimension } from "../dimensions/dimensions.ts";
import { graph } from "../graph/graph.ts";
import { indicesBelow } from "../numbers/ordering.ts";
import { compare, divide, format, multiply, type Rational, rational } from "../numbers/rational.ts";
import { PS_PER_SECOND, toGBps } from "../numbers/units.ts";
import type { PhaseSchedule } from "../phases/phase-schedule.ts";
import { nodeCount, type Topology } from "../topology/topology.ts";
import { gainsFromPartitions, type Raisable, tryPartition } from "./byte-partition.ts";
import {
  BUDGET,
  type Budget,
  bordersOf,
  leastBorders,
  prefixDemands,
  steepest,
  visitSets,
  worstCuts,
} from "./cut-sets.ts";
import { demandCost, demandOf, npuDemands } from "./demand.ts";
import { lagsOf, lagWitness, leastTime, twoParts } from "./lag.ts";
import { farthestPair } from "./latency.ts";
import { fixedPartitions, partitionsInto } from "./partition.ts";
import { cutWitness } from "./route-cuts.ts";
import { crossingBandwidth, markSet, portsOf, sidesOf } from "./sides.ts";
import { asBound, type Best, type Bound, nothingYet, noWay, offerRational, type Witness } from "./witness.ts";
import { tryByteWork } from "./work.ts";

/** What was found elsewhere, to be tried besides what the model finds itself. */
export interface Found {
  /** Nodes of cuts. */
  readonly cuts?: readonly Int32Array[];
  /** [NPUs] the part of each, numbered from 0. */
  readonly partitions?: readonly Int32Array[];
}

/** In networks of so few links sets are looked at that are half as narrow as the narrowest: latencies may make up for that. */
const FEW_LINKS = 1024;
/** So many of the narrowest cuts and partitions are looked at with latencies. */
const FEW = 8;

/** Returns the limit of a collective that is not a pure reduction; see `limitOf`. */
export function forwardLimit(topology: Topology, collective: Collective, found: Found): Bound {
  const best = nothingYet();
  const { linkSource, linkTarget, linkLatencyPs } = topology;
  const nodes = nodeCount(topology);
  const forward = graph(nodes, linkSource, linkTarget, linkLatencyPs);
  const backward = () => graph(nodes, linkTarget, linkSource, linkLatencyPs);
  const far = farthestPair(topology, collective, forward, backward);
  if (far.ps > 0) offerRational(best, rational(far.ps), () => ({ kind: "latency", from: far.from, to: far.to }));

  const raisable: Raisable[] = [];
  const pockets = tryCuts(best, topology, collective, found.cuts ?? [], raisable);
  tryByteWork(best, topology, collective);
  if (gainsFromPartitions(topology, collective)) {
    const ofNodes = [...fixedPartitions(topology), ...partitionsInto(topology, pockets)];
    const candidates = [
      indicesBelow(topology.npuCount),
      ...ofNodes.map(({ part }) => part.subarray(0, topology.npuCount)),
      ...(found.partitions ?? []),
    ];
    for (const part of candidates) {
      const parts = part.reduce((most, own) => Math.max(most, own), 0) + 1;
      raisable.push(...tryPartition(best, topology, collective, { part, parts }));
    }
  }
  if (linkLatencyPs.some((ps) => ps > 0)) {
    const most = linkSource.length <= FEW_LINKS ? raisable.length : FEW;
    raisable.sort((a, b) => compare(b.ps, a.ps));
    for (const { raise } of raisable.slice(0, most)) raise(best);
  }
  return asBound(best);
}

/** Offers what the cuts prove; returns the sets that are joined by faster links than those around them. */
function tryCuts(
  best: Best,
  topology: Topology,
  collective: Collective,
  sets: readonly Int32Array[],
  raisable: Raisable[],
): Int32Array[] {
  const { linkSource, linkTarget, linkBytesPerSecond, npuCount } = topology;
  const nodes = nodeCount(topology);
  const sides = sidesOf(topology);
  const ports = portsOf(topology);
  const demands = demandOf(collective, npuCount);
  const extraCost = demandCost(collective);
  const budget: Budget = { left: BUDGET };
  const degree = 1 + (2 * linkSource.length) / nodes;
  // the largest chunks / bandwidth so far: a double to skip most sets, the exact comparison follows
  const top = { ratio: 0, chunks: 0, bandwidth: 1 };
  const isSmall = linkSource.length <= FEW_LINKS;
  const enough = isSmall ? 0.5 : 1 - 1e-9;
  const mayRaise = (chunks: number, bandwidth: number): boolean =>
    chunks > 0 &&
    chunks / bandwidth >= top.ratio * enough &&
    (isSmall || !(chunks <= top.chunks && bandwidth >= top.bandwidth));
  const trySet = (set: Int32Array): void => {
    const { into, outOf } = demands(set);
    budget.left -= set.length * degree + extraCost;
    markSet(sides, set);
    const width = crossingBandwidth(topology, ports, sides, set);
    for (const direction of ["in", "out"] as const) {
      const chunks = direction === "in" ? into : outOf;
      const bandwidth = direction === "in" ? width.into : width.outOf;
      if (chunks === 0) continue;
      if (bandwidth === 0) throw noWay(topology, set, direction, chunks);
      if (!mayRaise(chunks, bandwidth)) continue;
      if (chunks / bandwidth > top.ratio) Object.assign(top, { ratio: chunks / bandwidth, chunks, bandwidth });
      const cut = cutOf(topology, collective, set, direction, chunks, bandwidth);
      offerRational(best, cut.ps, cut.witness);
      raisable.push(cut);
    }
  };
  const ofNpu = npuBandwidths(topology);
  const named = collective.kind !== "custom";
  const needs = npuDemands(collective, npuCount);
  const pockets: Int32Array[] = [];
  visitSets(topology, null, budget, {
    visit: (set, pocket, again) => {
      if (pocket) pockets.push(set);
      if (!again) trySet(set.slice());
    },
    worthTrying: (npu) => {
      if (!named) return true;
      budget.left -= 2;
      return mayRaise(needs.into[npu], ofNpu.into[npu]) || mayRaise(needs.outOf[npu], ofNpu.outOf[npu]);
    },
    prefixes: (dimension) => {
      if (!named || nodes > npuCount) return null;
      const borders = bordersOf(dimension, linkSource, linkTarget, linkBytesPerSecond);
      return steepest(prefixDemands(collective, dimension), () => borders, mayRaise);
    },
    prefixFilter: (dimension) => {
      if (!named) return () => true;
      const demand = prefixDemands(collective, dimension);
      const least = leastBorders(dimension, topology, ports);
      return (p) => mayRaise(demand.into[p], least.into[p]) || mayRaise(demand.outOf[p], least.outOf[p]);
    },
  });
  for (const set of [...worstCuts(topology, collective), ...sets]) trySet(set);
  return pockets;
}

/** Returns what a cut proves by its bandwidth, and what raises it where latencies count. */
function cutOf(
  topology: Topology,
  { chunkBytes }: Collective,
  set: Int32Array,
  direction: "in" | "out",
  chunks: number,
  bandwidth: number,
): Raisable & { readonly witness: () => Witness } {
  const bytes = multiply(chunkBytes, rational(chunks));
  const sides = sidesOf(topology);
  const ports = portsOf(topology);
  const witness = (): Witness => {
    markSet(sides, set);
    const context = { view: { topology }, ports, sides };
    // the same whatever the chunks
    return { ...cutWitness(context, set, direction, bytesText(chunks, chunkBytes)), bytes: format(bytes) };
  };
  const raise = (best: Best): void => {
    markSet(sides, set);
    const { offset, items } = direction === "in" ? ports.entering : ports.leaving;
    const beyond = direction === "in" ? topology.linkSource : topology.linkTarget;
    const lags = lagsOf(topology, twoParts(topology, set), (visit) => {
      for (const node of set) {
        for (let i = offset[node]; i < offset[node + 1]; i++) {
          if (sides.stamp[beyond[items[i]]] !== sides.current) visit(items[i], direction === "in" ? 0 : 1);
        }
      }
    });
    const time = leastTime(bytes, lags);
    if (time !== null) offerRational(best, time, () => ({ ...witness(), ...lagWitness(lags) }) as Witness);
  };
  return { ps: divide(multiply(bytes, rational(PS_PER_SECOND)), rational(bandwidth)), witness, raise };
}

/** Returns the bandwidth, bytes per second, of all links that enter and that leave each NPU. */
function npuBandwidths({ npuCount, linkSource, linkTarget, linkBytesPerSecond }: Topology) {
  const into = new Float64Array(npuCount);
  const outOf = new Float64Array(npuCount);
  for (let link = 0; link < linkSource.length; link++) {
    if (linkTarget[link] < npuCount) into[linkTarget[link]] += linkBytesPerSecond[link];
    if (linkSource[link] < npuCount) outOf[linkSource[link]] += linkBytesPerSecond[link];
  }
  return { into, outOf };
}

/** Returns the bytes of this many chunks as "1.0066 GB". */
const bytesText = (chunks: number, chunkBytes: Rational): string =>
  roundedBytes(Number((BigInt(chunks) * chunkBytes.num) / chunkBytes.den));

/** Returns a number of bytes as "1.0066 GB". */
export function roundedBytes(bytes: number): string {
  const [scale, unit] =
    bytes >= 1e9 ? [1e9, "GB"] : bytes >= 1e6 ? [1e6, "MB"] : bytes >= 1e3 ? [1e3, "KB"] : [1, "bytes"];
  return `${Number((bytes / scale).toPrecision(5))} ${unit}`;
}

/** Up to this many dimensions all sets of them are tried; beyond, the slowest first, by prefixes. */
const MOST_DIMENSIONS = 12;

/** Returns the sets of dimensions whose loads are looked at. */
function setsOf(dimensions: readonly NetworkDimension[]): readonly (readonly number[])[] {
  const all = dimensions.map((_, d) => d);
  if (all.length <= MOST_DIMENSIONS) {
    return Array.from({ length: 2 ** all.length - 1 }, (_, i) => all.filter((d) => ((i + 1) >> d) & 1));
  }
  const slowest = all.sort((a, b) => dimensions[a].bytesPerSecond - dimensions[b].bytesPerSecond);
  return slowest.map((_, i) => slowest.slice(0, i + 1));
}

/** Returns how often a set of dimensions is passed by data that its bandwidth is shared by. */
function passes({ kind }: Collective, algorithm: LineAlgorithm): number {
  // where switches sum, reduce-scatters go up and all-gathers down
  return kind === "allreduce" && algorithm !== "offload" ? 2 : 1;
}

/**
 * Returns a proved lower bound on the time of any schedule of phases over these dimensions, whatever the orders of its chunks.
 * Over a set of dimensions with lines of P1, P2, ... NPUs, an NPU sends least of a chunk where the chunk takes the others
 * first: then (P1 P2 ... - 1) / N of it, once for the reduce-scatters and once for the all-gathers. So much for every chunk
 * through the set's bandwidths together, for the worst set. The fractional optimum over mixtures of orders is that of all
 * sets (loads form the base of a supermodular function). Exact. O(2^dimensions), at most 4,096 sets.
 */
export function phasesBound({
  collective,
  dimensions,
  algorithms,
}: Pick<PhaseSchedule, "collective" | "dimensions" | "algorithms">): Bound {
  const { chunkBytes, chunksPerNpu } = collective;
  let best: Bound = { ps: rational(0), witness: { kind: "nothing" } };
  const product = (set: readonly number[]): bigint => set.reduce((all, d) => all * BigInt(dimensions[d].size), 1n);
  for (const set of setsOf(dimensions)) {
    const twice = set.filter((d) => passes(collective, algorithms[d]) === 2);
    const blocks = product(set) - 1n + product(twice) - 1n;
    const bytes = rational(blocks * chunkBytes.num * BigInt(chunksPerNpu), chunkBytes.den);
    const rate = set.reduce((sum, d) => sum + BigInt(dimensions[d].bytesPerSecond), 0n);
    const ps: Rational = rational(bytes.num * BigInt(PS_PER_SECOND), bytes.den * rate);
    if (compare(ps, best.ps) <= 0) continue;
    const where = `${set.length === 1 ? "dimension" : "dimensions"} ${set.join(", ")}`;
    const demand = `${roundedBytes(Number(bytes.num / bytes.den))} that each NPU sends over ${where}`;
    best = { ps, witness: { kind: "work", demand, totalGBps: toGBps(Number(rate)), dimensions: set } };
  }
  return best;
}
