import { explainPhases } from "../explain/phases.ts";
import { phasesJsonParts } from "../export/schedules/phases-json.ts";
import { farthestLatencyPs, limitOf, referencePs } from "../model/bounds/bounds.ts";
import { greatestOf, limitOfForwarding } from "../model/bounds/class-limit.ts";
import { phasesBound } from "../model/bounds/limit.ts";
import { wiringOf } from "../model/dimensions/dimensions.ts";
import { groupDimensions } from "../model/dimensions/group-dimensions.ts";
import { formatTime } from "../model/numbers/units.ts";
import type { PhaseSchedule } from "../model/phases/phase-schedule.ts";
import { collectiveFacts } from "../report/collective-facts.ts";
import { perDimensionOf, phasesReport } from "../report/phases-result.ts";
import { collectiveSummary, timingOf } from "../report/result.ts";
import { phasesText } from "../report/subject-text.ts";
import { simulatePhases } from "../simulate/phases/phases.ts";
import { verifyPhases } from "../verify/phases/phases.ts";
import { phaseTransfersOrNull } from "./expand.ts";
import type { Kind } from "./kind.ts";

/** Characters of a phase in its file: five numbers, two of them times. */
const PHASE_TEXT = 40;
/** Characters of a link, or of an NPU in the list of members. */
const NETWORK_TEXT = 90;

const STEPS_BESIDE = "a schedule of transfers beside it (`banyan export FILE --to steps` makes one of phases)";

/** Returns the kind of phases within the dimensions of a hierarchical network. */
export function phasesKind(schedule: PhaseSchedule): Kind {
  const { topology, collective, algorithms } = schedule;
  const endPs = (): number => schedule.endPs.reduce((last, end) => Math.max(last, end), 0);
  return {
    name: "phases",
    schedule,
    collectives: [collective],
    judge: (options) => verifyPhases(schedule, options),
    simulate() {
      const phases = simulatePhases(schedule);
      return { ps: phases.ps, model: phases.model, phases, perDimension: perDimensionOf(schedule, phases) };
    },
    limit: (_, known = limitOf(topology, collective)) => known,
    classLimit: (_, limitFor) =>
      greatestOf([
        algorithms.includes("offload") ? null : limitOfForwarding(topology, collective, limitFor),
        { ...phasesBound(schedule), of: "phases" },
      ]),
    plannedBound: () => null,
    boundsLate: false,
    endPs,
    on(other) {
      const dimensions = groupDimensions(wiringOf(other) ?? [], collective);
      return phasesKind({
        ...schedule,
        topology: other,
        dimensions: typeof dimensions === "string" ? schedule.dimensions : dimensions,
      });
    },
    forms: {
      json: {
        bytes:
          schedule.chunk.length * PHASE_TEXT + (topology.linkSource.length + topology.nodeNames.length) * NETWORK_TEXT,
        parts: (told) => phasesJsonParts(schedule, told),
      },
      bys: "a JSON file for phases (`banyan export FILE --to steps`, then --to bys, writes their transfers)",
    },
    keptAs: "json",
    parts: { many: schedule.chunk.length, one: "phase" },
    these: "these phases are",
    idle: (_, value) => ({ expected: STEPS_BESIDE, received: value ?? true }),
    playable: ({ violationCount }) => violationCount === 0,
    played: () => ({
      about: { collective: collectiveSummary(topology, collective) },
      counts: { transfers: phaseTransfersOrNull(schedule), phases: schedule.chunk.length },
      speeds: {},
    }),
    timing: (ps) => timingOf(collective, ps),
    facts: ({ violationCount }) => ({
      collective: collectiveFacts(topology, collective),
      phases: schedule.chunk.length,
      transfers: violationCount === 0 ? phaseTransfersOrNull(schedule) : null,
    }),
    deed: () => ({ by: phasesText(schedule), end: `in ${formatTime(endPs())}` }),
    explain: (isCorrect) => (isCorrect ? explainPhases(schedule) : []),
    report({ verdict, limitFor: _, ...judged }, making) {
      const simulated = judged.simulated?.phases ?? simulatePhases(schedule);
      return phasesReport(schedule, simulated, {
        ...judged,
        simulated,
        reference: referencePs(topology, collective),
        latencyPs: farthestLatencyPs(topology, collective),
        verified: verdict.violationCount === 0,
        ...making,
      });
    },
  };
}
