import type { PackedTrees } from "../../engine/kernels/kernels.ts";
import { InternalError } from "../../errors.ts";
import { networkSymmetry } from "../../model/network-symmetry.ts";
import { oppositeLinks } from "../../model/opposite-links.ts";
import { compare, format, multiply, rational, toNumber } from "../../model/rational.ts";
import { linkNames, reversed, type Topology } from "../../model/topology.ts";
import { expandTrees } from "../../model/tree-expansion.ts";
import type { Forest, NetworkSymmetry, TreeFlow } from "../../model/tree-flow.ts";
import type { TreeContext, TreeRequest } from "../tree-maker.ts";
import { fixedCopies } from "./fixed-k.ts";
import { type Optimum, optimumOf, type Packing, packable } from "./optimum.ts";
import { symmetricForest } from "./orbits.ts";
import { packTrees } from "./pack-trees.ts";
import { forestFrom, type PackingNetwork, packingNetwork } from "./packing-network.ts";
import { repairForest } from "./repair.ts";
import { paperForest } from "./paper-forest.ts";

/** A repaired forest may be this much slower than the new optimum: 1 / 100. */
const MOST_LOSS = rational(1, 100);

/** A forest and what was found out on the way. */
export interface Grown {
  readonly forest: Forest;
  readonly symmetry: NetworkSymmetry | null;
  readonly optimum: Optimum;
  /** Ascending nodes of the bottleneck cut. */
  readonly cut: Int32Array;
  readonly policy: string;
  readonly trials: number;
  readonly repaired: { readonly kept: number; readonly changed: number } | null;
  readonly notes: readonly string[];
}

type Part = Pick<Grown, "policy" | "trials"> & {
  readonly trees: PackedTrees;
  readonly packing: Packing;
  readonly symmetry?: NetworkSymmetry;
  readonly repaired?: Grown["repaired"];
  readonly notes?: readonly string[];
};

/**
 * Returns a forest in which member r contributes in proportion to weight[r] (all-gather: 1 each; broadcast: 1 at the root), at
 * the optimal rate, or the best with the copies per root that are asked for. In this order: an old forest repaired; the trees
 * of one root for all on a symmetric network; packing on the network as it is; the dissertation's own algorithms 2 to 4.
 */
export async function growForest(
  request: TreeRequest,
  context: TreeContext,
  direction: "out" | "in",
  weight: Float64Array,
): Promise<Grown> {
  const { topology, collective, usable, copiesPerRoot } = request;
  const { kernels } = context;
  const network = packingNetwork(topology, collective.groupMembers, usable, direction);
  const optimum = await optimumOf(network, weight, kernels.rate);
  const packing =
    copiesPerRoot === null ? optimum : await fixedCopies(network, weight, BigInt(copiesPerRoot), optimum, kernels.rate);
  const part =
    (await repaired(request, context, direction, weight, network, optimum)) ??
    symmetric(request, direction, weight, packing) ??
    (await packed(request, context, network, packing)) ??
    asPublished(network, packing);
  const { copyBytesPerSecond } = part.packing;
  const forest =
    part.symmetry === undefined
      ? forestFrom(network, part.trees, direction, copyBytesPerSecond, collective.groupMembers)
      : { direction, ...part.trees, copyBytesPerSecond };
  return {
    forest,
    symmetry: part.symmetry ?? null,
    optimum,
    cut: Int32Array.from(network.node.filter((_, i) => optimum.cut[i] === 1)).sort(),
    policy: part.policy,
    trials: part.trials,
    repaired: part.repaired ?? null,
    notes: [...(copiesPerRoot === null ? [] : [fixedNote(packing, optimum)]), ...(part.notes ?? [])],
  };
}

/** What a number of copies per root that was asked for costs, and what theorem 35 grants. */
function fixedNote(packing: Packing, optimum: Optimum): string {
  const share = toNumber(multiply(packing.bytesPerSecond, rational(1)));
  const best = toNumber(optimum.bytesPerSecond);
  const percent = Math.floor((10_000 * share) / best) / 100;
  return `${packing.k} ${packing.k === 1n ? "tree" : "trees"} per root reach ${percent} % of the optimum, which takes ${optimum.k}`;
}

/** Whether every NPU takes part alike and may use all of the network. */
const isWhole = ({ topology, collective, usable }: TreeRequest, weight: Float64Array): boolean =>
  collective.groupSize === topology.npuCount &&
  collective.groupMembers.every((npu, rank) => npu === rank) &&
  weight.every((w) => w === weight[0]) &&
  usable.every((amount, link) => amount === topology.linkBytesPerSecond[link]);

