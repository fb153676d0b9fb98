import { commonDivisor } from "../../model/numbers/integers.ts";
import { oppositeLinks } from "../../model/topology/opposite-links.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { packingNetwork } from "./packing-network.ts";

/**
 * A network as the linear program of all-reduce sees it: members of the group are nodes 0 .. memberCount - 1, in the order
 * of their ranks; the others (switches, outsiders) only forward. Links without usable bandwidth are left out.
 */
export interface AllReduceNetwork {
  readonly nodeCount: number;
  readonly memberCount: number;
  /** [nodes] node of the topology. */
  readonly node: Int32Array;
  /** [links] link of the topology, ascending. */
  readonly link: Int32Array;
  /** [links] */
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** [links] in units: exact integers >= 1 without a common divisor. */
  readonly bandwidth: Float64Array;
  /** Bytes per second in one unit. */
  readonly unit: number;
  /** [links] a link of equal bandwidth the other way, each of another; null where some link has none. */
  readonly opposite: Int32Array | null;
}

/**
 * Returns the network of a group. `usable` [links] is what may be used of each link, in bytes per second: exact integers.
 * O(nodes + links log links).
 */
export function allReduceNetwork(topology: Topology, members: Int32Array, usable: Float64Array): AllReduceNetwork {
  const network = packingNetwork(topology, members, usable, "out");
  const { nodeCount, npuCount: memberCount, linkSource: source, linkTarget: target, node, link } = network;
  const unit = commonDivisor(network.bandwidth) || 1;
  const bandwidth = network.bandwidth.map((b) => b / unit);
  const opposite = oppositeLinks(source, target, [bandwidth]);
  return { nodeCount, memberCount, node, link, source, target, bandwidth, unit, opposite };
}

/** Returns the network with every link turned around; links keep their numbers. */
export const reversedNetwork = (network: AllReduceNetwork): AllReduceNetwork => ({
  ...network,
  source: network.target,
  target: network.source,
});

/** Returns the first node that only forwards and has more capacity in than out or the reverse; null: none. O(links). */
export function unbalancedNode(network: AllReduceNetwork, capacity: Float64Array): number | null {
  const surplus = new Float64Array(network.nodeCount);
  for (let l = 0; l < capacity.length; l++) {
    surplus[network.source[l]] -= capacity[l];
    surplus[network.target[l]] += capacity[l];
  }
  for (let v = network.memberCount; v < network.nodeCount; v++) if (surplus[v] !== 0) return v;
  return null;
}
