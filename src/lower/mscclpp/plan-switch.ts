import { inLinks, isNpu, outLinks, type Topology } from "../../model/topology/topology.ts";
import { expandTrees } from "../../model/trees/tree-expansion.ts";
import type { TreeFlow } from "../../model/trees/tree-flow.ts";
import { trafficSaved } from "../../model/trees/tree-multicast.ts";

/**
 * Returns how many of the data's equal chunks each rank loads and stores through the switch, [ranks]: in proportion to the
 * copies of the trees that are rooted there. Null where a switch cannot do what the trees do: where it must duplicate
 * (all-gather, broadcast, all-reduce), sum (all-reduce), and be linked to every rank both ways, and where that saves nothing.
 * O(links of all edges of all images).
 */
export function switchShares(flow: TreeFlow): Int32Array | null {
  const { topology, collective } = flow;
  const { kind, groupMembers } = collective;
  if (kind !== "allgather" && kind !== "broadcast" && kind !== "allreduce") return null;
  const able = hasCommonSwitch(topology, groupMembers, kind === "allreduce");
  if (!able || trafficSaved(flow) === null) return null;
  const [forest] = expandTrees(flow).forests;
  const rankOf = new Map(Array.from(groupMembers, (npu, rank) => [npu, rank]));
  const copies = new Int32Array(groupMembers.length);
  forest.root.forEach((npu, tree) => {
    copies[rankOf.get(npu) as number] += forest.copies[tree];
  });
  const divisor = copies.reduce(greatestDivisor, 0);
  return copies.map((many) => many / divisor);
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

/** Returns whether some switch that duplicates (and sums) has links from and to all members. O(links). */
function hasCommonSwitch(topology: Topology, members: Int32Array, sums: boolean): boolean {
  const { nodeTraits, linkSource, linkTarget } = topology;
  const [from, to] = [outLinks(topology), inLinks(topology)];
  return nodeTraits.some(({ multicast, aggregation }, node) => {
    if (isNpu(topology, node) || multicast !== true || (sums && aggregation !== true)) return false;
    const sources = new Set(Array.from(to.links.subarray(to.offset[node], to.offset[node + 1]), (l) => linkSource[l]));
    const targets = new Set(
      Array.from(from.links.subarray(from.offset[node], from.offset[node + 1]), (l) => linkTarget[l]),
    );
    return members.every((npu) => sources.has(npu) && targets.has(npu));
  });
}
