import { explainSteps } from "../explain/steps.ts";
import { scheduleBysParts } from "../export/schedules/bys.ts";
import { limitOf, referencePs } from "../model/bounds/bounds.ts";
import { formatTime } from "../model/numbers/units.ts";
import type { Replay } from "../model/replay/problem.ts";
import { isSlotSchedule, type Schedule } from "../model/slots/slot-schedule.ts";
import { makespanOf, transfersOf } from "../model/steps/schedule.ts";
import { count } from "../report/amounts.ts";
import { collectiveFacts } from "../report/collective-facts.ts";
import { type Report, reportOf, transfersBound } from "../report/result.ts";
import { simulate, switchingFor } from "../simulate/simulate.ts";
import { verify } from "../verify/verify.ts";
import { expanded } from "./expand.ts";
import { type Kind, READ_FROM_FILE } from "./kind.ts";

/** Returns the report of a schedule that was read. */
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
    synthesis: READ_FROM_FILE,
  });
}

/** Returns the kind of transfers one by one, and of arrival logs. */
export const stepsKind = (schedule: Schedule): Kind => ({
  name: isSlotSchedule(schedule) ? "slots" : "steps",
  schedule,
  collectives: [schedule.collective],
  judge: (options) => verify(schedule, options),
  limit: () => limitOf(schedule.topology, schedule.collective),
  endPs: () => makespanOf(schedule),
  file: () => ({ as: "bys", parts: scheduleBysParts(schedule) }),
  facts: () => ({
    collective: collectiveFacts(schedule.topology, schedule.collective),
    transfers: transfersOf(schedule),
  }),
  deed: () => ({ by: count(transfersOf(schedule), "transfer"), end: `in ${formatTime(makespanOf(schedule))}` }),
  explain: () => explainSteps(expanded(schedule, "explain")),
  report: (algorithm, replay) => reportOfSteps(schedule, algorithm, replay),
});
