import { isSlotSchedule, type Schedule } from "../model/slots/slot-schedule.ts";
import { makespanOf, transfersOf } from "../model/steps/schedule.ts";
import { type JudgedFigures, reportWith } from "./chain.ts";
import { collectiveSummary, type Report, timingOf } from "./result.ts";

/** Returns the report of a judged schedule of transfers, or of arrival logs. */
export function stepsReport(schedule: Schedule, judged: JudgedFigures): Report {
  const { topology, collective } = schedule;
  return reportWith(
    {
      collective: collectiveSummary(topology, collective),
      schedule: { kind: isSlotSchedule(schedule) ? "slots" : "steps", transfers: transfersOf(schedule), file: null },
    },
    {
      topology,
      sizeBytes: collective.sizeBytes,
      timing: (ps) => timingOf(collective, ps),
      plannedPs: makespanOf(schedule),
    },
    judged,
  );
}
