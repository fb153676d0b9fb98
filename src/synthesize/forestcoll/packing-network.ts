import type { PackedTrees } from "../../engine/contract/kernels.ts";
import { nodeCount, type Topology } from "../../model/topology/topology.ts";
import type { Forest } from "../../model/trees/tree-flow.ts";

/** A network as the kernels of trees see it: members first, everything else only forwards. */
export interface PackingNetwork {
  readonly nodeCount: number;
  /** Members: nodes 0 .. npuCount - 1, in rank order. */
  readonly npuCount: number;
  /** [links kept] ends in these numbers; turned around for trees of the reversed network. */
  readonly linkSource: Int32Array;
  readonly linkTarget: Int32Array;
  /** [links kept] bytes per second, exact integers >= 1. */
  readonly bandwidth: Float64Array;
  /** [links kept] their numbers in the topology, ascending. */
  readonly link: Int32Array;
  /** [nodes] their numbers in the topology. */
  readonly node: Int32Array;
}

/**
 * Returns the network for trees that span `members` [in rank order]: links with nothing usable are left out; "in": every link
 * is turned around. O(nodes + links).
 */
export function packingNetwork(
  topology: Topology,
  members: Int32Array,
  usable: Float64Array,
  direction: "out" | "in",
): PackingNetwork {
  const nodes = nodeCount(topology);
  const number = new Int32Array(nodes).fill(-1);
  const node = new Int32Array(nodes);
  let next = 0;
  const give = (v: number): void => {
    number[v] = next;
    node[next++] = v;
  };
  members.forEach(give);
  for (let v = 0; v < nodes; v++) if (number[v] < 0) give(v);
  const kept = usable.reduce((count, bandwidth) => count + (bandwidth > 0 ? 1 : 0), 0);
  const link = new Int32Array(kept);
  for (let e = 0, i = 0; e < usable.length; e++) if (usable[e] > 0) link[i++] = e;
  const { linkSource, linkTarget } = topology;
  const [from, to] = direction === "out" ? [linkSource, linkTarget] : [linkTarget, linkSource];
  return {
    nodeCount: nodes,
    npuCount: members.length,
    linkSource: link.map((e) => number[from[e]]),
    linkTarget: link.map((e) => number[to[e]]),
    bandwidth: Float64Array.from(link, (e) => usable[e]),
    link,
    node,
  };
}

/** Returns packed trees in the numbers of the topology. */
export function forestFrom(
  { link }: PackingNetwork,
  { root, copies, linkOffset, links }: PackedTrees,
  direction: "out" | "in",
  copyBytesPerSecond: Forest["copyBytesPerSecond"],
  members: Int32Array,
): Forest {
  return {
    direction,
    root: root.map((rank) => members[rank]),
    copies,
    linkOffset,
    links: links.map((i) => link[i]),
    copyBytesPerSecond,
  };
}

/** Returns how many NPUs have copies of trees rooted at them. */
export const rootCount = (copies: Float64Array): number => copies.reduce((count, own) => count + (own > 0 ? 1 : 0), 0);
