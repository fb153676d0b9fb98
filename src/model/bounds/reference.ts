import type { Collective } from "../collective/collective.ts";
import { graph } from "../graph/graph.ts";
import { add, divide, multiply, type Rational, rational } from "../numbers/rational.ts";
import { PS_PER_SECOND } from "../numbers/units.ts";
import { nodeCount, type Topology } from "../topology/topology.ts";
import { farthestPair } from "./latency.ts";

/**
 * Returns the "ideal" of the TACOS papers in picoseconds: size x 2(N-1)/N over the smallest NPU bandwidth, plus the
 * diameter (TACOS 2024, section V-A); for all-gather and reduce-scatter half the bytes. Null for other collectives and for
 * several process groups, where the papers define none.
 *
 * It is printed for comparison and is not a bound: an optimal all-reduce on a 3x3 mesh takes 0.75 of it. An NPU's bandwidth
 * is the smaller of what its links can send and receive; the diameter is by latency, as in `limitOf`.
 */
export function referencePs(topology: Topology, collective: Collective): Rational | null {
  const { kind, groupSize, groupCount, groupMembers, sizeBytes } = collective;
  const halves = kind === "allreduce" ? 2 : kind === "allgather" || kind === "reducescatter" ? 1 : 0;
  if (halves === 0 || groupCount !== 1) return null;
  if (groupSize < 2) return rational(0);
  const nodes = nodeCount(topology);
  const { linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  const sends = new Float64Array(nodes);
  const receives = new Float64Array(nodes);
  for (let link = 0; link < linkSource.length; link++) {
    sends[linkSource[link]] += linkBytesPerSecond[link];
    receives[linkTarget[link]] += linkBytesPerSecond[link];
  }
  let least = Number.POSITIVE_INFINITY;
  for (const npu of groupMembers) least = Math.min(least, sends[npu], receives[npu]);
  const forward = graph(nodes, linkSource, linkTarget, linkLatencyPs);
  const backward = () => graph(nodes, linkTarget, linkSource, linkLatencyPs);
  const diameter = farthestPair(topology, collective, forward, backward).ps;
  const bytes = multiply(rational(sizeBytes), rational(halves * (groupSize - 1), groupSize));
  const serial = divide(multiply(bytes, rational(PS_PER_SECOND)), rational(least));
  return add(serial, rational(diameter));
}
