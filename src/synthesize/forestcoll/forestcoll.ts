import type { Collective } from "../../model/collective/collective.ts";
import { designOf } from "../../model/dimensions/design.ts";
import { compare, divide, multiply, type Rational, rational, toNumber } from "../../model/numbers/rational.ts";
import type { DualCertificate, TreeFlow } from "../../model/trees/tree-flow.ts";
import { TREE_OPTIONS, type TreeContext, type TreeMaker, type TreeRequest, type TreeSynthesis } from "../tree-maker.ts";
import { aroundFailure } from "./allreduce-around.ts";
import { FEW_MEMBERS, forestOf, MOST_COPIES, MOST_MEMBERS, MOST_ORBITS, mirrorOf } from "./allreduce-forests.ts";
import { type AllReduceRates, allReduceRates } from "./allreduce-rates.ts";
import { makeGroups } from "./groups.ts";
import { type Grown, growBack, growForest, optimalRate } from "./grow.ts";
import { inNetworkAllReduce, inNetworkForest } from "./in-network.ts";
import { FEW_PEERS, PACK_POLICIES, QUICK, triesAll } from "./packing.ts";
import { contributions, inSequence, mirroredForest, refuseSeveralGroups, withEqualCopies } from "./requests.ts";

/**
 * ForestColl (dissertation of Zhao, 2026, chapter 4): trees that reach the exact optimum of throughput on any balanced network.
 * All-gather and reduce-scatter by one forest, broadcast and reduce by the trees of one root, all-reduce by a reduction and a
 * broadcast: one after the other, or side by side with unequal roots where the linear program of B.7 says that this is faster.
 * With `offload` switches that sum and duplicate do so (`in-network.ts`).
 */
export const forestcoll: TreeMaker = {
  name: "forestcoll",
  makes: "trees",
  description: "throughput-optimal trees on any network with switches, with a certificate (ForestColl)",
  collectives: ["allgather", "reducescatter", "allreduce", "broadcast", "reduce", "custom"],
  policies: [...PACK_POLICIES, FEW_PEERS],
  options: [...TREE_OPTIONS, "offload"],
  traits: { promising: 1, quickPolicy: QUICK, fewPeersPolicy: FEW_PEERS, fewCopies: true },
  async make(request, context) {
    const { collective } = request;
    refuseSeveralGroups(collective, "forestcoll packs the trees of one at a time");
    const weight = contributions(collective);
    const offload = request.own?.offload === true;
    if (offload && collective.kind === "allreduce") return inNetworkAllReduce(request, context, weight);
    if (collective.kind === "allreduce") return allReduce(request, context, weight);
    const direction = collective.kind === "reducescatter" || collective.kind === "reduce" ? "in" : "out";
    if (offload) return inNetworkForest(request, context, direction, weight);
    const grown = await growForest(request, context, direction, weight);
    return synthesisOf(grown, {
      ...flowFrame(request),
      forests: [grown.forest],
      symmetry: grown.symmetry,
      certificate: grown.certificate,
    });
  },
  makeGroups: (request, context) => makeGroups(forestcoll, request, context),
};

const flowFrame = ({ topology, collective }: { topology: TreeFlow["topology"]; collective: Collective }) => ({
  kind: "trees" as const,
  topology,
  collective,
  concurrent: false,
});

const synthesisOf = (grown: Grown, flow: TreeFlow): TreeSynthesis => ({
  flow,
  policy: grown.policy,
  trials: grown.trials,
  couldBeBetter: grown.couldBeLower,
  repaired: grown.repaired,
  notes: grown.notes,
});

/** The better of reduce-scatter followed by all-gather and what the linear program of B.7 gives. */
async function allReduce(request: TreeRequest, context: TreeContext, weight: Float64Array): Promise<TreeSynthesis> {
  const around = await allReduceAround(request, context, weight);
  if (around !== null) return around;
  const grown = await growForest(request, context, "out", weight);
  const isMirrored = mirroredForest(request.topology, request.usable, grown.forest) !== null;
  const { optimalBytesPerSecond: out } = grown;
  const into = isMirrored ? out : (await optimalRate(request, context, "in", weight)).optimalBytesPerSecond;
  const together = await allReduceTogether(request, context, grown, inSequence(into, out));
  if ("synthesis" in together) return together.synthesis;
  const back = await growBack(request, context, weight, grown);
  const notes = [...grown.notes, ...back.notes, ...together.notes];
  const trials = grown.trials + back.trials;
  const { policy, couldBeLower: isHasty } = back.couldBeLower ? back : grown;
  const couldBeLower = isHasty || together.couldBeLower === true;
  return synthesisOf(
    { ...grown, policy, couldBeLower, trials, notes },
    {
      ...flowFrame(request),
      forests: withEqualCopies(back.forest, grown.forest),
      symmetry: grown.symmetry,
      certificate: together.certificate ?? { kind: "cut", nodes: grown.cut, direction: "out" },
    },
  );
}

/** Trees of more edges in all take longer to pack than all that QUICK stands for. */
const MOST_QUICK_EDGES = 1e6;

const CLEARLY_FASTER = rational(101, 100);

/** Trees that reduce and broadcast side by side, or why reduce-scatter and then all-gather is left to be used. */
type Together =
  | { readonly synthesis: TreeSynthesis }
  | {
      readonly certificate: DualCertificate | null;
      readonly notes: readonly string[];
      readonly couldBeLower?: boolean;
    };

