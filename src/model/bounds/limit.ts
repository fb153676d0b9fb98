import type { Collective } from "../collective/collective.ts";
import { graph } from "../graph/graph.ts";
import { type Rational, rational } from "../numbers/rational.ts";
import { PS_PER_SECOND } from "../numbers/units.ts";
import { nodeCount, type Topology } from "../topology/topology.ts";
import { asBound, nothingYet, offerRational } from "./best.ts";
import { demandCost, demandOf, npuDemands } from "./demand.ts";
import { BUDGET, type Budget, visitSets } from "./families.ts";
import { noWay } from "./infeasible.ts";
import { farthestPair } from "./latency.ts";
import { fixedPartitions, tryBytePartition } from "./partition.ts";
import { cutWitness } from "./route-cuts.ts";
import { crossingBandwidth, markSet, portsOf, sidesOf } from "./sides.ts";
import { bordersOf, leastBorders, prefixDemands, steepest } from "./slabs.ts";
import type { Bound } from "./witness.ts";
import { tryByteWork } from "./work.ts";
import { worstCuts } from "./worst-cuts.ts";

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
