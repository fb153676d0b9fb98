import { explainPeriods } from "../explain/periods.ts";
import { scheduleBysParts } from "../export/schedules/bys.ts";
import { periodsJsonParts } from "../export/schedules/periods-json.ts";
import { farthestLatencyPs, limitOf, referencePs } from "../model/bounds/bounds.ts";
import { limitOfForwarding } from "../model/bounds/class-limit.ts";
import { formatTime } from "../model/numbers/units.ts";
import {
  type PeriodSchedule,
  periodEndPs,
  periodTransfers,
  roundsOf,
  treesOf,
} from "../model/periods/period-schedule.ts";
import { periodFilesOf } from "../model/steps/estimate.ts";
import type { StepSchedule } from "../model/steps/step-schedule.ts";
import { collectiveFacts } from "../report/collective-facts.ts";
import { periodsReport } from "../report/periods-result.ts";
import { collectiveSummary, timingOf } from "../report/result.ts";
import { periodsText } from "../report/subject-text.ts";
import { simulatePeriods } from "../simulate/periods/periods.ts";
import { verifyPeriods } from "../verify/periods/periods.ts";
import { expanded } from "./expand.ts";
import type { Kind } from "./kind.ts";
import { stepsKind } from "./steps.ts";

/** Returns the kind of rounds of trees that repeat. */
export function periodsKind(schedule: PeriodSchedule): Kind {
  const { topology, collective, periodPs } = schedule;
  let steps: StepSchedule | undefined;
  return {
    name: "periods",
    schedule,
    collectives: [collective],
    judge: (options) => verifyPeriods(schedule, options),
    simulate: () => simulatePeriods(schedule),
    limit: (_, known = limitOf(topology, collective)) => known,
    classLimit: (_, limitFor) => limitOfForwarding(topology, collective, limitFor),
    plannedBound: () => null,
    boundsLate: false,
    endPs: () => periodEndPs(schedule),
    on(other) {
      // with other figures transfers come at other times, in the same order
      steps ??= expanded(schedule, "the schedule");
      return stepsKind({ ...steps, topology: other });
    },
    get forms() {
      const { jsonBytes, bysBytes } = periodFilesOf(schedule);
      return {
        json: { bytes: jsonBytes, parts: (told) => periodsJsonParts(schedule, told) },
        bys: { bytes: bysBytes, parts: (told) => scheduleBysParts(schedule, told?.about) },
      } satisfies Kind["forms"];
    },
    keptAs: "bys",
    parts: { many: treesOf(schedule), one: "tree" },
    these: "these periods are",
    idle(option, value) {
      if (option === "chunks") return { expected: "a file of trees at a rate beside it" };
      const isStored = option === "switching" && value === "store-and-forward";
      return isStored ? { expected: "cut-through, or nothing, for periods", received: value } : null;
    },
    playable: ({ violationCount }) => violationCount === 0,
    played: () => ({
      about: { collective: collectiveSummary(topology, collective) },
      counts: { transfers: periodTransfers(schedule), trees: treesOf(schedule), rounds: roundsOf(schedule) },
      speeds: {},
    }),
    timing: (ps) => timingOf(collective, ps),
    facts: () => ({
      collective: collectiveFacts(topology, collective),
      trees: treesOf(schedule),
      rounds: roundsOf(schedule),
      periodPs,
      transfers: periodTransfers(schedule),
    }),
    deed: () => ({ by: periodsText(schedule), end: `in ${formatTime(periodEndPs(schedule))}` }),
    explain: (isCorrect) => {
      if (!isCorrect) return [];
      const { ps, linkBusyPs } = simulatePeriods(schedule);
      return explainPeriods(schedule, { ps, linkBusyPs });
    },
    report: ({ verdict, limitFor: _, ...judged }, making) =>
      periodsReport(schedule, {
        ...judged,
        simulated: judged.simulated ?? simulatePeriods(schedule),
        reference: referencePs(topology, collective),
        latencyPs: farthestLatencyPs(topology, collective),
        verified: verdict.violationCount === 0,
        ...making,
      }),
  };
}
