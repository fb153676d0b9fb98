import { optionName } from "../../base/option-names.ts";
import type { PackedTrees } from "../../engine/contract/kernels.ts";
import { commonDivisor } from "../../model/numbers/integers.ts";
import { compare, multiply, rational, toNumber } from "../../model/numbers/rational.ts";
import { linkNames, type Topology } from "../../model/topology/topology.ts";
import { expandTrees } from "../../model/trees/tree-expansion.ts";
import type { Forest, TreeFlow } from "../../model/trees/tree-flow.ts";
import type { TreeContext, TreeRequest } from "../tree-maker.ts";
import { fixedCopies, type Optimum, type Packing, packable } from "./optimum.ts";
import { type PackingNetwork, packTrees, renumbered } from "./packing.ts";
import { give, rehanger } from "./rehang.ts";

/** A repaired forest reaches this share of the new optimum, where nothing else is asked for. */
const LEAST_SHARE = 0.99;
/** Shares are exact to this part. */
const SHARES = 1e6;

/** A repaired forest, or in words why the old one is of no use. */
export type Regrown = { readonly repair: Repair; readonly packing: Packing } | { readonly reason: string };

/**
 * Returns the trees of `request.repair`, made before something failed, with those that it touched replaced, with as many copies
 * per root as before and at least `keepShare` of the new optimum's rate.
 */
export async function regrown(
  { repair, topology, collective, seed, policy, own }: TreeRequest & { readonly repair: TreeFlow },
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
  const least = own?.keepShare ?? LEAST_SHARE;
  const asked = multiply(optimum.bytesPerSecond, rational(Math.round(least * SHARES), SHARES));
  if (compare(packing.bytesPerSecond, asked) < 0) {
    const copies = k === 1n ? "1 copy per root reaches" : `${k} copies per root reach`;
    const share = (100 * toNumber(packing.bytesPerSecond)) / toNumber(optimum.bytesPerSecond);
    return {
      reason: `${copies} only ${Math.floor(100 * share) / 100} % of the new optimum, less than ${Number((100 * least).toPrecision(6))} % (${optionName("keepShare")} ${Math.floor(share)}% keeps them)`,
    };
  }
  const found = await mendedForest({ forest: damaged, network, capacity: columns.capacity }, kernels, { seed, policy });
  if (found === null) return { reason: "too many trees would have to change" };
  return found.kept === 0 ? { reason: "none of them could be kept" } : { repair: found, packing };
}

/**
 * Returns the forest with the trees that used what has failed hung on again where they broke (`rehanger`) or packed again, with
 * others where they have to make room; null when that does not succeed.
 */
export const mendedForest = async (
  damaged: Damaged,
  kernels: TreeContext["kernels"],
  { seed, policy }: Pick<TreeRequest, "seed" | "policy">,
): Promise<Repair | null> => {
  const pack: PackRest = (capacity, copies) =>
    copies.every((count) => count === 0)
      ? Promise.resolve({ trees: NO_TREES })
      : packTrees(damaged.network, capacity, copies, kernels, { seed, policy, hasty: true });
  // what hangs on again may be in the way of the rest
  return (await repairForest(damaged, pack, true)) ?? (await repairForest(damaged, pack, false));
};

const NO_TREES: PackedTrees = {
  root: new Int32Array(0),
  copies: new Float64Array(0),
  linkOffset: new Float64Array(1),
  links: new Int32Array(0),
};

