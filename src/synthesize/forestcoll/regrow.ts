import type { PackedTrees } from "../../engine/contract/kernels.ts";
import { commonDivisor } from "../../model/numbers/integers.ts";
import { compare, multiply, rational, toNumber } from "../../model/numbers/rational.ts";
import { linkNames, type Topology } from "../../model/topology/topology.ts";
import { expandTrees } from "../../model/trees/tree-expansion.ts";
import type { TreeFlow } from "../../model/trees/tree-flow.ts";
import type { TreeContext, TreeRequest } from "../tree-maker.ts";
import { fixedCopies } from "./fixed-k.ts";
import { type Optimum, type Packing, packable } from "./optimum.ts";
import { packTrees } from "./pack-trees.ts";
import type { PackingNetwork } from "./packing-network.ts";
import { type Damaged, type Repair, repairForest } from "./repair.ts";

/** A repaired forest may be this much slower than the new optimum. */
const LEAST_SHARE = rational(99, 100);

/** A repaired forest, or in words why the old one is of no use. */
export type Regrown = { readonly repair: Repair; readonly packing: Packing } | { readonly reason: string };

/**
 * Returns the trees of `request.repair`, made before something failed, with those that it touched replaced, with as many copies
 * per root as before and at most 1 % slower than the new optimum.
 */
export async function regrown(
  { repair, topology, collective, seed, policy }: TreeRequest & { readonly repair: TreeFlow },
  { kernels }: TreeContext,
  direction: "out" | "in",
  weight: Float64Array,
  network: PackingNetwork,
  optimum: Optimum,
): Promise<Regrown> {
  if (repair.collective.kind !== collective.kind)
    return { reason: `they are of another collective (${repair.collective.kind})` };
  if (repair.concurrent) return { reason: "they reduce and broadcast side by side" };
  const damaged = damagedForest(repair, topology, collective.groupMembers, network, direction);
  if (damaged === null) return { reason: "they span other NPUs" };
  const k = copiesPerWeight(damaged, weight, network.npuCount);
  if (k === null) return { reason: "their roots contribute in other proportions" };
  const packing = await fixedCopies(network, weight, k, optimum, kernels.rate);
  const columns = packable(packing);
  if (columns === null) return { reason: "they have too many copies" };
  const share = toNumber(packing.bytesPerSecond) / toNumber(optimum.bytesPerSecond);
  if (compare(packing.bytesPerSecond, multiply(optimum.bytesPerSecond, LEAST_SHARE)) < 0) {
    const copies = k === 1n ? "1 copy per root reaches" : `${k} copies per root reach`;
    return { reason: `${copies} only ${Math.floor(10_000 * share) / 100} % of the new optimum, less than 99 %` };
  }
  const found = await repairForest({ forest: damaged, network, capacity: columns.capacity }, (capacity, copies) =>
    copies.every((count) => count === 0)
      ? Promise.resolve({ trees: NO_TREES })
      : packTrees(network, capacity, copies, kernels, { seed, policy, hasty: true }),
  );
  if (found === null) return { reason: "too many trees would have to change" };
  return found.kept === 0 ? { reason: "none of them could be kept" } : { repair: found, packing };
}

const NO_TREES: PackedTrees = {
  root: new Int32Array(0),
  copies: new Float64Array(0),
  linkOffset: new Float64Array(1),
  links: new Int32Array(0),
};

/** Returns the old forest in the numbers of the packing network, by the names of NPUs and links; null for other members. */
function damagedForest(
  repair: TreeFlow,
  topology: Topology,
  members: Int32Array,
  network: PackingNetwork,
  direction: "out" | "in",
): Damaged["forest"] | null {
  const old = expandTrees(repair);
  const forest = old.forests.find((candidate) => candidate.direction === direction);
  const rankOf = ranksByName(topology, members, old);
  if (forest === undefined || rankOf === null) return null;
  const linkOf = linksByName(topology, network, old.topology);
  return {
    ...forest,
    root: forest.root.map((npu) => rankOf[npu]),
    links: forest.links.map((link) => linkOf[link]),
  };
}

/** Returns the rank of each NPU of an old network, by its name; null where the groups differ. */
function ranksByName(topology: Topology, members: Int32Array, old: TreeFlow): Int32Array | null {
  const rankOf = new Map<string, number>();
  members.forEach((npu, rank) => {
    rankOf.set(topology.nodeNames[npu], rank);
  });
  const { groupMembers } = old.collective;
  if (groupMembers.length !== members.length) return null;
  const ranks = new Int32Array(old.topology.npuCount).fill(-1);
  for (const npu of groupMembers) {
    const rank = rankOf.get(old.topology.nodeNames[npu]);
    if (rank === undefined) return null;
    ranks[npu] = rank;
  }
  return ranks;
}

/** Returns for each link of an old network the one of that name in the packing network, -1 where it is gone. */
function linksByName(topology: Topology, network: PackingNetwork, old: Topology): Int32Array {
  const numberOf = new Map<string, number>();
  const names = linkNames(topology);
  network.link.forEach((link, i) => {
    numberOf.set(names[link], i);
  });
  return Int32Array.from(linkNames(old), (name) => numberOf.get(name) ?? -1);
}

/** Returns k where every root has k copies per unit of its weight; null where that is no whole number for all. */
function copiesPerWeight({ root, copies }: Damaged["forest"], weight: Float64Array, npuCount: number): bigint | null {
  const atRoots = new Float64Array(npuCount);
  root.forEach((rank, t) => {
    atRoots[rank] += copies[t];
  });
  const divisor = commonDivisor(weight);
  const first = weight.findIndex((w) => w > 0);
  const k = (atRoots[first] * divisor) / weight[first];
  return Number.isSafeInteger(k) && atRoots.every((c, v) => c * divisor === k * weight[v]) ? BigInt(k) : null;
}
