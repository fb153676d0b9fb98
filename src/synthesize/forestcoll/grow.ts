import { InternalError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { PackedTrees } from "../../engine/contract/kernels.ts";
import { designOf } from "../../model/dimensions/design.ts";
import { compare, multiply, type Rational, rational, toNumber } from "../../model/numbers/rational.ts";
import { linkOrbits } from "../../model/symmetry/network-maps.ts";
import { networkSymmetry } from "../../model/symmetry/network-symmetry.ts";
import { linkCount, outLinks, reversed, type Topology } from "../../model/topology/topology.ts";
import { expandTrees } from "../../model/trees/tree-expansion.ts";
import type { Certificate, Forest, NetworkSymmetry } from "../../model/trees/tree-flow.ts";
import type { TreeContext, TreeRequest } from "../tree-maker.ts";
import { forwardingOf, forwardsTooLittle } from "./forwarding.ts";
import {
  type FixedPacking,
  fixedCopies,
  nextCopies,
  type Optimum,
  optimumOf,
  type Packing,
  packable,
} from "./optimum.ts";
import { exchangedTrees } from "./orbit-exchange.ts";
import { nestedTrees } from "./orbit-nested.ts";
import { withFewPeers } from "./orbit-peers.ts";
import {
  type Choices,
  coversAllEdges,
  extended,
  forestOf,
  type OrbitBudgets,
  type OrbitTree,
  orbitBudgets,
  type Paths,
  sharesOf,
} from "./orbit-shares.ts";
import { FEW_PEERS, forestFrom, type PackingNetwork, packingNetwork, packTrees, triesAll } from "./packing.ts";
import { mendedForest, regrown } from "./regrow.ts";
import { mirroredForest } from "./requests.ts";
import { type ForestNetwork, type LogicalArc, type Strand, spanningTrees, splitSwitches, taken } from "./splitting.ts";

/** A forest and what was found out on the way. */
export interface Grown {
  readonly forest: Forest;
  readonly symmetry: NetworkSymmetry | null;
  /** Data of the whole collective per second at the optimum. */
  readonly optimalBytesPerSecond: Rational;
  /** Ascending nodes of the bottleneck cut of the whole network. */
  readonly cut: Int32Array;
  /** What proves the optimum: that cut, or weighted sets where nodes that only forward keep trees below it. */
  readonly certificate: Certificate;
  readonly policy: string;
  readonly trials: number;
  /** Its highest trees were not repacked, as the policy `quick` asks. */
  readonly couldBeLower: boolean;
  readonly repaired: { readonly kept: number; readonly changed: number } | null;
  /** Why the old forest was of no use, for people; none where it was repaired or there is none. Among the notes, too. */
  readonly unrepaired: readonly string[];
  readonly notes: readonly string[];
}

type Part = Pick<Grown, "policy" | "trials"> & {
  readonly trees: PackedTrees;
  readonly packing: Packing;
  readonly symmetry?: NetworkSymmetry;
  readonly couldBeLower?: boolean;
  readonly repaired?: Grown["repaired"];
  readonly notes?: readonly string[];
};

/**
 * Returns a forest in which member r contributes in proportion to weight[r] (all-gather: 1 each; broadcast: 1 at the root), at
 * the optimal rate, or the best with the copies per root that are asked for. In this order: an old forest repaired; the trees
 * of one root for all on a symmetric network, or on one that was before something failed, repaired; packing on the network as it
 * is; the dissertation's own algorithms 2 to 4.
 */
export async function growForest(
  request: TreeRequest,
  context: TreeContext,
  direction: "out" | "in",
  weight: Float64Array,
): Promise<Grown> {
  const { collective, copiesPerRoot } = request;
  const { kernels } = context;
  const {
    network,
    unit,
    optimum,
    cut,
    certificate,
    notes: forwarded,
  } = await rated(request, context, direction, weight);
  const packing =
    typeof copiesPerRoot === "number"
      ? await fixedCopies(network, weight, BigInt(copiesPerRoot), optimum, kernels.rate)
      : await fewestCopies(network, weight, optimum, copiesPerRoot === "exact", kernels.rate);
  const isChosen = copiesPerRoot === null && compare(packing.bytesPerSecond, optimum.bytesPerSecond) < 0;
  const old = await repaired(request, context, direction, weight, network, optimum);
  const part =
    old.part ??
    symmetric(request, direction, weight, packing) ??
    (await ofDesign(request, context, direction, weight, network, packing)) ??
    (await packedOrPublished(request, context, network, weight, packing));
  const unrepaired =
    old.reason === undefined ? [] : [`made from scratch, for the old trees could not be repaired: ${old.reason}`];
  const copyBytesPerSecond = multiply(part.packing.copyBytesPerSecond, unit);
  const forest =
    part.symmetry === undefined
      ? forestFrom(network, part.trees, direction, copyBytesPerSecond, collective.groupMembers)
      : { direction, ...part.trees, copyBytesPerSecond };
  return {
    forest,
    symmetry: part.symmetry ?? null,
    optimalBytesPerSecond: multiply(optimum.bytesPerSecond, unit),
    cut,
    certificate,
    policy: part.policy,
    trials: part.trials,
    couldBeLower: part.couldBeLower ?? false,
    repaired: part.repaired ?? null,
    notes: [
      ...forwarded,
      ...(typeof copiesPerRoot === "number" ? [shareNote(part.packing, optimum, collective.kind)] : []),
      ...(isChosen && part.repaired === undefined ? [chosenNote(part.packing, optimum, collective.kind)] : []),
      ...(part.notes ?? []),
      ...unrepaired,
    ],
    unrepaired,
  };
}

/** A network as trees of a request may use it, with its optimum in its units. */
interface Rated extends Pick<Grown, "cut" | "certificate" | "notes"> {
  readonly network: PackingNetwork;
  /** Bytes per second in one unit of its bandwidths. */
  readonly unit: Rational;
  readonly optimum: Optimum;
}

async function rated(
  { topology, collective, usable }: TreeRequest,
  { kernels, lp }: TreeContext,
  direction: "out" | "in",
  weight: Float64Array,
): Promise<Rated> {
  const whole = packingNetwork(topology, collective.groupMembers, usable, direction);
  const optimum = await optimumOf(whole, weight, kernels.rate);
  const cut = Int32Array.from(whole.node.filter((_, i) => optimum.cut[i] === 1)).sort();
  if (!forwardsTooLittle(whole))
    return {
      network: whole,
      unit: rational(1),
      optimum,
      cut,
      certificate: { kind: "cut", nodes: cut, direction },
      notes: [],
    };
  const { network, unit, certificate, rate, bound } = await forwardingOf(
    whole,
    weight,
    direction,
    kernels.rate,
    await lp(),
  );
  const share = Math.floor((10_000 * toNumber(rate)) / toNumber(bound)) / 100;
  return {
    ...{ network, unit, cut, certificate },
    optimum: await optimumOf(network, weight, kernels.rate),
    notes: compare(rate, bound) === 0 ? [] : [`not proved optimal: ${share} % of the bound of the linear program`],
  };
}

/** Returns the optimum that growForest would reach, and the cut that keeps it from more. */
export async function optimalRate(
  request: TreeRequest,
  context: TreeContext,
  direction: "out" | "in",
  weight: Float64Array,
): Promise<Pick<Grown, "optimalBytesPerSecond" | "cut">> {
  const { optimum, unit, cut } = await rated(request, context, direction, weight);
  return { optimalBytesPerSecond: multiply(optimum.bytesPerSecond, unit), cut };
}

/** Returns the in-forest to go with an out-forest: its mirror image, or where some link has no opposite one its own trees. */
export async function growBack(
  request: TreeRequest,
  context: TreeContext,
  weight: Float64Array,
  out: Grown,
): Promise<Pick<Grown, "forest" | "trials" | "notes" | "policy" | "couldBeLower">> {
  const mirrored = mirroredForest(request.topology, request.usable, out.forest);
  if (mirrored !== null) return { ...out, forest: mirrored, trials: 0, notes: [] };
  return growForest(request, context, "in", weight);
}

/** Numbers of copies per root that are tried below the one for which all links hold whole copies. */
const FEW_COPIES = Array.from({ length: 16 }, (_, i) => i + 1);
/** Above so many copies per root, fewer are made unless the optimum is asked for; these numbers are tried, too. */
const MANY_COPIES = 1000n;
const MORE_COPIES = [20, 24, 30, 36, 48, 60, 72, 96, 120, 180, 240, 360, 480, 720, 1000];
/** Fewer copies than the optimum needs are taken at once where they reach this share of it. */
const NEARLY = rational(999, 1000);

/**
 * Returns the packing at the optimal rate with the fewest copies: k of the dissertation, or fewer that do as well. Where these are
 * many and `exact` does not ask for them: the fewest copies that come within 0.1 % of the optimum, or of those tried the best.
 */
async function fewestCopies(
  network: PackingNetwork,
  weight: Float64Array,
  optimum: Optimum,
  exact: boolean,
  rate: TreeContext["kernels"]["rate"],
): Promise<Packing> {
  const many = !exact && optimum.k > MANY_COPIES;
  const asked = many ? NEARLY : rational(1);
  const enough = multiply(optimum.bytesPerSecond, asked);
  let best: FixedPacking | null = null;
  for (const k of many ? [...FEW_COPIES, ...MORE_COPIES] : FEW_COPIES) {
    if (k >= optimum.k) break;
    const found = await fixedCopies(network, weight, BigInt(k), optimum, rate);
    if (found.wider !== null) continue;
    if (compare(found.bytesPerSecond, enough) >= 0) return found;
    if (best === null || compare(found.bytesPerSecond, best.bytesPerSecond) > 0) best = found;
  }
  return many && best !== null ? best : optimum;
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
      ? `; at least ${inPercent((share * toNumber(copiesPerBandwidth)) / toNumber(packing.mostCopiesPerBandwidth))} were sure beforehand`
      : "";
  return `${trees} ${k === 1n ? "reaches" : "reach"} ${percentOf(packing, optimum)} of ${of}${granted}`;
}

/** What copies per root reach that were chosen because the optimum takes too many. */
const chosenNote = (packing: Packing, optimum: Optimum, kind: string): string =>
  `${shareNote(packing, optimum, kind)}, which takes ${optimum.k} (${optionName("k")} exact)`;

/** Whether every NPU takes part alike and may use all of the network. */
export const isWhole = ({ topology, collective, usable }: TreeRequest, weight: Float64Array): boolean =>
  collective.groupSize === topology.npuCount &&
  collective.groupMembers.every((npu, rank) => npu === rank) &&
  weight.every((w) => w === weight[0]) &&
  usable.every((amount, link) => amount === topology.linkBytesPerSecond[link]);

/** Trees of NPU 0 that stand for those of all, where the network has the maps and the trees exist. */
function symmetric(request: TreeRequest, direction: "out" | "in", weight: Float64Array, packing: Packing): Part | null {
  if (!isWhole(request, weight) || !triesAll(request.policy) || packable(packing) === null) return null;
  const found = oneForAll(request.topology, direction, packing, request.policy);
  if (found === null) return null;
  const policy = `one root for all by symmetry${request.policy === FEW_PEERS ? ", few peers" : ""}`;
  return { ...found, packing, policy, trials: 1 };
}

/** Returns the trees of NPU 0 with the maps that take them to all others, null where there are none. */
function oneForAll(topology: Topology, direction: "out" | "in", packing: Packing, policy: string | null) {
  const way = direction === "out" ? topology : reversed(topology);
  const symmetry = networkSymmetry(way);
  if (symmetry === null) return null;
  const found = symmetricForest(way, symmetry, Number(packing.k), packing.copiesPerBandwidth, policy);
  return found && { trees: found.trees, symmetry };
}

/** Up to so many NPUs trees packed anew are repacked until they are low, in seconds. */
const FEW_NPUS = 256;

/**
 * Returns the trees of the network as it was before something failed (`designOf`), one root for all, with those that the failure
 * touched grown again; null where it was not symmetric, or that does not succeed. They are as fast as trees packed anew, lower, and
 * made in a fraction of the time.
 */
async function ofDesign(
  request: TreeRequest,
  { kernels }: TreeContext,
  direction: "out" | "in",
  weight: Float64Array,
  network: PackingNetwork,
  packing: Packing,
): Promise<Part | null> {
  const { topology, collective, policy } = request;
  if (network.npuCount <= FEW_NPUS || !isWhole(request, weight) || !triesAll(policy)) return null;
  const columns = packable(packing);
  const design = designOf(topology);
  if (columns === null || design === null || design === topology) return null;
  const found = oneForAll(design, direction, packing, policy);
  if (found === null) return null;
  const { copyBytesPerSecond } = packing;
  const ofOne = { direction, ...found.trees, copyBytesPerSecond };
  const forest = writtenOut(design, collective, ofOne, found.symmetry, network);
  const mended = await mendedForest({ forest, network, capacity: columns.capacity, isOwn: true }, kernels, request);
  if (mended === null) return null;
  const { trees, kept, changed } = mended;
  const grownAgain = `one root for all before something failed, ${changed} of ${kept + changed} trees grown again`;
  return { trees, packing, policy: grownAgain, trials: 1 };
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
    policy: `repaired, ${changed} of ${kept + changed} trees grown again`,
    trials: 1,
    repaired: { kept, changed },
    notes:
      compare(packing.bytesPerSecond, optimum.bytesPerSecond) < 0
        ? [shareNote(packing, optimum, request.collective.kind)]
        : [],
  };
  return { part };
}

