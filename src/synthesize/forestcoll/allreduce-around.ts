import { designOf } from "../../model/dimensions/design.ts";
import { compare, multiply, type Rational, rational } from "../../model/numbers/rational.ts";
import { oppositeLinks } from "../../model/topology/link-classes.ts";
import type { Forest } from "../../model/trees/tree-flow.ts";
import { rateOfForest } from "../../model/trees/tree-multicast.ts";
import type { TreeContext, TreeRequest } from "../tree-maker.ts";
import { growForest, isWhole, writtenOut } from "./grow.ts";
import { forestFrom, type PackingNetwork, packingNetwork } from "./packing.ts";
import { type Damaged, damagedForest, mendedForest, withoutTrees } from "./regrow.ts";
import { contributions, mirroredForest, sideBySide } from "./requests.ts";

/** Trees are of use that reach this share of what the network could before something failed. */
const ENOUGH = rational(97, 100);

/** In-trees and out-trees of an all-reduce that run side by side. */
export interface Around {
  /** "in", then "out". */
  readonly forests: readonly [Forest, Forest];
  /** Buffer bytes per second. */
  readonly rate: Rational;
  /** Out-trees as they were, and those that were grown again. */
  readonly kept: number;
  readonly changed: number;
}

/**
 * Returns trees for an all-reduce on a network in which something failed, out of those of an all-gather on the network before: of
 * `request.repair`, or of the design. The narrower side of `cut`, the bottleneck of an all-gather, roots none: then every byte has to enter and to leave it once,
 * not twice, and what its links have to spare makes up for those that failed. Trees that used these are packed again, and in-trees
 * are out-trees turned around. Null where there is no such set, nothing is known of the network before, or the trees reach less
 * than 97 % of what it could. O(links of all edges), and the packing of what is grown again.
 */
export async function aroundFailure(
  request: TreeRequest,
  context: TreeContext,
  cut: Int32Array,
): Promise<Around | null> {
  const { topology, collective, usable } = request;
  const members = collective.groupMembers;
  const network = packingNetwork(topology, members, usable, "out");
  const opposite = oppositeLinks(network.linkSource, network.linkTarget, [network.bandwidth]);
  const before = opposite && (await treesBefore(request, context, network));
  if (opposite === null || before === null) return null;
  const rooting = withoutTrees(before, network.npuCount - 1, isNarrow(cut, members));
  const capacity = roomBeside(rooting, network, opposite, before.copyBytesPerSecond);
  const mended = await mendedForest({ forest: rooting, network, capacity, isOwn: true }, context.kernels, request);
  if (mended === null) return null;
  const out = forestFrom(network, mended.trees, "out", before.copyBytesPerSecond, members);
  const back = mirroredForest(topology, usable, out);
  if (back === null) return null;
  const forests = sideBySide([back, out], members.length, usable);
  if (forests === null) return null;
  const rate = rateOfForest(forests[0]);
  const enough = multiply(multiply(rateOfForest(before), rational(1, 2)), ENOUGH);
  return compare(rate, enough) < 0 ? null : { ...mended, forests, rate };
}

/** Returns the trees of an all-gather on the network before something failed, in the numbers of the network as it is. */
async function treesBefore(
  request: TreeRequest,
  context: TreeContext,
  network: PackingNetwork,
): Promise<Forest | null> {
  const { topology, collective, repair } = request;
  const weight = contributions(collective);
  if (repair !== null && !repair.concurrent && repair.collective.kind === "allreduce") {
    return damagedForest(repair, topology, collective.groupMembers, network, "out");
  }
  const design = designOf(topology);
  if (design === null || design === topology || !isWhole(request, weight)) return null;
  const whole = { ...request, topology: design, usable: design.linkBytesPerSecond, repair: null };
  const { forest, symmetry } = await growForest(whole, context, "out", weight);
  return symmetry && writtenOut(design, collective, forest, symmetry, network);
}

/** Marks the members on that side of a cut which has fewer, [members]. */
function isNarrow(cut: Int32Array, members: Int32Array): Uint8Array {
  const inside = new Set(cut);
  const marks = Uint8Array.from(members, (npu) => (inside.has(npu) ? 1 : 0));
  const most = 2 * marks.reduce((sum, mark) => sum + mark, 0) > members.length;
  return most ? marks.map((mark) => 1 - mark) : marks;
}

/**
 * Returns how many copies of out-trees, half as wide as now, each link has room for beside in-trees, which are the sound out-trees
 * turned around. What both leave is offered both ways, for few trees are grown again; an odd copy only away from members, for one that
 * both ways take makes all copies narrower.
 */
function roomBeside(
  { copies, linkOffset, links }: Damaged["forest"],
  { npuCount, bandwidth, linkSource }: PackingNetwork,
  opposite: Int32Array,
  { num, den }: Rational,
): Float64Array {
  const loads = new Float64Array(bandwidth.length);
  for (let tree = 0; tree < copies.length; tree++) {
    const own = links.subarray(linkOffset[tree * (npuCount - 1)], linkOffset[(tree + 1) * (npuCount - 1)]);
    if (own.includes(-1)) continue;
    for (const link of own) loads[link] += copies[tree];
  }
  const widths = new Map([...new Set(bandwidth)].map((bytes) => [bytes, Number((2n * BigInt(bytes) * den) / num)]));
  return bandwidth.map((bytes, link) => {
    const room = (widths.get(bytes) as number) - loads[opposite[link]];
    const odd = linkSource[link] < npuCount ? 0 : Math.abs(room - loads[link]) % 2;
    return Math.max(0, room - odd);
  });
}
