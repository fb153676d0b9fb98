import { designOf } from "../../model/dimensions/design.ts";
import { compare, multiply, type Rational, rational } from "../../model/numbers/rational.ts";
import { networkSymmetry } from "../../model/symmetry/network-symmetry.ts";
import { oppositeLinks } from "../../model/topology/link-classes.ts";
import { nodeCount, type Topology } from "../../model/topology/topology.ts";
import type { DualCertificate, Forest, TreeFlow } from "../../model/trees/tree-flow.ts";
import { rateOfForest } from "../../model/trees/tree-multicast.ts";
import type { TreeContext, TreeRequest } from "../tree-maker.ts";
import { MOST_MEMBERS, MOST_ORBITS } from "./allreduce-forests.ts";
import { allReduceRates, imagesOf, provedHere } from "./allreduce-rates.ts";
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
  /** What proved the rate before something failed, if it still proves something. */
  readonly dual: Dual;
  /** Out-trees as they were, and those that were grown again. */
  readonly kept: number;
  readonly changed: number;
}

type Dual = ReturnType<typeof provedHere>;

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
  const { forest, certificate } = before;
  const rooting = withoutTrees(forest, network.npuCount - 1, narrowMembers(topology, cut, members));
  const enough = multiply(multiply(rateOfForest(forest), rational(1, 2)), ENOUGH);
  const { copyBytesPerSecond } = forest;
  for (const damaged of waysToMend(rooting, network, opposite, copyBytesPerSecond)) {
    const mended = await mendedForest(damaged, context.kernels, request);
    if (mended === null) continue;
    const out = forestFrom(network, mended.trees, "out", copyBytesPerSecond, members);
    const back = mirroredForest(topology, usable, out);
    const forests = back && sideBySide([back, out], members.length, usable);
    if (forests === null || compare(rateOfForest(forests[0]), enough) < 0) continue;
    const proof = await certificate();
    const dual = proof && provedHere(topology, members, usable, proof);
    return { ...mended, forests, rate: rateOfForest(forests[0]), dual };
  }
  return null;
}

/**
 * Returns what trees that are grown again may use, half as wide as they are: what in-trees leave that are the sound ones turned
 * around, so that both may want more than there is; then what is left if each has to leave as much room for itself turned around.
 */
function* waysToMend(
  forest: Damaged["forest"],
  network: PackingNetwork,
  opposite: Int32Array,
  copyBytesPerSecond: Rational,
): Generator<Damaged> {
  const half = multiply(copyBytesPerSecond, rational(1, 2));
  yield { forest, network, capacity: roomBeside(forest, network, opposite, half) };
  yield { forest, network, capacity: copiesThatFit(network, half), opposite, isOwn: true };
}

/** The network before something failed, in the numbers of the network as it is. */
interface Before {
  /** Trees of an all-gather. */
  readonly forest: Forest;
  /** Returns what proved the rate of the all-reduce; null where nothing does. */
  readonly certificate: () => Promise<DualCertificate | null>;
}

/** Returns what is known of the network before something failed, by the flow to be repaired or by the design; null: nothing. */
async function treesBefore(
  request: TreeRequest,
  context: TreeContext,
  network: PackingNetwork,
): Promise<Before | null> {
  const { topology, collective, repair } = request;
  const weight = contributions(collective);
  if (repair !== null && !repair.concurrent && repair.collective.kind === "allreduce") {
    const forest = damagedForest(repair, topology, collective.groupMembers, network, "out");
    return forest && { forest, certificate: () => Promise.resolve(dualByName(topology, repair)) };
  }
  const design = designOf(topology);
  if (design === null || design === topology || !isWhole(request, weight)) return null;
  const whole = { ...request, topology: design, usable: design.linkBytesPerSecond, repair: null };
  const { forest, symmetry } = await growForest(whole, context, "out", weight);
  if (symmetry === null) return null;
  const certificate = async () => {
    if (collective.groupSize > MOST_MEMBERS) return null;
    const solvers = { rate: context.kernels.rate, lp: await context.lp() };
    const options = { maps: symmetry.steps, orbits: MOST_ORBITS };
    return (await allReduceRates(design, collective.groupMembers, solvers, options))?.certificate ?? null;
  };
  return { forest: writtenOut(design, collective, forest, symmetry, network), certificate };
}

