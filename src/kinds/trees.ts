import { explainTrees } from "../explain/trees.ts";
import { treeFlowJsonParts } from "../export/schedules/tree-flow-json.ts";
import { describeWitness, farthestLatencyPs, greaterBound, limitOf, referencePs } from "../model/bounds/bounds.ts";
import { type ClassLimit, greatestOf, limitOfForwarding } from "../model/bounds/class-limit.ts";
import type { Bound } from "../model/bounds/witness.ts";
import { format, toNumber } from "../model/numbers/rational.ts";
import { toExactGBps } from "../model/numbers/units.ts";
import { linkCount } from "../model/topology/topology.ts";
import { listedTrees, type TreeFlow } from "../model/trees/tree-flow.ts";
import { onOtherFigures } from "../model/trees/tree-multicast.ts";
import { treeTransfers } from "../model/trees/tree-steps.ts";
import { gbpsText, percent } from "../report/amounts.ts";
import { collectiveFacts } from "../report/collective-facts.ts";
import { collectiveSummary, type Report, timingOf } from "../report/result.ts";
import { treesText } from "../report/subject-text.ts";
import { boundOfCertificate, treesReport } from "../report/trees-result.ts";
import { simulateTreeFlow } from "../simulate/trees/tree-flow.ts";
import { type CertificateVerdict, judgeCertificate, throughputOf } from "../verify/trees/certificate.ts";
import { verifyTreeFlow } from "../verify/trees/tree-flow.ts";
import { bestPiecesOf } from "./expand.ts";
import type { Judged, JudgeOptions, Kind, LimitFor, Making, Verdict } from "./kind.ts";

/** Trees and the certificate as their judges see them: faulty trees have no throughput. */
export interface TreesVerdict extends Verdict {
  readonly certificate: CertificateVerdict | null;
}

/** Returns what is wrong with trees or, where nothing is, with their certificate. */
export function judgeTrees(flow: TreeFlow, options: JudgeOptions = {}): TreesVerdict {
  const trees = verifyTreeFlow(flow, options);
  if (trees.violationCount > 0) return { ...trees, certificate: null };
  const certificate = judgeCertificate(flow);
  const violationCount = certificate.violations.length;
  const violations = certificate.violations.slice(0, options.limit ?? violationCount);
  return { violations, violationCount, truncated: violations.length < violationCount, certificate };
}

/** Returns what a certificate proves in a phrase. */
function proofText(flow: TreeFlow, { proof }: CertificateVerdict): string {
  if (flow.certificate === null) return "no certificate";
  if (proof === null) return "a false certificate";
  const because = describeWitness(flow.topology, boundOfCertificate(flow, flow.certificate, proof.bound));
  if (proof.optimal) return `proved optimal for ${proof.holdsFor}: ${because}`;
  if (proof.phases?.optimal === true) return `proved optimal for a reduce-scatter and then an all-gather: ${because}`;
  return `${percent(1 - toNumber(proof.gap))} of a proved bound of ${gbpsText(toNumber(toExactGBps(proof.bound)))}: ${because}`;
}

function certificateFacts(flow: TreeFlow, verdict: CertificateVerdict | null) {
  if (flow.certificate === null) return null;
  const proof = verdict?.proof ?? null;
  return {
    kind: flow.certificate.kind,
    valid: verdict === null ? null : proof !== null,
    boundGBps: proof === null ? null : format(toExactGBps(proof.bound)),
    optimal: proof?.optimal ?? false,
    gap: proof === null ? null : toNumber(proof.gap),
    holdsFor: proof?.holdsFor ?? null,
  };
}

/** Characters of an edge in a file of trees: a list of a few link numbers. */
const EDGE_TEXT = 16;

/** Returns the limit of a collective where only bandwidth counts. */
function bandwidthLimit({ topology, collective }: TreeFlow, limit: Bound, limitFor: LimitFor): Bound {
  const { witness } = limit;
  const ofBandwidth = witness.kind !== "latency" && !("leastLagPs" in witness);
  return ofBandwidth
    ? limit
    : limitFor({ ...topology, linkLatencyPs: new Float64Array(linkCount(topology)) }, collective);
}

/** Returns what the certificate of correct trees proves; null without one. */
function certified(
  flow: TreeFlow,
  { certificate = null }: Verdict,
): (ClassLimit & { readonly forAll: boolean }) | null {
  const proof = certificate?.proof ?? null;
  if (flow.certificate === null || proof === null) return null;
  const { holdsFor } = proof;
  const of = holdsFor === "every schedule over switches that only forward" ? "forwarding switches" : "sums at one NPU";
  return { ...boundOfCertificate(flow, flow.certificate, proof.bound), forAll: holdsFor === "every schedule", of };
}

