import { isSlotSchedule, type Schedule } from "../model/slots/slot-schedule.ts";
import { makespanOf, transfersOf } from "../model/steps/schedule.ts";
import { chained, figuresOf, type JudgedFigures } from "./chain.ts";
import { collectiveSummary, type Report, timingOf, topologySummary } from "./result.ts";

/** Returns the report of a judged schedule of transfers, or of arrival logs. */
export function stepsReport(schedule: Schedule, judged: JudgedFigures): Report {
  const { topology, collective } = schedule;
  return chained({
    schema: "banyan/result@2",
    topology: topologySummary(topology),
    collective: collectiveSummary(topology, collective),
    schedule: { kind: isSlotSchedule(schedule) ? "slots" : "steps", transfers: transfersOf(schedule), file: null },
    ...figuresOf(
      {
        topology,
        sizeBytes: collective.sizeBytes,
        timing: (ps) => timingOf(collective, ps),
        plannedPs: makespanOf(schedule),
      },
      judged,
    ),
  });
}
