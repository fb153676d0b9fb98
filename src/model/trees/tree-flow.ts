import { InputError, inWords } from "../../base/errors.ts";
import { optionName, type Place } from "../../base/option-names.ts";
import type { Collective } from "../collective/collective.ts";
import { type Rational, rational } from "../numbers/rational.ts";
import type { Topology } from "../topology/topology.ts";

/**
 * Trees that carry a collective at a constant rate (tree-flow schedule; dissertation of Zhao, 2026, 4.5): every copy of a
 * tree carries an equal part of the data and holds an equal bandwidth on each link it uses.
 */
export interface Forest {
  /**
   * "out": data flows from the root to all members. "in": contributions flow to the root; such trees are out-trees of the
   * reversed network and are listed from the root outwards too, so data runs over the listed links towards the root.
   */
  readonly direction: "out" | "in";
  /** [trees] NPU. */
  readonly root: Int32Array;
  /** [trees] equal trees that this one stands for: exact integers >= 1. */
  readonly copies: Float64Array;
  /**
   * [trees * (members - 1) + 1] Edge i of tree t is number e = t * (members - 1) + i. Its links are
   * links[linkOffset[e] .. linkOffset[e + 1]], from a member that the tree has reached (first: the root) to one that it has
   * not, through nodes that only forward: switches, and NPUs outside the group. Exact integers.
   */
  readonly linkOffset: Float64Array;
  readonly links: Int32Array;
  /** Bandwidth of one copy, bytes per second. */
  readonly copyBytesPerSecond: Rational;
}

/**
 * Maps of a network onto itself: an abelian group with one generator per dimension. steps[d] [nodes] says where generator d
 * takes each node (NPUs to NPUs, links onto links of the same bandwidth and latency); generators commute, and the sizes[d]-th
 * power of generator d is the identity.
 */
export interface NetworkSymmetry {
  readonly sizes: readonly number[];
  readonly steps: readonly Int32Array[];
}

/** What proves that no schedule is faster: a set of nodes that lacks a member; its members' data must leave it. */
export interface CutCertificate {
  readonly kind: "cut";
  /** Ascending. Data leaves the set ("out": all-gather), or comes into it ("in": reduce-scatter). */
  readonly nodes: Int32Array;
  readonly direction: "out" | "in";
}

/**
 * Weighted node sets that each lack a member, and potentials of nodes that only forward.
 *
 * All-gather, broadcast ("out"), reduce-scatter, reduce ("in"): at most the sum over links of b_e max(0, W + G), over the sum
 * of weights times the part of the data that starts (ends) in their sets. For such parts must leave (enter) each set, and what
 * only forwards has as much in as out, so potentials add nothing in all.
 *
 * All-reduce: what proves the rate of one that sums each byte at one NPU (dual of the linear program of Zhao 2026, B.7): node
 * sets S that each lack a member, with weights w >= 0 that around every member v sum to 1 or more, over the sets of both
 * directions that contain v. The buffer's bytes per second are then at most the sum over links e of
 *   b_e * max(0, W_out + G_out, W_in + G_in),
 * where W_out is the weight of the "out" sets that e leaves, W_in that of the "in" sets that e enters, and G the potential of
 * the node that e enters less that of the one it leaves, for each direction (0 at members and where none is listed).
 *
 * For let x_v be summed at v, and let sums hold BC_e and contributions RE_e of link e, BC_e + RE_e <= b_e. What is summed in
 * an "out" set must leave it for the member that it lacks: x(S) <= BC(out of S). That member's contributions must come into an
 * "in" set: x(S) <= RE(into S). The sum of these times w has at least x(all) on the left. Over nodes that neither duplicate nor
 * reduce, as much of BC and of RE goes out as comes in, so potentials add nothing to the right side, which is at most the above.
 */
export interface DualCertificate {
  readonly kind: "dual";
  readonly cuts: readonly { readonly nodes: Int32Array; readonly direction: "out" | "in"; readonly weight: Rational }[];
  /** Of nodes that only forward, ascending, without those that are 0. */
  readonly potentials?: readonly { readonly node: number; readonly out: Rational; readonly in: Rational }[];
}

export type Certificate = CutCertificate | DualCertificate;

/** A tree-flow schedule of a collective. */
export interface TreeFlow {
  readonly kind: "trees";
  readonly topology: Topology;
  /** One group. Chunks say nothing here: a forest of K copies (over all roots) cuts the data into K equal parts. */
  readonly collective: Collective;
  /**
   * All-gather, broadcast: one "out". Reduce-scatter, reduce: one "in". All-reduce: "in", then "out", with as many copies at
   * each root in both.
   */
  readonly forests: readonly Forest[];
  /** The forests run side by side and share the links (all-reduce only); otherwise one after the other. */
  readonly concurrent: boolean;
  /** Switches that can duplicate (sum) messages do so: links that this spares carry nothing of the trees' later edges. */
  readonly inNetwork?: true;
  /** Each listed tree stands for its images under the whole group, one for each of the product(sizes) elements; null: for itself. */
  readonly symmetry: NetworkSymmetry | null;
  readonly certificate: Certificate | null;
}

export const treeCount = (forest: Forest): number => forest.root.length;

/** Returns the trees that a flow lists; images of a symmetric flow are not counted. */
export const listedTrees = ({ forests }: Pick<TreeFlow, "forests">): number =>
  forests.reduce((sum, forest) => sum + treeCount(forest), 0);

/** Returns the number of elements of the group under which listed trees are repeated; 1 without one. */
export const groupOrder = (symmetry: NetworkSymmetry | null): number =>
  symmetry === null ? 1 : symmetry.sizes.reduce((product, size) => product * size, 1);

/** Returns the copies of all trees of a forest, images included: into this many equal parts it cuts the data. */
export function copiesOf(forest: Forest, symmetry: NetworkSymmetry | null): bigint {
  let sum = 0n;
  for (const copies of forest.copies) sum += BigInt(copies);
  return sum * BigInt(groupOrder(symmetry));
}

/**
 * Returns the copies at each root (k; fractions where a flow is wrong) of collectives that want as many at all of their roots;
 * null for others: all-reduce, custom.
 */
export function copiesPerRoot({ collective, forests, symmetry }: Omit<TreeFlow, "kind">): Rational | null {
  const { kind, groupSize } = collective;
  const oneRoot = kind === "broadcast" || kind === "reduce";
  if (!oneRoot && kind !== "allgather" && kind !== "reducescatter") return null;
  return rational(copiesOf(forests[0], symmetry), oneRoot ? 1 : groupSize);
}

/** Throws InputError for a flow whose switches duplicate or sum, where NPUs must do all that. */
export function demandForwarding({ inNetwork }: Pick<TreeFlow, "inNetwork">, place: Place): void {
  if (inNetwork !== true) return;
  const expected = `trees whose switches only forward (${optionName("algorithm")} forestcoll)`;
  const received = "trees whose switches duplicate and sum (NVLS)";
  throw new InputError(place, expected, inWords(received)).saying(
    `${place} cannot be made of ${received}, only of ${expected}; an MSCCL++ plan can (${optionName("to")} mscclpp-json)`,
  );
}

/** Returns whether a schedule is a tree flow. */
export const isTreeFlow = (schedule: object): schedule is TreeFlow => "forests" in schedule;