/** Returns the old forest in the numbers of the packing network, by the names of NPUs and links; null for other members. */
export function damagedForest(
  repair: TreeFlow,
  topology: Topology,
  members: Int32Array,
  network: PackingNetwork,
  direction: "out" | "in",
): Forest | null {
  const old = expandTrees(repair);
  const forest = old.forests.find((candidate) => candidate.direction === direction);
  const rankOf = ranksByName(topology, members, old);
  if (forest === undefined || rankOf === null) return null;
  const linkOf = linksByName(topology, network, old.topology);
  return {
    ...forest,
    root: forest.root.map((npu) => rankOf[npu]),
    links: renumbered(forest.links, linkOf),
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

/** Rounds of taking out further trees until the rest can be repacked. */
const MOST_ROUNDS = 24;

/** A forest for the network before something failed, in the numbers of the network as it is now. */
export interface Damaged {
  /** Links are numbered as in `network`, -1 where a link is gone; roots are ranks. */
  readonly forest: Omit<Forest, "direction" | "copyBytesPerSecond">;
  readonly network: PackingNetwork;
  /** [links of the network] copies that fit now. */
  readonly capacity: Float64Array;
  /** [links of the network] the link the other way, where all trees run turned around too and take room of both; else absent. */
  readonly opposite?: Int32Array;
  /** Nobody else needs the forest's columns, so that they may be written over. */
  readonly isOwn?: boolean;
}

export interface Repair {
  readonly trees: PackedTrees;
  readonly kept: number;
  readonly changed: number;
}

/** Packs copies at roots into what is left of the capacities; a cut of the network where that is impossible; null: stuck. */
type PackRest = (
  capacity: Float64Array,
  copies: Float64Array,
) => Promise<{ readonly trees: PackedTrees } | { readonly cut: Uint8Array } | null>;

/**
 * Returns the forest with the trees that used what has failed grown again: first those that use a link that is gone or too
 * narrow now, and, while a set of nodes has too little left to enter it, further trees that enter it most often. Null when
 * that does not succeed. O(edges of the forest) a round.
 */
async function repairForest(damaged: Damaged, pack: PackRest, hangsOn: boolean): Promise<Repair | null> {
  const { forest, network, opposite } = damaged;
  const edges = network.npuCount - 1;
  const left = damaged.capacity.slice();
  const isKept = keepWhatFits(forest.copies, (t) => linksOfTree(forest, t, edges), left, opposite);
  const mended = hangsOn ? hungOnAgain(damaged, isKept, left) : new Map<number, PackedTrees>();
  for (const t of mended.keys()) isKept[t] = 1;
  const linksOf = (t: number): Int32Array => mended.get(t)?.links ?? linksOfTree(forest, t, edges);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const copies = new Float64Array(network.npuCount);
    for (let t = 0; t < isKept.length; t++) if (isKept[t] === 0) copies[forest.root[t]] += forest.copies[t];
    const outcome = await pack(left.slice(), copies);
    if (outcome === null) return null;
    if ("trees" in outcome) {
      const fresh: PackedTrees[] = [];
      for (const [t, tree] of mended) {
        if (isKept[t] === 1) fresh.push(tree);
        isKept[t] = 0;
      }
      return joined(damaged, isKept, edges, [...fresh, outcome.trees]);
    }
    const out = mostEntering(outcome.cut, network, isKept, linksOf);
    if (out.length === 0) return null;
    for (const t of out) {
      isKept[t] = 0;
      for (const link of linksOf(t)) give(left, link, forest.copies[t], opposite);
    }
  }
  return null;
}

const linksOfTree = ({ linkOffset, links }: Damaged["forest"], tree: number, edges: number): Int32Array =>
  links.subarray(linkOffset[tree * edges], linkOffset[(tree + 1) * edges]);

/** Returns the trees that are not kept and that could be hung on again, by their numbers; takes their copies from `left`. */
function hungOnAgain(
  { forest, network, opposite }: Damaged,
  isKept: Uint8Array,
  left: Float64Array,
): Map<number, PackedTrees> {
  const rehung = rehanger(network, opposite);
  const mended = new Map<number, PackedTrees>();
  for (let t = 0; t < isKept.length; t++) {
    const tree = isKept[t] === 1 ? null : rehung(forest, t, left);
    if (tree !== null) mended.set(t, tree);
  }
  return mended;
}

/** Returns which trees, taken in turn, fit into `left` and use no link that is gone; takes their copies from it. */
function keepWhatFits(
  copies: Float64Array,
  linksOf: (t: number) => Int32Array,
  left: Float64Array,
  opposite: Int32Array | undefined,
): Uint8Array {
  const isKept = new Uint8Array(copies.length);
  for (let t = 0; t < copies.length; t++) {
    const links = linksOf(t);
    let done = 0;
    while (done < links.length && left[links[done]] >= copies[t]) give(left, links[done++], -copies[t], opposite);
    if (done === links.length) isKept[t] = 1;
    else while (done > 0) give(left, links[--done], copies[t], opposite);
  }
  return isKept;
}

/** Returns the kept trees that leave a cut most often, at most an eighth of all, the last ones first. */
function mostEntering(
  cut: Uint8Array,
  { linkSource, linkTarget }: PackingNetwork,
  isKept: Uint8Array,
  linksOf: (t: number) => Int32Array,
): number[] {
  const crossings = new Int32Array(isKept.length);
  for (let t = 0; t < isKept.length; t++) {
    if (isKept[t] === 0) continue;
    for (const link of linksOf(t)) if (cut[linkSource[link]] === 1 && cut[linkTarget[link]] === 0) crossings[t]++;
  }
  const most = crossings.reduce((a, b) => Math.max(a, b), 0);
  if (most === 0) return [];
  const out: number[] = [];
  const quota = Math.max(1, isKept.length >> 3);
  for (let t = isKept.length - 1; t >= 0 && out.length < quota; t--) if (crossings[t] === most) out.push(t);
  return out;
}

/** Returns a forest, links as in Damaged, without the trees of the marked roots. O(links of all edges). */
export function withoutTrees(forest: Damaged["forest"], edges: number, isMarked: Uint8Array): Damaged["forest"] {
  const isKept = Uint8Array.from(forest.root, (rank) => 1 - isMarked[rank]);
  return joined({ forest }, isKept, edges, []).trees;
}

/**
 * Returns the kept trees, then the new ones; in the columns of the old forest, where these may be written over and have the room.
 * O(links of all edges).
 */
function joined(
  { forest, isOwn = false }: Pick<Damaged, "forest" | "isOwn">,
  isKept: Uint8Array,
  edges: number,
  fresh: readonly PackedTrees[],
): Repair {
  const kept = isKept.reduce((count, bit) => count + bit, 0);
  const changed = fresh.reduce((count, { root }) => count + root.length, 0);
  const trees = kept + changed;
  let length = fresh.reduce((sum, { linkOffset }) => sum + linkOffset[linkOffset.length - 1], 0);
  for (let t = 0; t < isKept.length; t++)
    if (isKept[t] === 1) length += forest.linkOffset[(t + 1) * edges] - forest.linkOffset[t * edges];
  const inPlace = isOwn && trees <= isKept.length && length <= forest.links.length;
  const linkOffset = inPlace ? forest.linkOffset.subarray(0, trees * edges + 1) : new Float64Array(trees * edges + 1);
  const links = inPlace ? forest.links.subarray(0, length) : new Int32Array(length);
  const root = new Int32Array(trees);
  const copies = new Float64Array(trees);
  let next = 0;
  const add = (from: PackedTrees, tree: number): void => {
    const first = tree * edges;
    const place = next * edges;
    const old = from.linkOffset;
    const [begin, end] = [old[first], old[first + edges]];
    const start = next === 0 ? 0 : linkOffset[place];
    root[next] = from.root[tree];
    copies[next] = from.copies[tree];
    next++;
    // what has not moved is where it belongs
    if (inPlace && from === forest && place === first) return;
    // no tree moves to where one is that has not been moved yet
    links.set(from.links.subarray(begin, end), start);
    const shift = start - begin;
    for (let e = 1; e <= edges; e++) linkOffset[place + e] = old[first + e] + shift;
  };
  for (let t = 0; t < isKept.length; t++) if (isKept[t] === 1) add(forest, t);
  for (const part of fresh) for (let t = 0; t < part.root.length; t++) add(part, t);
  return { trees: { root, copies, linkOffset, links }, kept, changed };
}
