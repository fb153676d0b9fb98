import { limitOf, referencePs } from "../model/bounds/bounds.ts";
import { phasesBound } from "../model/bounds/phases.ts";
import { compare } from "../model/numbers/rational.ts";
import { isPhaseSchedule, type PhaseSchedule } from "../model/phases/phase-schedule.ts";
import type { Replay } from "../model/replay/problem.ts";
import type { Schedule } from "../model/slots/slot-schedule.ts";
import type { AnySchedule } from "../model/steps/schedule.ts";
import { isTreeFlow, type TreeFlow } from "../model/trees/tree-flow.ts";
import { bestPieces } from "../model/trees/tree-pieces.ts";
import { phasesReport } from "../report/phases-result.ts";
import { type Report, reportOf, transfersBound } from "../report/result.ts";
import { boundOfCertificate, treesReport } from "../report/trees-result.ts";
import { simulatePhases } from "../simulate/phases/phases.ts";
import { simulate } from "../simulate/simulate.ts";
import { simulateTreeFlow, treeFlowClock } from "../simulate/trees/tree-flow.ts";
import { verifyPhases } from "../verify/phases/phases.ts";
import { throughputOf } from "../verify/trees/certificate.ts";
import { verify } from "../verify/verify.ts";
import { judgeTrees } from "./judge.ts";
import { switchingFor } from "./pipeline.ts";

const MAKING: Report["synthesis"] = {
  ms: 0,
  backend: "js",
  threads: 0,
  seed: 0,
  trials: 0,
  policy: "read from a file",
};

/** Returns what reports say of the algorithm of a schedule that was read; `told`: the one that its file names. */
export const algorithmOfFile = (told: string | null): string =>
  told === null ? "not told by the file" : `${told}, as the file says`;

/** A report without what only the maker knows. */
export type FileReport = Omit<Report, "synthesis"> & { readonly synthesis: null };

/**
 * Returns the report of a schedule that was read: judged, simulated (`replay`: the kernel that does it) and bounded anew.
 * `algorithm`: as algorithmOfFile has it.
 */
export function reportOfFile(
  schedule: AnySchedule,
  replay?: Replay,
  algorithm: string = algorithmOfFile(null),
): FileReport {
  const report = isPhaseSchedule(schedule)
    ? reportOfPhases(schedule, algorithm)
    : isTreeFlow(schedule)
      ? reportOfTrees(schedule, algorithm)
      : reportOfSteps(schedule, algorithm, replay);
  return { ...report, synthesis: null };
}

function reportOfPhases(schedule: PhaseSchedule, algorithm: string): Report {
  const { topology, collective } = schedule;
  const limit = limitOf(topology, collective);
  const ofPhases = phasesBound(schedule);
  return phasesReport({
    schedule,
    algorithm,
    bound: compare(ofPhases.ps, limit.ps) > 0 ? ofPhases : limit,
    limit,
    reference: referencePs(topology, collective),
    simulated: simulatePhases(schedule),
    verified: verifyPhases(schedule, { limit: 1 }).violationCount === 0,
    notes: [],
    synthesis: MAKING,
  });
}

function reportOfSteps(schedule: Schedule, algorithm: string, replay?: Replay): Report {
  const { topology, collective } = schedule;
  const { ps, model } = simulate(schedule, {
    switching: switchingFor(schedule),
    ...(replay === undefined ? {} : { replay }),
  });
  return reportOf({
    schedule,
    algorithm,
    bound: transfersBound(schedule),
    limit: limitOf(topology, collective),
    reference: referencePs(topology, collective),
    simulated: { ps, model },
    verified: verify(schedule, { limit: 1 }).violationCount === 0,
    synthesis: MAKING,
  });
}

function reportOfTrees(flow: TreeFlow, algorithm: string): Report {
  const { topology, collective, certificate } = flow;
  const pieces = bestPieces(flow, collective.sizeBytes, treeFlowClock(flow));
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
    synthesis: MAKING,
  });
  return { ...report, verified: violationCount === 0 };
}
