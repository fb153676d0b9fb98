import { InternalError } from "../../base/errors.ts";
import type { PackedTrees } from "../../engine/contract/kernels.ts";
import { compare, toNumber } from "../../model/numbers/rational.ts";
import { networkSymmetry } from "../../model/symmetry/network-symmetry.ts";
import { reversed } from "../../model/topology/topology.ts";
import type { Forest, NetworkSymmetry } from "../../model/trees/tree-flow.ts";
import type { TreeContext, TreeRequest } from "../tree-maker.ts";
import { type FixedPacking, fixedCopies, nextCopies } from "./fixed-k.ts";
import { mirroredForest } from "./mirrored.ts";
import { type Optimum, optimumOf, type Packing, packable } from "./optimum.ts";
import { symmetricForest } from "./orbits.ts";
import { packTrees, triesAll } from "./pack-trees.ts";
import { forestFrom, type PackingNetwork, packingNetwork } from "./packing-network.ts";
import { paperForest } from "./paper-forest.ts";
import { regrown } from "./regrow.ts";

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
  const { packing, notes } =
    copiesPerRoot === null
      ? await fewestCopies(network, weight, optimum, kernels.rate)
      : { packing: await fixedCopies(network, weight, BigInt(copiesPerRoot), optimum, kernels.rate), notes: [] };
  const old = await repaired(request, context, direction, weight, network, optimum);
  const part =
    old.part ??
    symmetric(request, direction, weight, packing) ??
    (await packedOrPublished(request, context, network, weight, packing));
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
    notes: [
      ...(copiesPerRoot === null ? [] : [shareNote(part.packing, optimum, collective.kind)]),
      ...(part.repaired === undefined ? notes : []),
      ...(part.notes ?? []),
      ...(old.reason === undefined ? [] : [`made anew, for the old trees could not be repaired: ${old.reason}`]),
    ],
  };
}

/** Returns the in-forest to go with an out-forest: its mirror image, or where some link has no opposite one its own trees. */
export async function growBack(
  request: TreeRequest,
  context: TreeContext,
  weight: Float64Array,
  out: Grown,
): Promise<Pick<Grown, "forest" | "trials" | "notes" | "policy">> {
  const mirrored = mirroredForest(request.topology, request.usable, out.forest);
  if (mirrored !== null) return { forest: mirrored, trials: 0, notes: [], policy: out.policy };
  return growForest(request, context, "in", weight);
}

/** Numbers of copies per root that are tried below the one for which all links hold whole copies. */
const FEW_COPIES = 16n;

/** Above so many copies per root users are told of fewer. */
const MANY_COPIES = 1000n;

/**
 * Returns the packing at the optimal rate with the fewest copies: k of the dissertation, or fewer that do as well; and where
 * these are many, in words what a few reach.
 */
async function fewestCopies(
  network: PackingNetwork,
  weight: Float64Array,
  optimum: Optimum,
  rate: TreeContext["kernels"]["rate"],
): Promise<{ readonly packing: Packing; readonly notes: readonly string[] }> {
  let best: FixedPacking | null = null;
  for (let k = 1n; k < optimum.k && k <= FEW_COPIES; k++) {
    const found = await fixedCopies(network, weight, k, optimum, rate);
    if (found.wider !== null) continue;
    if (compare(found.bytesPerSecond, optimum.bytesPerSecond) === 0) return { packing: found, notes: [] };
    if (best === null || compare(found.bytesPerSecond, best.bytesPerSecond) > 0) best = found;
  }
  const hint =
    best === null || optimum.k <= MANY_COPIES
      ? []
      : [`so many copies are exact, but hard to run: --k ${best.k} reaches ${percentOf(best, optimum)} of the optimum`];
  return { packing: optimum, notes: hint };
}

const inPercent = (part: number): string => `${Math.floor(10_000 * part + 1e-6) / 100} %`;

const percentOf = (packing: Packing, optimum: Optimum): string =>
  inPercent(toNumber(packing.bytesPerSecond) / toNumber(optimum.bytesPerSecond));

