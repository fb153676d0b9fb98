import { limitOf, referencePs } from "./model/bounds.ts";
import type { Schedule } from "./model/slot-schedule.ts";
import { isTreeFlow, type TreeFlow } from "./model/tree-flow.ts";
import { bestPieces } from "./model/tree-pieces.ts";
import { switchingFor } from "./pipeline.ts";
import { type Report, reportOf, transfersBound } from "./result.ts";
import { simulate } from "./simulate/simulate.ts";
import { simulateTreeFlow, treeFlowClock } from "./simulate/tree-flow.ts";
import { boundOfCertificate, treesReport } from "./trees-result.ts";
import { judgeCertificate } from "./verify/certificate.ts";
import { verifyTreeFlow } from "./verify/tree-flow.ts";
import { verify } from "./verify/verify.ts";

const MAKING: Report["synthesis"] = {
  ms: 0,
  backend: "js",
  threads: 0,
  seed: 0,
  trials: 0,
  policy: "read from a file",
};
const ALGORITHM = "not told by the file";

/** A report without what only the maker knows. */
export type FileReport = Omit<Report, "synthesis"> & { readonly synthesis: null };

/** Returns the report of a schedule that was read: judged, simulated and bounded anew. */
export function reportOfFile(schedule: Schedule | TreeFlow): FileReport {
  return { ...(isTreeFlow(schedule) ? reportOfTrees(schedule) : reportOfSteps(schedule)), synthesis: null };
}

function reportOfSteps(schedule: Schedule): Report {
  const { topology, collective } = schedule;
  const { ps, model } = simulate(schedule, { switching: switchingFor(schedule) });
  return reportOf({
    schedule,
    algorithm: ALGORITHM,
    bound: transfersBound(schedule),
    limit: limitOf(topology, collective),
    reference: referencePs(topology, collective),
    simulated: { ps, model },
    verified: verify(schedule, { limit: 1 }).violationCount === 0,
    synthesis: MAKING,
  });
}

function reportOfTrees(flow: TreeFlow): Report {
  const { topology, collective, certificate } = flow;
  const pieces = bestPieces(flow, collective.sizeBytes, treeFlowClock(flow));
  const { achieved, proof } = judgeCertificate(flow);
  const limit = limitOf(topology, collective);
  const report = treesReport({
    flow,
    algorithm: ALGORITHM,
    pieces,
    achieved,
    bound: certificate === null || proof === null ? limit : boundOfCertificate(flow, certificate, proof.bound),
    limit,
    reference: referencePs(topology, collective),
    simulated: simulateTreeFlow(flow, pieces),
    traffic: null,
    repaired: null,
    notes: [],
    synthesis: MAKING,
  });
  return { ...report, verified: verifyTreeFlow(flow, { limit: 1 }).violationCount === 0 };
}
