import { toUs } from "../model/numbers/units.ts";
import { type PeriodSchedule, periodTransfers, roundsOf, treesOf } from "../model/periods/period-schedule.ts";
import { type JudgedFigures, reportWith } from "./chain.ts";
import { collectiveSummary, type Report, timingOf } from "./result.ts";

/** Returns the report of a judged schedule of periods. */
export function periodsReport(schedule: PeriodSchedule, judged: JudgedFigures): Report {
  const { topology, collective, periodPs } = schedule;
  return reportWith(
    {
      collective: collectiveSummary(topology, collective),
      schedule: {
        kind: "periods",
        transfers: periodTransfers(schedule),
        file: null,
        trees: treesOf(schedule),
        rounds: roundsOf(schedule),
        periodUs: toUs(periodPs),
      },
    },
    { topology, sizeBytes: collective.sizeBytes, timing: (ps) => timingOf(collective, ps), plannedPs: null },
    judged,
  );
}
