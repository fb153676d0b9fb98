import { InputError } from "../../base/errors.ts";
import { directNetworkOf } from "../../model/comm/network.ts";
import { timesOfLoads } from "../../model/comm/times.ts";
import { arcCount } from "../../model/direct/digraph.ts";
import { type DirectFacts, directFacts } from "../../model/direct/facts.ts";
import { commonValue } from "../../model/graph/graph.ts";
import type { Rational } from "../../model/numbers/rational.ts";
import { unreachablePair } from "../../model/topology/modify.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type Balancer, bfbLoads } from "./broadcast.ts";

/** Searches may visit so many arcs, all nodes together: those of 15,000 nodes with four links each take about a second. */
const MOST_VISITS = 1e9;

/**
 * Returns the facts of the best breadth-first broadcast on a network, shards cut anywhere, without its schedule: T_L, which is
 * the diameter (Zhao 2026, theorem 15), and T_B. Null where there are switches or unequal links, an NPU that another cannot
 * reach, too many hops or links for the kernel, or too much to search. O(NPUs * links), O(links) where translations leave the network as it is.
 */
export async function bfbFacts(
  topology: Topology,
  balance: Balancer,
): Promise<Omit<DirectFacts, "predictedUs"> | null> {
  const bytesPerSecond = commonValue(topology.linkBytesPerSecond);
  const latencyPs = commonValue(topology.linkLatencyPs);
  if (topology.npuCount < 2 || bytesPerSecond === null || latencyPs === null) return null;
  const network = directNetworkOf(topology);
  if (network === null || unreachablePair(topology) !== null) return null;
  const { graph } = network;
  if ((graph.translations === null ? graph.nodes : 1) * arcCount(graph) > MOST_VISITS) return null;
  let loads: Rational[];
  try {
    loads = await bfbLoads(graph, balance);
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
  const times = timesOfLoads(graph, loads);
  const { predictedUs: _ofNothing, ...facts } = directFacts(graph, [times], { bytesPerSecond, latencyPs }, 0);
  return facts;
}