/** Trees of NPU 0 that stand for those of all, where the network has the maps and the trees exist. */
function symmetric(request: TreeRequest, direction: "out" | "in", weight: Float64Array, packing: Packing): Part | null {
  if (!isWhole(request, weight) || request.policy !== null || packable(packing) === null) return null;
  const topology = direction === "out" ? request.topology : reversed(request.topology);
  const symmetry = networkSymmetry(topology);
  if (symmetry === null) return null;
  const found = symmetricForest(topology, symmetry, Number(packing.k), packing.copiesPerBandwidth);
  if (found === null) return null;
  return { trees: found.trees, packing, symmetry, policy: "one root for all by symmetry", trials: 1 };
}

async function packed(
  { seed, policy }: TreeRequest,
  { kernels }: TreeContext,
  network: PackingNetwork,
  packing: Packing,
): Promise<Part | null> {
  const columns = packable(packing);
  if (columns === null) return null;
  const outcome = await packTrees(network, columns.capacity, columns.copies, kernels, { seed, policy });
  if (outcome === null) return null;
  if ("cut" in outcome) throw new InternalError("the optimal rate and the packing disagree about a cut");
  return { ...outcome, packing, policy: `packed, ${outcome.policy}` };
}

/** The dissertation's algorithms 2 to 4, exact for any capacities, for small networks. */
function asPublished(network: PackingNetwork, packing: Packing): Part {
  const { nodeCount, npuCount, linkSource, linkTarget } = network;
  const trees = paperForest({ nodeCount, npuCount, linkSource, linkTarget }, packing);
  return { trees, packing, policy: "edge splitting and tree packing as published", trials: 1 };
}

/** Trees that were made before something failed, where those that it touched can be replaced. */
async function repaired(
  request: TreeRequest,
  { kernels }: TreeContext,
  direction: "out" | "in",
  weight: Float64Array,
  network: PackingNetwork,
  optimum: Optimum,
): Promise<Part | null> {
  const { repair, topology, seed, policy } = request;
  if (repair === null) return null;
  const old = expandTrees(repair);
  const forest = old.forests.find((candidate) => candidate.direction === direction);
  const rankOf = ranksByName(topology, request.collective.groupMembers, old);
  if (forest === undefined || rankOf === null) return null;
  const linkOf = linksByName(topology, network, old.topology);
  const atRoots = new Float64Array(network.npuCount);
  forest.root.forEach((npu, t) => {
    atRoots[rankOf[npu]] += forest.copies[t];
  });
  const k = copiesPerWeight(atRoots, weight);
  if (k === null) return null;
  const packing = await fixedCopies(network, weight, k, optimum, kernels.rate);
  const columns = packable(packing);
  if (columns === null) return null;
  const least = multiply(optimum.bytesPerSecond, rational(MOST_LOSS.den - MOST_LOSS.num, MOST_LOSS.den));
  if (compare(packing.bytesPerSecond, least) < 0) {
    return null;
  }
  const damaged = {
    forest: {
      ...forest,
      root: forest.root.map((npu) => rankOf[npu]),
      links: forest.links.map((link) => linkOf[link]),
    },
    network,
    capacity: columns.capacity,
  };
  const found = await repairForest(damaged, (capacity, copies) =>
    copies.every((count) => count === 0)
      ? Promise.resolve({ trees: NO_TREES })
      : packTrees(network, capacity, copies, kernels, { seed, policy, hasty: true }),
  );
  if (found === null) return null;
  const { trees, kept, changed } = found;
  const share = `${format(packing.bytesPerSecond)} of ${format(optimum.bytesPerSecond)} bytes/s`;
  return {
    trees,
    packing,
    policy: `repaired, ${changed} of ${kept + changed} trees anew`,
    trials: 1,
    repaired: { kept, changed },
    notes: compare(packing.bytesPerSecond, optimum.bytesPerSecond) < 0 ? [`the repair reaches ${share}`] : [],
  };
}

const NO_TREES: PackedTrees = {
  root: new Int32Array(0),
  copies: new Float64Array(0),
  linkOffset: new Float64Array(1),
  links: new Int32Array(0),
};

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
function copiesPerWeight(copies: Float64Array, weight: Float64Array): bigint | null {
  const divisor = weight.reduce((a, b) => gcd(a, b), 0);
  const first = weight.findIndex((w) => w > 0);
  const k = (copies[first] * divisor) / weight[first];
  return Number.isSafeInteger(k) && copies.every((c, v) => c * divisor === k * weight[v]) ? BigInt(k) : null;
}

function gcd(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y > 0) [x, y] = [y, x % y];
  return x;
}

/**
 * Returns the trees of the reversed network that an out-forest gives when all its links are turned around; null where some
 * usable link has no opposite one.
 */
export function mirroredForest(topology: Topology, usable: Float64Array, forest: Forest): Forest | null {
  const opposite = oppositeLinks(topology, usable);
  if (opposite === null) return null;
  return {
    ...forest,
    direction: forest.direction === "out" ? "in" : "out",
    links: forest.links.map((link) => opposite[link]),
  };
}