/**
 * Returns the trees of a symmetric forest and all their images in the numbers of the network that is left of a design's: -1 for
 * links that failed. O(links of all edges).
 */
export function writtenOut(
  design: Topology,
  collective: TreeRequest["collective"],
  ofOne: Forest,
  symmetry: NetworkSymmetry,
  network: PackingNetwork,
): Forest {
  const numberOf = new Int32Array(linkCount(design)).fill(-1);
  network.link.forEach((link, i) => {
    numberOf[link] = i;
  });
  const flow = { kind: "trees", topology: design, collective, forests: [ofOne], concurrent: false } as const;
  const [forest] = expandTrees({ ...flow, symmetry, certificate: null }).forests;
  const { links } = forest;
  for (let i = 0; i < links.length; i++) links[i] = numberOf[links[i]];
  return forest;
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
      return step === 0 ? part : { ...part, notes: ["better trees with that many copies are not ruled out"] };
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

/** Trees of root 0 that stand for all their images. */
export interface SymmetricForest {
  /** Their copies add up to k. */
  readonly trees: PackedTrees;
  /** Edges between the root and the farthest NPU. */
  readonly height: number;
}

/**
 * Returns k trees of NPU 0 (equal ones as one) that, with their images under the group as the trees of all other NPUs, put at
 * most floor(U * bandwidth) copies on each link; null when it finds none, although there may be. An optimum that is the same
 * under all maps of the network always exists (optimal packings are convex), though not for every k.
 *
 * Zhao 2026, 4.5 builds the trees of all roots on the network without its switches; here one root stands for all, and only the
 * load of each link orbit matters. First shortest-path trees, whose height is the least there is; else the lower of trees
 * grown tier by tier and of shortest-path trees repaired by exchanges. With the policy `few-peers` NPUs then get fewer peers.
 */
export function symmetricForest(
  topology: Topology,
  symmetry: NetworkSymmetry,
  k: number,
  U: Rational,
  policy: string | null = null,
): SymmetricForest | null {
  if (!(k * topology.npuCount <= Number.MAX_SAFE_INTEGER)) return null;
  const budgets = orbitBudgets(topology, linkOrbits(topology, symmetry), k, U);
  if (!coversAllEdges(topology, budgets, k)) return null;
  const paths: Paths = { link: [], before: [] };
  const columns = (found: readonly OrbitTree[] | null): SymmetricForest | null => {
    if (found === null) return null;
    const trees = policy === FEW_PEERS ? withFewPeers(topology, symmetry, budgets.orbit, paths, found) : found;
    return forestOf(topology, paths, trees);
  };
  const shortest = columns(shortestTrees(topology, paths, budgets, k));
  if (shortest !== null) return shortest;
  const nested = columns(nestedTrees(topology, paths, budgets, k));
  const exchanged = columns(exchangedTrees(topology, paths, budgets, k));
  if (nested === null || exchanged === null) return nested ?? exchanged;
  return nested.height <= exchanged.height ? nested : exchanged;
}

/** Equal trees over the NPUs of a network with switches. */
export interface PaperTree {
  readonly root: number;
  readonly copies: bigint;
  /** [npus - 1] links of each edge, from an NPU that the tree has reached to a new one, through switches; parents first. */
  readonly edges: readonly (readonly number[])[];
}

/** Copies that fit on each link and that start at each NPU. */
type Copies = Pick<Packing, "capacity" | "copies">;

/**
 * Returns trees over NPUs 0 .. npuCount - 1, copies[v] of them rooted at v and no more than `capacity` [links] on any link, by
 * the dissertation's own procedures (Zhao 2026, algorithms 2 to 4): for small networks, numbers of any size, and where nothing
 * else succeeds. Throws InfeasibleError as `splitSwitches` does.
 */
export const paperForest = (network: ForestNetwork, packing: Copies): PackedTrees =>
  packedColumns(paperTrees(network, packing));

/** Returns the trees of `paperForest` one by one. */
export function paperTrees(network: ForestNetwork, { capacity, copies }: Copies): PaperTree[] {
  const arcs = splitSwitches(network, capacity, copies);
  return spanningTrees(arcs, copies).flatMap(({ root, copies: count, arcs: used }) => {
    const edges = used.map((arc) => alongLinks(arcs[arc], count, network));
    return intervals(edges, count).map((cut) => ({ root, copies: cut.copies, edges: cut.paths }));
  });
}

/** Returns where `copies` copies of an arc run. */
function alongLinks(arc: LogicalArc, copies: bigint, network: ForestNetwork): Strand[] {
  return taken(arc.strands, copies).map(({ links, amount }) => ({ links: withoutLoops(links, network), amount }));
}

/** Returns the walk without what it does between two visits of a node. */
export function withoutLoops(
  links: readonly number[],
  { linkSource, linkTarget }: Pick<ForestNetwork, "linkSource" | "linkTarget">,
): number[] {
  const path: number[] = [];
  for (const link of links) {
    path.push(link);
    const first = path.findIndex((earlier) => linkSource[earlier] === linkTarget[link]);
    if (first >= 0) path.length = first;
  }
  return path;
}

/** Cuts copies 0 .. copies - 1 where any edge changes its path. */
function intervals(edges: readonly (readonly Strand[])[], copies: bigint) {
  const cuts: { paths: (readonly number[])[]; copies: bigint }[] = [];
  const at = edges.map(() => 0);
  const left = edges.map(([first]) => first.amount);
  for (let rest = copies; rest > 0n; ) {
    const least = left.reduce((a, b) => (b < a ? b : a), rest);
    cuts.push({ paths: edges.map((strands, i) => strands[at[i]].links), copies: least });
    rest -= least;
    for (const [i, amount] of left.entries()) {
      left[i] = amount - least;
      if (left[i] === 0n && rest > 0n) left[i] = edges[i][++at[i]].amount;
    }
  }
  return cuts;
}

/** Returns the trees in columns; those of 2^53 copies or more as several. */
function packedColumns(trees: readonly PaperTree[]): PackedTrees {
  const most = BigInt(Number.MAX_SAFE_INTEGER);
  const listed: PaperTree[] = trees.flatMap((tree) => {
    const parts = Array.from({ length: Number((tree.copies - 1n) / most) }, () => ({ ...tree, copies: most }));
    return [...parts, { ...tree, copies: tree.copies - BigInt(parts.length) * most }];
  });
  const edges = listed.flatMap((tree) => tree.edges);
  const linkOffset = new Float64Array(edges.length + 1);
  for (const [i, links] of edges.entries()) linkOffset[i + 1] = linkOffset[i] + links.length;
  return {
    root: Int32Array.from(listed, ({ root }) => root),
    copies: Float64Array.from(listed, ({ copies }) => Number(copies)),
    linkOffset,
    links: Int32Array.from(edges.flat()),
  };
}

/** A switch remembers at most this many kinds of paths from one distance. */
const MOST_KINDS = 16;

/**
 * Returns k trees of root 0 in which every NPU is as many hops from the root as in the network (the least height there is),
 * together within the budgets; null where there are none, or where budgets overlap in a way that flows do not cover.
 *
 * BFB (Zhao 2026, chapter 3) by orbits: any choice of parents one hop nearer to the root is a tree, so only the number of paths
 * of each kind (set of link orbits) matters, a flow from NPUs with equal choices over kinds to nested budgets. It is integral,
 * hence exact, unlike the linear program (3.1), and serves all distances at once. O(links + flow on classes).
 */
function shortestTrees(
  topology: Topology,
  paths: Paths,
  budgets: OrbitBudgets,
  k: number,
): readonly OrbitTree[] | null {
  const choices = choicesOf(topology, paths, budgets);
  return choices === null ? null : sharesOf(choices, budgets.budget, k);
}

/** Collects the paths into each NPU from those one hop nearer to the root, one of each kind; null when one is out of reach. */
function choicesOf(topology: Topology, paths: Paths, { orbit, budget }: OrbitBudgets): Choices | null {
  const { npuCount, linkTarget } = topology;
  const { offset, links } = outLinks(topology);
  const kinds: PathKinds = pathKinds(budget.length);
  const distance = new Int32Array(npuCount).fill(-1);
  distance[0] = 0;
  const choiceKind: number[][] = Array.from({ length: npuCount }, () => []);
  const choicePath: number[][] = Array.from({ length: npuCount }, () => []);
  const reached = new Int32Array(npuCount);
  let last = 1;

  for (let first = 0, hops = 1; first < last; hops++) {
    // labels of this distance: kinds of paths that end at each switch
    const switchKinds = new Map<number, number[]>();
    const labels: { node: number; kind: number; path: number }[] = [];
    const step = (kind: number, path: number, link: number): void => {
      const node = linkTarget[link];
      if (node < npuCount && distance[node] >= 0 && distance[node] !== hops) return;
      const next = budget[orbit[link]] > 0 ? kinds.extended(kind, orbit[link]) : -1;
      if (next < 0) return;
      if (node < npuCount) {
        if (distance[node] < 0) {
          distance[node] = hops;
          reached[last++] = node;
        }
        if (choiceKind[node].includes(next)) return;
        choiceKind[node].push(next);
        choicePath[node].push(extended(paths, path, link));
        return;
      }
      const known = switchKinds.get(node) ?? [];
      if (known.includes(next) || known.length === MOST_KINDS) return;
      known.push(next);
      switchKinds.set(node, known);
      labels.push({ node, kind: next, path: extended(paths, path, link) });
    };
    const until = last;
    for (; first < until; first++) {
      const v = reached[first];
      for (let i = offset[v]; i < offset[v + 1]; i++) step(-1, -1, links[i]);
    }
    for (let i = 0; i < labels.length; i++) {
      const { node, kind, path } = labels[i];
      for (let j = offset[node]; j < offset[node + 1]; j++) step(kind, path, links[j]);
    }
  }
  return last < npuCount ? null : { kindOrbits: kinds.orbits, choiceKind, choicePath };
}

/** Kinds of paths: sets of link orbits, each used once. A kind that would use an orbit twice has no number (-1). */
interface PathKinds {
  /** Orbits of each kind, ascending. */
  readonly orbits: readonly (readonly number[])[];
  /** Returns the kind of a path of `kind` (-1: none yet) and one more link; -1 when it uses that orbit already. */
  extended(kind: number, orbit: number): number;
}

function pathKinds(orbitCount: number): PathKinds {
  const orbits: number[][] = [];
  const byKey = new Map<string, number>();
  const byStep = new Map<number, number>();

  const made = (kind: number, orbit: number): number => {
    const before = kind < 0 ? [] : orbits[kind];
    if (before.includes(orbit)) return -1;
    const all = [...before, orbit].sort((a, b) => a - b);
    const key = all.join();
    const known = byKey.get(key) ?? orbits.push(all) - 1;
    byKey.set(key, known);
    return known;
  };
  const extended = (kind: number, orbit: number): number => {
    const step = (kind + 1) * orbitCount + orbit;
    const known = byStep.get(step) ?? made(kind, orbit);
    byStep.set(step, known);
    return known;
  };
  return { orbits, extended };
}