/**
 * Returns trees with unequal roots that reduce and broadcast side by side, where the linear program of B.7 (Zhao 2026) says
 * that this is faster than reduce-scatter followed by all-gather, whose rate is `phases`; otherwise what proves that nothing is
 * faster, or that nobody knows.
 */
async function allReduceTogether(
  request: TreeRequest,
  { kernels, lp }: TreeContext,
  grown: Grown,
  phases: Rational,
): Promise<Together> {
  const { topology, collective, usable, copiesPerRoot } = request;
  const members = collective.groupMembers;
  const without = (reason: string): Together => ({ certificate: null, notes: [reason] });
  if (typeof copiesPerRoot === "number") return { certificate: null, notes: [] };
  const unproved =
    "reduce-scatter and then all-gather, each optimal; whether side by side would be faster is not known";
  if (members.length > MOST_MEMBERS) return without(`${unproved} above ${MOST_MEMBERS} NPUs`);
  const isSmall = members.length <= FEW_MEMBERS;
  const rates = await allReduceRates(
    topology,
    members,
    { rate: kernels.rate, lp: await lp() },
    {
      usable,
      ...(grown.symmetry === null ? {} : { maps: grown.symmetry.steps }),
      ...(isSmall ? {} : { orbits: MOST_ORBITS, copiesPerMember: MOST_COPIES }),
    },
  );
  if (rates === null) return without(`${unproved} above ${FEW_MEMBERS} NPUs without symmetry`);
  // trees that were repaired are kept unless others are clearly faster
  const enough = grown.repaired === null ? phases : multiply(phases, CLEARLY_FASTER);
  if (compare(rates.rate, enough) <= 0)
    return { certificate: rates.certificate, notes: gapNote({ ...rates, rate: phases }) };
  const copies = rates.copies.reduce((sum, count) => sum + count, 0);
  if (request.policy === QUICK && copies * members.length > MOST_QUICK_EDGES)
    return { certificate: rates.certificate, notes: [], couldBeLower: true };
  // shares are rounded, so that each may have one copy more
  if (!isSmall && copies > (MOST_COPIES + 1) * members.length) {
    const share = Math.floor((10_000 * toNumber(phases)) / toNumber(rates.bound)) / 100;
    const notes = [
      `reduce-scatter and then all-gather: ${share} % of what may be possible with ${copies} copies of trees side by side`,
    ];
    return { certificate: rates.certificate, notes };
  }
  const out = await forestOf(request, kernels, "out", rates);
  // trees of their own are a percent faster, and packed as slowly as the first
  const mirror = out === null || isSmall ? null : mirrorOf(request, rates, out);
  const back = mirror ?? (await forestOf(request, kernels, "in", rates));
  if (out === null || back === null) return without("trees side by side could not be packed");
  const { policy, couldBeLower } = back.couldBeLower ? back : out;
  return {
    synthesis: {
      flow: {
        kind: "trees",
        topology,
        collective,
        forests: [back.forest, out.forest],
        concurrent: true,
        symmetry: null,
        certificate: rates.certificate,
      },
      policy: `reduction and broadcast side by side, ${rates.uniform ? "equal" : "unequal"} roots, packed, ${policy}`,
      trials: grown.trials + out.trials + back.trials,
      couldBeBetter: couldBeLower,
      repaired: null,
      notes: [
        gainNote(rates.rate, phases),
        ...gapNote(rates),
        ...(grown.repaired === null
          ? grown.unrepaired
          : ["the old trees were left, for trees side by side are faster"]),
      ],
    },
  };
}

/**
 * Returns trees side by side that go around what failed on a large network; null where there are none, or others are as fast. They
 * are certified by the narrowest cut, or by what proved the rate before the failure where that bounds them lower.
 */
async function allReduceAround(
  request: TreeRequest,
  context: TreeContext,
  weight: Float64Array,
): Promise<TreeSynthesis | null> {
  const { topology, collective, copiesPerRoot, policy, repair } = request;
  const isLarge = collective.groupMembers.length > FEW_MEMBERS;
  if (!isLarge || typeof copiesPerRoot === "number" || !triesAll(policy)) return null;
  if (repair === null && [topology, null].includes(designOf(topology))) return null;
  const { cut, optimalBytesPerSecond: out } = await optimalRate(request, context, "out", weight);
  const around = await aroundFailure(request, context, cut);
  const phases = inSequence(out, out);
  if (around === null || compare(around.rate, phases) <= 0) return null;
  const { forests, rate, dual, kept, changed } = around;
  const byCut = { kind: "cut", nodes: cut, direction: "out" } as const;
  const certificate = dual !== null && compare(dual.bound, out) < 0 ? dual.certificate : byCut;
  return {
    flow: { ...flowFrame(request), forests, concurrent: true, symmetry: null, certificate },
    policy: `reduction and broadcast side by side, no roots where it is narrowest, ${changed} of ${kept + changed} trees grown again`,
    trials: 1,
    couldBeBetter: false,
    repaired: repair === null ? null : { kept, changed },
    notes: [gainNote(rate, phases)],
  };
}

const gainNote = (rate: Rational, phases: Rational): string => {
  const gain = toNumber(divide(rate, phases));
  return `${Number(gain.toPrecision(4))} times as fast as reduce-scatter and then all-gather`;
};

const gapNote = ({ optimal, rate, bound }: Pick<AllReduceRates, "optimal" | "rate" | "bound">): string[] =>
  optimal
    ? []
    : [
        `not proved optimal: ${Math.floor((10_000 * toNumber(rate)) / toNumber(bound)) / 100} % of the bound of the linear program`,
      ];
