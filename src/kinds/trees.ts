import { explainTrees } from "../explain/trees.ts";
import { treeFlowJsonParts } from "../export/schedules/tree-flow-json.ts";
import { describeWitness, greaterBound, limitOf, referencePs } from "../model/bounds/bounds.ts";
import { format, toNumber } from "../model/numbers/rational.ts";
import { toExactGBps } from "../model/numbers/units.ts";
import { listedTrees, type TreeFlow } from "../model/trees/tree-flow.ts";
import { gbpsText, percent } from "../report/amounts.ts";
import { collectiveFacts } from "../report/collective-facts.ts";
import type { Report } from "../report/result.ts";
import { treesText } from "../report/subject-text.ts";
import { boundOfCertificate, treesReport } from "../report/trees-result.ts";
import { simulateTreeFlow } from "../simulate/trees/tree-flow.ts";
import { type CertificateVerdict, judgeCertificate, throughputOf } from "../verify/trees/certificate.ts";
import { verifyTreeFlow } from "../verify/trees/tree-flow.ts";
import { bestPiecesOf } from "./expand.ts";
import { type JudgeOptions, type Kind, READ_FROM_FILE, type Verdict } from "./kind.ts";

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

/** Returns the report of a schedule that was read. */
function reportOfTrees(flow: TreeFlow, algorithm: string): Report {
  const { topology, collective, certificate } = flow;
  const pieces = bestPiecesOf(flow);
  const { violationCount, certificate: judged } = judgeTrees(flow, { limit: 0 });
  const [achieved, proof] = [judged?.achieved ?? throughputOf(flow), judged?.proof ?? null];
  const limit = limitOf(topology, collective);
  const report = treesReport({
    flow,
    algorithm,
    pieces,
    achieved,
    bound: certificate === null || proof === null ? limit : boundOfCertificate(flow, certificate, proof.bound),
    limit,
    reference: referencePs(topology, collective),
    simulated: simulateTreeFlow(flow, pieces),
    traffic: null,
    repaired: null,
    notes: [],
    synthesis: READ_FROM_FILE,
  });
  return { ...report, verified: violationCount === 0 };
}

/** Returns the kind of rates along trees. */
export function treesKind(flow: TreeFlow): Kind {
  const { topology, collective } = flow;
  const throughput = (verdict: CertificateVerdict) => {
    const achieved = toExactGBps(verdict.achieved);
    return { algbwGBps: toNumber(achieved), exact: format(achieved) };
  };
  return {
    name: "trees",
    schedule: flow,
    collectives: [collective],
    judge: (options) => judgeTrees(flow, options),
    limit({ certificate }) {
      const limit = limitOf(topology, collective);
      const proof = certificate?.proof;
      if (flow.certificate === null || proof?.holdsFor !== "every schedule") return limit;
      return greaterBound(limit, boundOfCertificate(flow, flow.certificate, proof.bound));
    },
    endPs: () => simulateTreeFlow(flow, bestPiecesOf(flow)).ps,
    file: () => ({ as: "json", parts: treeFlowJsonParts(flow) }),
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
    report: (algorithm) => reportOfTrees(flow, algorithm),
  };
}