/** Returns the weighted cuts of an old flow in the numbers of the network as it is, by the names of nodes; null where it has none. */
function dualByName(topology: Topology, { certificate, topology: old }: TreeFlow): DualCertificate | null {
  if (certificate?.kind !== "dual") return null;
  const numberOf = new Map(topology.nodeNames.map((name, node) => [name, node]));
  const now = Array.from(old.nodeNames, (name) => numberOf.get(name) ?? -1);
  const { cuts, potentials = [] } = certificate;
  return {
    kind: "dual",
    cuts: cuts.map((cut) => ({ ...cut, nodes: cut.nodes.map((node) => now[node]) })),
    potentials: potentials.map((potential) => ({ ...potential, node: now[potential.node] })),
  };
}

/**
 * Marks the members on the side of a cut which has fewer, and those of its images under maps of the design into which or out of
 * which links failed as well, [members]. O(links), and O(nodes) for each map and image.
 */
function narrowMembers(topology: Topology, cut: Int32Array, members: Int32Array): Uint8Array {
  const inside = new Uint8Array(nodeCount(topology));
  for (const node of cut) inside[node] = 1;
  const most = 2 * members.reduce((sum, npu) => sum + inside[npu], 0) > members.length;
  const narrow = most ? inside.map((mark) => 1 - mark) : inside;
  const hurt = hurtImages(topology, narrow);
  return Uint8Array.from(members, (npu) => (narrow[npu] === 1 || hurt.some((image) => image[npu] === 1) ? 1 : 0));
}

/** Returns the images of a set under the maps of the design that failed links enter or leave; none where they overlap. */
function hurtImages(topology: Topology, set: Uint8Array): Uint8Array[] {
  const design = designOf(topology);
  if (design === null || nodeCount(design) > set.length) return [];
  const { linkSource, linkTarget, linkBytesPerSecond } = design;
  const hurt = [...linkSource.keys()].filter((link) => topology.linkBytesPerSecond[link] !== linkBytesPerSecond[link]);
  const images = imagesOf(set, networkSymmetry(design)?.steps ?? [], set.length) ?? [];
  return images.filter((image) => hurt.some((link) => image[linkSource[link]] !== image[linkTarget[link]]));
}

/**
 * Returns how many copies of out-trees, half as wide as now, each link has room for beside in-trees, which are the sound out-trees
 * turned around. What both leave is offered both ways, for few trees are grown again; an odd copy only away from members, for one that
 * both ways take makes all copies narrower.
 */
function roomBeside(
  { copies, linkOffset, links }: Damaged["forest"],
  network: PackingNetwork,
  opposite: Int32Array,
  width: Rational,
): Float64Array {
  const { npuCount, linkSource, bandwidth } = network;
  const loads = new Float64Array(bandwidth.length);
  for (let tree = 0; tree < copies.length; tree++) {
    const own = links.subarray(linkOffset[tree * (npuCount - 1)], linkOffset[(tree + 1) * (npuCount - 1)]);
    if (own.includes(-1)) continue;
    for (const link of own) loads[link] += copies[tree];
  }
  return copiesThatFit(network, width).map((fitting, link) => {
    const room = fitting - loads[opposite[link]];
    const odd = linkSource[link] < npuCount ? 0 : Math.abs(room - loads[link]) % 2;
    return Math.max(0, room - odd);
  });
}

/** Returns how many copies of this width fit on each link. */
function copiesThatFit({ bandwidth }: PackingNetwork, { num, den }: Rational): Float64Array {
  const fitting = new Map([...new Set(bandwidth)].map((bytes) => [bytes, Number((BigInt(bytes) * den) / num)]));
  return bandwidth.map((bytes) => fitting.get(bytes) as number);
}
