import type { Collective } from "../collective/collective.ts";
import type { LineAlgorithm, NetworkDimension } from "../dimensions/dimensions.ts";
import { graph } from "../graph/graph.ts";
import { compare, type Rational, rational } from "../numbers/rational.ts";
import { PS_PER_SECOND, toGBps } from "../numbers/units.ts";
import type { PhaseSchedule } from "../phases/phase-schedule.ts";
import { nodeCount, type Topology } from "../topology/topology.ts";
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
import { farthestPair } from "./latency.ts";
import { fixedPartitions, tryBytePartition } from "./partition.ts";
import { cutWitness } from "./route-cuts.ts";
import { crossingBandwidth, markSet, portsOf, sidesOf } from "./sides.ts";
import { asBound, type Bound, nothingYet, noWay, offerRational } from "./witness.ts";
import { tryByteWork } from "./work.ts";

/** Returns the limit of a collective that is not a pure reduction, `sets` among the cuts; see `limitOf`. */
export function forwardLimit(topology: Topology, collective: Collective, sets: readonly Int32Array[]): Bound {
  const best = nothingYet();
  const { linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs, npuCount } = topology;
  const nodes = nodeCount(topology);
  const forward = graph(nodes, linkSource, linkTarget, linkLatencyPs);
  const backward = () => graph(nodes, linkTarget, linkSource, linkLatencyPs);
  const far = farthestPair(topology, collective, forward, backward);
  if (far.ps > 0) offerRational(best, rational(far.ps), () => ({ kind: "latency", from: far.from, to: far.to }));

  const { chunkBytes } = collective;
  const ps = (chunks: number, bytesPerSecond: bigint): Rational =>
    rational(BigInt(chunks) * chunkBytes.num * BigInt(PS_PER_SECOND), chunkBytes.den * bytesPerSecond);
  const sides = sidesOf(topology);
  const ports = portsOf(topology);
  const demands = demandOf(collective, npuCount);
  const extraCost = demandCost(collective);
  const budget: Budget = { left: BUDGET };
  const degree = 1 + (2 * linkSource.length) / nodes;
  const context = { view: { topology }, ports, sides };
  // the largest chunks / bandwidth so far: a double to skip most sets, the exact comparison follows
  const top = { ratio: 0, chunks: 0, bandwidth: 1 };
  const mayRaise = (chunks: number, bandwidth: number): boolean =>
    chunks > 0 && chunks / bandwidth >= top.ratio * (1 - 1e-9) && !(chunks <= top.chunks && bandwidth >= top.bandwidth);
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
      offerRational(best, ps(chunks, BigInt(bandwidth)), () =>
        cutWitness(context, set, direction, bytesText(chunks, chunkBytes)),
      );
    }
  };
  const ofNpu = npuBandwidths(topology);
  const named = collective.kind !== "custom";
  const needs = npuDemands(collective, npuCount);
  visitSets(topology, null, budget, {
    visit: (set, _, again) => {
      if (!again) trySet(set);
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
  tryByteWork(best, topology, collective, ps);
  const partitions = collective.kind === "allreduce" ? fixedPartitions(topology) : [];
  for (const partition of partitions) tryBytePartition(best, topology, collective, partition, ps);
  return asBound(best);
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

/** Returns the bytes of so many chunks as "1.0066 GB". */
const bytesText = (chunks: number, chunkBytes: Rational): string =>
  roundedBytes(Number((BigInt(chunks) * chunkBytes.num) / chunkBytes.den));

/** Returns a number of bytes as "1.0066 GB". */
export function roundedBytes(bytes: number): string {
  const [scale, unit] =
    bytes >= 1e9 ? [1e9, "GB"] : bytes >= 1e6 ? [1e6, "MB"] : bytes >= 1e3 ? [1e3, "KB"] : [1, "bytes"];
  return `${Number((bytes / scale).toPrecision(5))} ${unit}`;
}

/** Up to so many dimensions all sets of them are tried; beyond, the slowest first, by prefixes. */
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
    best = { ps, witness: { kind: "work", demand, totalGBps: toGBps(Number(rate)) } };
  }
  return best;
}
