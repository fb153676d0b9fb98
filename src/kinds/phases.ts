import { explainPhases } from "../explain/phases.ts";
import { phasesJsonParts } from "../export/schedules/phases-json.ts";
import { greaterBound, limitOf, referencePs } from "../model/bounds/bounds.ts";
import { phasesBound } from "../model/bounds/phases.ts";
import { formatTime } from "../model/numbers/units.ts";
import type { PhaseSchedule } from "../model/phases/phase-schedule.ts";
import { collectiveFacts } from "../report/collective-facts.ts";
import { phasesReport } from "../report/phases-result.ts";
import type { Report } from "../report/result.ts";
import { phasesText } from "../report/subject-text.ts";
import { simulatePhases } from "../simulate/phases/phases.ts";
import { verifyPhases } from "../verify/phases/phases.ts";
import { phaseTransfersOrNull } from "./expand.ts";
import { type Kind, READ_FROM_FILE } from "./kind.ts";

/** Returns the report of a schedule that was read. */
function reportOfPhases(schedule: PhaseSchedule, algorithm: string): Report {
  const { topology, collective } = schedule;
  const limit = limitOf(topology, collective);
  return phasesReport({
    schedule,
    algorithm,
    bound: greaterBound(limit, phasesBound(schedule)),
    limit,
    reference: referencePs(topology, collective),
    simulated: simulatePhases(schedule),
    verified: verifyPhases(schedule, { limit: 1 }).violationCount === 0,
    notes: [],
    synthesis: READ_FROM_FILE,
  });
}

/** Returns the kind of phases within the dimensions of a hierarchical network. */
export function phasesKind(schedule: PhaseSchedule): Kind {
  const { topology, collective } = schedule;
  const endPs = (): number => schedule.endPs.reduce((last, end) => Math.max(last, end), 0);
  return {
    name: "phases",
    schedule,
    collectives: [collective],
    judge: (options) => verifyPhases(schedule, options),
    limit: () => limitOf(topology, collective),
    endPs,
    file: () => ({ as: "json", parts: phasesJsonParts(schedule) }),
    facts: ({ violationCount }) => ({
      collective: collectiveFacts(topology, collective),
      phases: schedule.chunk.length,
      transfers: violationCount === 0 ? phaseTransfersOrNull(schedule) : null,
    }),
    deed: () => ({ by: phasesText(schedule), end: `in ${formatTime(endPs())}` }),
    explain: (isCorrect) => (isCorrect ? explainPhases(schedule) : []),
    report: (algorithm) => reportOfPhases(schedule, algorithm),
  };
}