/** Returns the report of judged trees. */
function reportOf(flow: TreeFlow, { limitFor, ...judged }: Judged, making: Making): Report {
  const { verdict, simulated, limit } = judged;
  const { traffic = null, repaired = null, ...made } = making;
  const { pieces = 1, ...time } = simulated ?? { ps: 0, model: "" };
  const proved = certified(flow, verdict);
  const ofBandwidth = bandwidthLimit(flow, limit, limitFor);
  return treesReport(
    flow,
    {
      pieces,
      achieved: verdict.certificate?.achieved ?? throughputOf(flow),
      rateBound: proved === null ? ofBandwidth : greaterBound(proved, ofBandwidth),
      traffic,
      repaired,
    },
    {
      ...judged,
      simulated: time,
      reference: referencePs(flow.topology, flow.collective),
      latencyPs: farthestLatencyPs(flow.topology, flow.collective),
      verified: verdict.violationCount === 0,
      ...made,
    },
  );
}

/** Returns the kind of rates along trees. */
export function treesKind(flow: TreeFlow): Kind {
  const { topology, collective } = flow;
  let figures: ReturnType<typeof onOtherFigures> | undefined;
  const throughput = (verdict: CertificateVerdict) => {
    const achieved = toExactGBps(verdict.achieved);
    return { algbwGBps: toNumber(achieved), exact: format(achieved) };
  };
  return {
    name: "trees",
    schedule: flow,
    collectives: [collective],
    judge: (options) => judgeTrees(flow, options),
    simulate({ pieces = bestPiecesOf(flow) }) {
      const { ps, model, linkBusyPs } = simulateTreeFlow(flow, pieces);
      return { ps, model, pieces, linkBusyPs };
    },
    limit(verdict, known = limitOf(topology, collective)) {
      const proved = certified(flow, verdict);
      return proved?.forAll === true ? greaterBound(known, proved) : known;
    },
    classLimit(verdict, limitFor): ClassLimit | null {
      const proved = certified(flow, verdict);
      return greatestOf([
        flow.inNetwork === true ? null : limitOfForwarding(topology, collective, limitFor),
        proved === null || proved.forAll ? null : proved,
      ]);
    },
    plannedBound: () => null,
    boundsLate: false,
    endPs: () => simulateTreeFlow(flow, bestPiecesOf(flow)).ps,
    on(other) {
      figures ??= onOtherFigures(flow);
      return treesKind(figures(other));
    },
    forms: {
      json: {
        bytes: flow.forests.reduce((sum, { linkOffset }) => sum + linkOffset.length * EDGE_TEXT, 0),
        parts: (told) => treeFlowJsonParts(flow, told),
      },
      bys: "a JSON file for trees (`banyan export FILE --to bys` writes their transfers)",
    },
    keptAs: "json",
    parts: { many: listedTrees(flow), one: "tree" },
    these: "these trees are",
    idle(option, value) {
      if (option === "reference" || option === "trace")
        return { expected: "a schedule of transfers (`banyan export FILE --to steps` makes one of trees)" };
      const isStored = option === "switching" && value === "store-and-forward";
      return isStored ? { expected: "cut-through, or nothing, for trees", received: value } : null;
    },
    playable: ({ certificate = null }) => certificate !== null,
    played({ certificate = null }, { pieces = 1 }) {
      return {
        about: { collective: collectiveSummary(topology, collective) },
        counts: { transfers: flow.inNetwork === true ? null : treeTransfers(flow, pieces), pieces },
        speeds: certificate === null ? {} : { throughput: throughput(certificate) },
      };
    },
    timing: (ps) => timingOf(collective, ps),
    facts: ({ certificate = null }) => ({
      collective: collectiveFacts(topology, collective),
      trees: listedTrees(flow),
      throughput: certificate === null ? null : throughput(certificate),
      certificate: certificateFacts(flow, certificate),
    }),
    deed({ certificate = null }) {
      if (certificate === null) return { by: treesText(flow), end: "" };
      const { algbwGBps, exact } = throughput(certificate);
      return { by: treesText(flow), end: `at ${gbpsText(algbwGBps)} (${exact}); ${proofText(flow, certificate)}` };
    },
    explain: () => explainTrees(flow),
    report: (judged, making) => reportOf(flow, judged, making),
  };
}
