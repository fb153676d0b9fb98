import { InputError, InternalError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { compare, type Rational } from "../../model/numbers/rational.ts";
import { isActive, isNpu, nodeCount, reversed, type Topology } from "../../model/topology/topology.ts";
import { expandTrees } from "../../model/trees/tree-expansion.ts";
import type { DualCertificate, Forest, TreeFlow } from "../../model/trees/tree-flow.ts";
import { fittingBandwidth, trafficOf } from "../../model/trees/tree-multicast.ts";
import type { TreeContext, TreeRequest, TreeSynthesis } from "../tree-maker.ts";
import { FEW_MEMBERS, forestOf, MOST_COPIES, MOST_MEMBERS, MOST_ORBITS, mirrorOf } from "./allreduce-forests.ts";
import { type AllReduceRates, allReduceRates } from "./allreduce-rates.ts";
import { growForest, optimalRate, withoutLoops } from "./grow.ts";
import { packingNetwork } from "./packing.ts";
import { mirroredForest, withEqualCopies } from "./requests.ts";

/** Flows that count on switches which duplicate and sum, on any network. */

/** What a switch must be able to do for trees of each direction. */
const TRAIT = { out: "multicast", in: "aggregation" } as const;

/** What switches do, in words. */
const ABILITY = {
  "multicast,aggregation": "sum and duplicate",
  multicast: "duplicate",
  aggregation: "sum",
} as const;

/** What a switch must be able to do. */
export type SwitchTrait = "multicast" | "aggregation";

/** Returns in words what switches with these traits do: "duplicate". */
export const abilityOf = (traits: readonly SwitchTrait[]): string => ABILITY[traits.join() as keyof typeof ABILITY];

/** Returns what a flow counts on, in words: which of the `switches` (one at least) do what. */
export const abilityNote = (
  { nodeNames }: Topology,
  switches: readonly number[],
  traits: readonly SwitchTrait[],
): string =>
  `switches ${abilityOf(traits)} at the rate of their links: ${nodeNames[switches[0]]}${switches.length === 1 ? "" : ` and ${switches.length - 1} more`}`;

/** Returns the switches that have all these traits, ascending. Throws InputError where there are none, and for a repair. */
function ableSwitches({ topology, repair }: TreeRequest, traits: readonly SwitchTrait[]): number[] {
  if (repair !== null)
    throw new InputError(optionName("repair"), "trees whose switches only forward", optionName("offload"));
  const able = Array.from({ length: nodeCount(topology) }, (_, node) => node).filter(
    (node) => !isNpu(topology, node) && traits.every((trait) => topology.nodeTraits[node][trait] === true),
  );
  if (able.length === 0)
    throw new InputError(optionName("offload"), `switches that ${abilityOf(traits)}`, topology.name)
      .as("not-applicable")
      .saying(
        `${topology.name} has no switches that ${abilityOf(traits)}, on which trees could count (${optionName("offload")})`,
      );
  return able;
}

/** Returns the request for trees that have to reach these switches as well. */
function reaching(request: TreeRequest, stops: readonly number[]): TreeRequest {
  if (stops.length === 0) return request;
  const { collective } = request;
  const groupMembers = Int32Array.from([...collective.groupMembers, ...stops]);
  return { ...request, collective: { ...collective, groupMembers, groupSize: groupMembers.length } };
}

/** Returns what members and stops contribute: stops nothing. */
function withStops(weight: Float64Array, stops: readonly number[]): Float64Array {
  const all = new Float64Array(weight.length + stops.length);
  all.set(weight);
  return all;
}

/**
 * Returns a forest whose switches duplicate (direction "in": sum), in which member r contributes in proportion to weight[r], as the
 * flow of a gather, broadcast, scatter or reduction; its certificate is the narrowest cut, which bounds every schedule.
 *
 * Where switches duplicate, Zhao 2026, 4.4 holds for more than flows over paths: a cut is all that bounds trees that reach these
 * switches as well (Edmonds), so the forest is packed as if they were members that contribute nothing. Switches that a cut keeps
 * from getting everything are left to forward, and so are all of them where that is faster. What such trees reach is within the
 * limit of the cut over the members alone: they meet it where no switch had to be left out and no other forwards too little.
 * Throws InputError where no switch is able.
 */
export async function inNetworkForest(
  request: TreeRequest,
  context: TreeContext,
  direction: Forest["direction"],
  weight: Float64Array,
): Promise<TreeSynthesis> {
  const { topology } = request;
  const able = ableSwitches(request, [TRAIT[direction]]);
  const { choices, cut } = await choicesOf(request, context, direction, weight, able);
  let best: { readonly stops: readonly number[]; readonly rate: Rational } | null = null;
  for (const stops of choices) {
    const asked = reaching(request, stops);
    const rate = (await optimalRate(asked, context, direction, withStops(weight, stops))).optimalBytesPerSecond;
    if (best === null || compare(rate, best.rate) > 0) best = { stops, rate };
  }
  const { stops } = best as NonNullable<typeof best>;
  const grown = await growForest(reaching(request, stops), context, direction, withStops(weight, stops));
  const forest = overMembers(request, grown.forest, stops);
  const certificate = { kind: "cut", nodes: cut, direction } as const;
  const flow = fitted(request, { forests: [forest], symmetry: grown.symmetry, certificate });
  const reached = `${stops.length} of ${able.length} able switches reached`;
  return {
    flow,
    policy: `${grown.policy}, ${reached}`,
    trials: grown.trials,
    couldBeBetter: grown.couldBeLower,
    repaired: null,
    notes: [...grown.notes, abilityNote(topology, able, [TRAIT[direction]])],
  };
}

/**
 * Returns an all-reduce whose switches sum and duplicate: in-trees and out-trees side by side, with roots and shares of links by the
 * linear program of B.7 (Zhao 2026) in which switches that do both need not be balanced, but get everything. Switches that keep its
 * solution below the bound of the program without them are left to forward. Where it is too large or its trees are not packed,
 * out-trees of an all-gather and such of a reduce-scatter. Throws InputError where no switch does both.
 */
export async function inNetworkAllReduce(
  request: TreeRequest,
  context: TreeContext,
  weight: Float64Array,
): Promise<TreeSynthesis> {
  const { topology, collective, copiesPerRoot } = request;
  const traits = [TRAIT.out, TRAIT.in];
  const able = ableSwitches(request, traits);
  const ways = {
    out: await choicesOf(request, context, "out", weight, able),
    in: await choicesOf(request, context, "in", weight, able),
  };
  const reachable = ways.out.choices[0].filter((stop) => ways.in.choices[0].includes(stop));
  const cut = { kind: "cut", nodes: ways.out.cut, direction: "out" } as const;
  const isTried = typeof copiesPerRoot !== "number" && collective.groupSize <= MOST_MEMBERS;
  const best = isTried ? await bestRates(request, context, reachable) : null;
  const { forests, symmetry, policy, trials, certificate } =
    (best && (await packedSides(request, context, best))) ?? (await gatherAndScatter(request, context, weight));
  const flow = fitted(request, { forests, symmetry, certificate: certificate ?? cut });
  return { flow, policy, trials, repaired: null, notes: [abilityNote(topology, able, traits)] };
}

/** Rates of an all-reduce whose trees reach these switches, and what bounds all trees. */
interface BestRates {
  readonly stops: readonly number[];
  readonly rates: AllReduceRates;
  /** Null where it counts on able switches that only forward. */
  readonly certificate: DualCertificate | null;
}

async function bestRates(
  { topology, collective, usable }: TreeRequest,
  { kernels, lp }: TreeContext,
  reachable: readonly number[],
): Promise<BestRates | null> {
  const solvers = { rate: kernels.rate, lp: await lp() };
  const isSmall = collective.groupSize <= FEW_MEMBERS;
  const options = { usable, ...(isSmall ? {} : { orbits: MOST_ORBITS, copiesPerMember: MOST_COPIES }) };
  let first: Pick<BestRates, "certificate"> | null = null;
  let best: BestRates | null = null;
  for (let stops = reachable; ; ) {
    const rates = await allReduceRates(topology, collective.groupMembers, solvers, { ...options, stops });
    if (rates === null) return best;
    const counts = rates.certificate?.potentials.some(({ node }) => isActive(topology.nodeTraits[node])) === true;
    first ??= { certificate: counts ? null : rates.certificate };
    if (best === null || compare(rates.rate, best.rates.rate) > 0) best = { stops, rates, ...first };
    if (rates.narrow.length === 0) return best;
    stops = stops.filter((stop) => !rates.narrow.includes(stop));
  }
}

/** In-trees, then out-trees, and how they came about. */
interface BothSides extends Pick<TreeFlow, "forests" | "symmetry">, Pick<TreeSynthesis, "policy" | "trials"> {
  readonly certificate: DualCertificate | null;
}

/** Returns the trees of a solution of the linear program; null where they could not be packed. */
async function packedSides(
  request: TreeRequest,
  { kernels }: TreeContext,
  { stops, rates, certificate }: BestRates,
): Promise<BothSides | null> {
  const asked = reaching(request, stops);
  const out = await forestOf(asked, kernels, "out", rates);
  const back = out && (mirrorOf(asked, rates, out) ?? (await forestOf(asked, kernels, "in", rates)));
  if (out === null || back === null) return null;
  return {
    forests: [back, out].map(({ forest }) => overMembers(request, forest, stops)),
    symmetry: null,
    certificate,
    policy: `reduction and broadcast side by side, ${rates.uniform ? "equal" : "unequal"} roots, packed, ${out.policy}, ${stops.length} switches reached`,
    trials: out.trials + back.trials,
  };
}

/** Returns the out-trees of an all-gather beside their mirror image, or where some link has no opposite one the in-trees of a reduce-scatter. */
async function gatherAndScatter(request: TreeRequest, context: TreeContext, weight: Float64Array): Promise<BothSides> {
  const { flow: out, policy, trials } = await inNetworkForest(request, context, "out", weight);
  const mirrored = mirroredForest(request.topology, request.usable, out.forests[0]);
  const how = { certificate: null, policy: `reduce-scatter and all-gather side by side, ${policy}`, trials };
  if (mirrored !== null) return { ...how, forests: [mirrored, out.forests[0]], symmetry: out.symmetry };
  const { flow: into } = await inNetworkForest(request, context, "in", weight);
  const [a, b] = [into, out].map((flow) => expandTrees(flow).forests[0]);
  return { ...how, forests: withEqualCopies(a, b), symmetry: null };
}

/** Sets of switches that trees may have to reach, and what bounds all trees. */
interface Choices {
  /** Each a part of those before it; the last is empty. */
  readonly choices: readonly (readonly number[])[];
  /** The narrowest cut that lacks a member: ascending nodes. */
  readonly cut: Int32Array;
}

/** Returns all able switches, then without those that the narrowest cut keeps from getting everything, and so on until none does. */
async function choicesOf(
  { topology, collective, usable }: TreeRequest,
  { kernels }: TreeContext,
  direction: Forest["direction"],
  weight: Float64Array,
  able: readonly number[],
): Promise<Choices> {
  const choices: (readonly number[])[] = [];
  for (let stops = able; ; ) {
    const reached = Int32Array.from([...collective.groupMembers, ...stops]);
    const { nodeCount, npuCount, linkSource, linkTarget, bandwidth, node } = packingNetwork(
      topology,
      reached,
      usable,
      direction,
    );
    const problem = { nodeCount, npuCount, linkSource, linkTarget, capacity: bandwidth };
    const { capacity, cut } = await kernels.rate({ ...problem, weight: withStops(weight, stops) });
    const inside = new Set(node.filter((_, v) => cut[v] === 1));
    if (stops.length > 0 && capacity > 0n) choices.push(stops);
    if (stops.length > 0 && collective.groupMembers.every((member) => inside.has(member))) {
      stops = stops.filter((stop) => inside.has(stop));
      continue;
    }
    choices.push([]);
    return { choices, cut: Int32Array.from(inside).sort() };
  }
}

/**
 * Returns the trees over members and switches as trees over the members: an edge begins at the nearest member above it. Switches
 * that no member hangs on are left out. A path that passes a forwarding node twice takes the shorter way. O(links of all edges).
 */
function overMembers({ topology, collective }: TreeRequest, forest: Forest, stops: readonly number[]): Forest {
  const members = collective.groupMembers;
  const edges = members.length + stops.length - 1;
  const isMember = new Uint8Array(nodeCount(topology));
  for (const member of members) isMember[member] = 1;
  const way = forest.direction === "out" ? topology : reversed(topology);
  const linkOffset = new Float64Array(forest.root.length * (members.length - 1) + 1);
  const links: number[] = [];
  let written = 0;
  for (let tree = 0; tree < forest.root.length; tree++) {
    const pathTo = new Map<number, readonly number[]>();
    for (let edge = tree * edges; edge < (tree + 1) * edges; edge++) {
      const own = forest.links.subarray(forest.linkOffset[edge], forest.linkOffset[edge + 1]);
      const path = [...(pathTo.get(way.linkSource[own[0]]) ?? []), ...own];
      const end = way.linkTarget[own[own.length - 1]];
      if (isMember[end] === 0) {
        pathTo.set(end, path);
        continue;
      }
      for (const link of withoutLoops(path, way)) links.push(link);
      linkOffset[++written] = links.length;
    }
  }
  return { ...forest, linkOffset, links: Int32Array.from(links) };
}

/** Returns the flow of one forest, or of two side by side, as fast as links let. */
function fitted(
  { topology, collective, usable }: TreeRequest,
  parts: Pick<TreeFlow, "forests" | "symmetry" | "certificate">,
): TreeFlow {
  const frame = {
    kind: "trees",
    topology,
    collective,
    concurrent: parts.forests.length === 2,
    inNetwork: true,
  } as const;
  const { copies } = trafficOf({ ...frame, ...parts }, true);
  const loads = copies.reduce((sum, other) => sum.map((load, link) => load + other[link]));
  const copyBytesPerSecond = fittingBandwidth(loads, usable);
  if (copyBytesPerSecond === null) throw new InternalError("trees without links");
  return { ...frame, ...parts, forests: parts.forests.map((forest) => ({ ...forest, copyBytesPerSecond })) };
}