/** What copies per root that are fewer than the optimum takes cost, and what theorem 35 grants. */
function shareNote(packing: Packing | FixedPacking, optimum: Optimum, kind: string): string {
  const { k, bytesPerSecond, copiesPerBandwidth } = packing;
  const isBest = compare(bytesPerSecond, optimum.bytesPerSecond) === 0;
  const trees = `${k} ${k === 1n ? "copy" : "copies"} of trees per root`;
  const of = kind === "allreduce" ? "the optimum of reduce-scatter and then all-gather" : "the optimum";
  if (isBest) return `${trees} ${k === 1n ? "reaches" : "reach"} ${of}`;
  const share = toNumber(bytesPerSecond) / toNumber(optimum.bytesPerSecond);
  const granted =
    "mostCopiesPerBandwidth" in packing
      ? `; theorem 35 of the dissertation grants ${inPercent((share * toNumber(copiesPerBandwidth)) / toNumber(packing.mostCopiesPerBandwidth))}`
      : "";
  return `${trees} ${k === 1n ? "reaches" : "reach"} ${percentOf(packing, optimum)} of ${of}${granted}`;
}

/** Whether every NPU takes part alike and may use all of the network. */
const isWhole = ({ topology, collective, usable }: TreeRequest, weight: Float64Array): boolean =>
  collective.groupSize === topology.npuCount &&
  collective.groupMembers.every((npu, rank) => npu === rank) &&
  weight.every((w) => w === weight[0]) &&
  usable.every((amount, link) => amount === topology.linkBytesPerSecond[link]);

/** Trees of NPU 0 that stand for those of all, where the network has the maps and the trees exist. */
function symmetric(request: TreeRequest, direction: "out" | "in", weight: Float64Array, packing: Packing): Part | null {
  if (!isWhole(request, weight) || !triesAll(request.policy) || packable(packing) === null) return null;
  const topology = direction === "out" ? request.topology : reversed(request.topology);
  const symmetry = networkSymmetry(topology);
  if (symmetry === null) return null;
  const found = symmetricForest(topology, symmetry, Number(packing.k), packing.copiesPerBandwidth);
  if (found === null) return null;
  return { trees: found.trees, packing, symmetry, policy: "one root for all by symmetry", trials: 1 };
}

/** Trees that were made before something failed, where those that it touched can be replaced; else the reason why not. */
async function repaired(
  request: TreeRequest,
  context: TreeContext,
  direction: "out" | "in",
  weight: Float64Array,
  network: PackingNetwork,
  optimum: Optimum,
): Promise<{ readonly part?: Part; readonly reason?: string }> {
  const { repair } = request;
  if (repair === null) return {};
  const found = await regrown({ ...request, repair }, context, direction, weight, network, optimum);
  if ("reason" in found) return found;
  const { packing } = found;
  const { trees, kept, changed } = found.repair;
  const part = {
    trees,
    packing,
    policy: `repaired, ${changed} of ${kept + changed} trees anew`,
    trials: 1,
    repaired: { kept, changed },
    notes:
      compare(packing.bytesPerSecond, optimum.bytesPerSecond) < 0
        ? [shareNote(packing, optimum, request.collective.kind)]
        : [],
  };
  return { part };
}

/** Numbers of copies on some link that are tried beyond the best for a given k, where a switch is out of balance. */
const MOST_STEPS = 1000;

/**
 * Trees packed on the network as it is. Where the search gets stuck: with floors that leave a switch out of balance, trees of
 * the next lower rates in turn; else the dissertation's own way.
 */
async function packedOrPublished(
  request: TreeRequest,
  context: TreeContext,
  network: PackingNetwork,
  weight: Float64Array,
  best: Packing | FixedPacking,
): Promise<Part> {
  let packing = best;
  for (let step = 0; ; step++) {
    const part = await packed(request, context, network, packing);
    if (part !== null) {
      return step === 0 ? part : { ...part, notes: ["better trees for so many copies are not ruled out"] };
    }
    if (!("wider" in packing) || packing.wider === null || step === MOST_STEPS) return asPublished(network, packing);
    packing = nextCopies(network, weight, packing);
  }
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
