import { unlessRefused } from "../base/errors.ts";
import { explainSteps } from "../explain/steps.ts";
import { scheduleBysParts } from "../export/schedules/bys.ts";
import { scheduleJsonParts } from "../export/schedules/schedule-json.ts";
import { farthestLatencyPs, greaterBound, limitOf, referencePs } from "../model/bounds/bounds.ts";
import { limitOfForwarding, wholeChunksLimit, withForwarding } from "../model/bounds/class-limit.ts";
import { formatTime } from "../model/numbers/units.ts";
import { isSlotSchedule, type Schedule, translationsFor } from "../model/slots/slot-schedule.ts";
import { bysBytesOf, jsonBytesOf } from "../model/steps/estimate.ts";
import { makespanOf, transfersOf } from "../model/steps/schedule.ts";
import { count } from "../report/amounts.ts";
import { collectiveFacts } from "../report/collective-facts.ts";
import { collectiveSummary, plannedBound, type Report, ratio, timingOf } from "../report/result.ts";
import { stepsReport } from "../report/steps-result.ts";
import { placeOf } from "../request/option-table.ts";
import { simulate, switchingFor } from "../simulate/simulate.ts";
import { verify } from "../verify/verify.ts";
import { expanded } from "./expand.ts";
import type { Judged, Kind } from "./kind.ts";

/** Whether one NPU stands for all, so that the simulation is short at any size. */
const isInvariant = (schedule: Schedule): boolean => isSlotSchedule(schedule) && translationsFor(schedule) !== null;

/** Returns what a solver did; what meets a bound is proved, whoever found it. */
function provedBy(
  { limit, plannedBound: own }: Pick<Judged, "limit" | "plannedBound">,
  schedule: Schedule,
  solver: NonNullable<Report["solver"]>,
): NonNullable<Report["solver"]> {
  const bound = own === null ? limit : greaterBound(own, limit);
  return solver.proved || ratio(bound.ps, makespanOf(schedule)) < 1 ? solver : { ...solver, proved: true };
}

/** Returns the kind of transfers one by one, and of arrival logs. */
export const stepsKind = (schedule: Schedule): Kind => ({
  name: isSlotSchedule(schedule) ? "slots" : "steps",
  schedule,
  collectives: [schedule.collective],
  judge: (options) => verify(schedule, options),
  simulate({ switching = switchingFor(schedule), most = Number.POSITIVE_INFINITY, pieces: _, ...options }) {
    if (transfersOf(schedule) > most && !isInvariant(schedule)) return null;
    return simulate(schedule, { switching, ...options });
  },
  limit: (_, known = limitOf(schedule.topology, schedule.collective)) => known,
  classLimit: (_, limitFor, stores) =>
    withForwarding(
      wholeChunksLimit(schedule.topology, schedule.collective, schedule.routes, stores),
      limitOfForwarding(schedule.topology, schedule.collective, limitFor),
    ),
  plannedBound: () => plannedBound(schedule),
  boundsLate: true,
  endPs: () => makespanOf(schedule),
  on: (topology) => stepsKind({ ...schedule, topology }),
  forms: {
    json: {
      bytes: jsonBytesOf(schedule),
      parts: (told) => scheduleJsonParts(expanded(schedule, placeOf("output")), told),
    },
    bys: { bytes: bysBytesOf(schedule), parts: (told) => scheduleBysParts(schedule, told?.about) },
  },
  keptAs: "bys",
  parts: { many: transfersOf(schedule), one: "transfer" },
  facts: () => ({
    collective: collectiveFacts(schedule.topology, schedule.collective),
    transfers: transfersOf(schedule),
  }),
  these: "this schedule is",
  idle: (option) => (option === "chunks" ? { expected: "a file of trees beside it" } : null),
  playable: () => true,
  played: () => ({
    about: { collective: collectiveSummary(schedule.topology, schedule.collective) },
    counts: { transfers: transfersOf(schedule) },
    speeds: { planned: { ...timingOf(schedule.collective, makespanOf(schedule)), model: "link-busy" } },
  }),
  timing: (ps) => timingOf(schedule.collective, ps),
  deed: () => ({
    by: count(transfersOf(schedule), "transfer"),
    end: `planned to end after ${formatTime(makespanOf(schedule))} (link-busy)`,
  }),
  explain: (isCorrect, replay) => {
    const steps = expanded(schedule, "explain");
    const simulated = () => simulate(steps, { switching: switchingFor(steps), timeline: true, replay });
    // a schedule that is wrong may send what is not there, and then has no times
    const { ps, startPs, endPs, linkBusyPs } = (isCorrect ? simulated() : unlessRefused(simulated)) ?? { ps: 0 };
    const isTimed = startPs !== undefined && endPs !== undefined && linkBusyPs !== undefined;
    return explainSteps(steps, isTimed ? { ps, startPs, endPs, linkBusyPs } : null);
  },
  report: ({ verdict, limitFor: _, ...judged }, { solver, ...making }) =>
    stepsReport(schedule, {
      ...judged,
      reference: referencePs(schedule.topology, schedule.collective),
      latencyPs: farthestLatencyPs(schedule.topology, schedule.collective),
      verified: verdict.violationCount === 0,
      ...making,
      ...(solver === undefined ? {} : { solver: provedBy(judged, schedule, solver) }),
    }),
});
