import { flowSolver } from "../../model/graph/flow.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import type { PackingNetwork } from "./packing.ts";

/** Cuts that too little leaves, and capacities that what only forwards can pass on. */

type Ends = Pick<PackingNetwork, "nodeCount" | "npuCount" | "linkSource" | "linkTarget">;

/** Flow values are rounded to this many parts of the total. */
const PARTS = 2 ** 44;
/** Cuts that lack less than this part of the total are left: it is below what the solver tolerates. */
const SLACK = 1e-10;

/** Returns node sets [nodes] that lack a member and from which less leaves than their roots broadcast. */
export type CutSearch = (shares: Float64Array, capacity: Float64Array) => Uint8Array[];

/**
 * Returns a search for violated cuts: `shares` [members] and `capacity` [links] are doubles >= 0 in any one unit. One maximum
 * flow from all roots into each sink; where it is too small, both the smallest and the largest minimum cut are returned.
 *
 * Sinks that are cut off already are tried all the same: without them, a 16 x 16 mesh of unequal links takes 53 rounds and
 * 52 s instead of 18 and 13 s.
 */
export function cutSearch(network: Ends, sinks: Iterable<number>): CutSearch {
  const { nodeCount, npuCount, linkSource, linkTarget } = network;
  const links = linkSource.length;
  const tail = new Int32Array(npuCount + links).fill(nodeCount);
  const head = Int32Array.from({ length: npuCount + links }, (_, v) => v);
  tail.set(linkSource, npuCount);
  head.set(linkTarget, npuCount);
  const solve = flowSolver({ nodes: nodeCount + 1, tail, head });
  const leaving = groupedBy(tail, nodeCount + 1);
  const entering = groupedBy(head, nodeCount + 1);
  const integer = new Float64Array(tail.length);

  /** Returns the nodes that the roots still reach in the residual network. */
  const sourceSide = (flow: Float64Array): Uint8Array => {
    const inside = new Uint8Array(nodeCount + 1);
    const queue = [nodeCount];
    inside[nodeCount] = 1;
    for (const v of queue) {
      const visit = (node: number): void => {
        if (inside[node] === 1) return;
        inside[node] = 1;
        queue.push(node);
      };
      for (let i = leaving.offset[v]; i < leaving.offset[v + 1]; i++) {
        const arc = leaving.items[i];
        if (flow[arc] < integer[arc]) visit(head[arc]);
      }
      for (let i = entering.offset[v]; i < entering.offset[v + 1]; i++) {
        const arc = entering.items[i];
        if (flow[arc] > 0) visit(tail[arc]);
      }
    }
    return inside.subarray(0, nodeCount);
  };

  return (shares, capacity) => {
    const scale = PARTS / shares.reduce((sum, share) => sum + share, 0);
    if (!Number.isFinite(scale)) return [];
    for (let v = 0; v < npuCount; v++) integer[v] = Math.round(shares[v] * scale);
    // beyond all shares together, capacity is of no use
    for (let l = 0; l < links; l++) integer[npuCount + l] = Math.min(2 * PARTS, Math.round(capacity[l] * scale));
    let total = 0;
    for (let v = 0; v < npuCount; v++) total += integer[v];
    const cuts: Uint8Array[] = [];
    for (const sink of sinks) {
      const { value, sinkSide, flow } = solve(integer, nodeCount, sink);
      if (value >= total * (1 - SLACK)) continue;
      const largest = sinkSide.subarray(0, nodeCount).map((bit) => 1 - bit);
      const smallest = sourceSide(flow);
      cuts.push(largest);
      if (smallest.some((bit, v) => bit !== largest[v])) cuts.push(smallest);
    }
    return cuts;
  };
}

/** Returns the first node that only forwards and has more capacity in than out or the reverse; null: none. O(links). */
export function unbalancedNode(network: Ends, capacity: Float64Array): number | null {
  const surplus = new Float64Array(network.nodeCount);
  for (let l = 0; l < capacity.length; l++) {
    surplus[network.linkSource[l]] -= capacity[l];
    surplus[network.linkTarget[l]] += capacity[l];
  }
  for (let v = network.npuCount; v < network.nodeCount; v++) if (surplus[v] !== 0) return v;
  return null;
}

/** Returns capacities, none greater than before, that are balanced at forwarding nodes: a maximum flow through those. */
export function balancedCapacity(network: Ends, capacity: Float64Array): Float64Array {
  if (unbalancedNode(network, capacity) === null) return capacity;
  const { nodeCount, npuCount, linkSource, linkTarget } = network;
  const through = Int32Array.from(linkSource.keys()).filter(
    (l) => linkSource[l] >= npuCount || linkTarget[l] >= npuCount,
  );
  const [from, to] = [nodeCount, nodeCount + 1];
  const solve = flowSolver({
    nodes: nodeCount + 2,
    tail: through.map((l) => (linkSource[l] < npuCount ? from : linkSource[l])),
    head: through.map((l) => (linkTarget[l] < npuCount ? to : linkTarget[l])),
  });
  const { flow } = solve(
    Float64Array.from(through, (l) => capacity[l]),
    from,
    to,
  );
  const result = capacity.slice();
  through.forEach((l, i) => {
    result[l] = flow[i];
  });
  return result;
}
