import { exporterNamed } from "../../exporters/exporters.ts";
import { fileNameOf } from "../../exporters/file-name.ts";
import type { ScheduleSubject } from "../../exporters/subject.ts";
import { jsonBytesOf } from "../../model/estimate.ts";
import { isPhaseSchedule } from "../../model/phase-schedule.ts";
import { transfersOf } from "../../model/schedule.ts";
import { isTreeFlow } from "../../model/tree-flow.ts";
import type { Report } from "../../result.ts";
import type { Kept } from "./shelf.ts";

/** Longer JSON cannot be read back, and arrival logs of more transfers are not written out in it. */
const MOST_JSON = 2 ** 29;
const MOST_EXPANDED = 2e7;

/** Returns a schedule as exporters take it. */
export const subjectOf = ({ schedule, report }: Kept): ScheduleSubject => ({
  kind: "schedule",
  schedule,
  report: report.synthesis === null ? null : (report as Report),
});

/** Returns the format in which a schedule is written: JSON, unless that is too long. */
export function formatFor({ schedule }: Kept): "json" | "bys" {
  if (isTreeFlow(schedule) || isPhaseSchedule(schedule)) return "json";
  const tooLong = jsonBytesOf(schedule) > MOST_JSON || ("slotPs" in schedule && transfersOf(schedule) > MOST_EXPANDED);
  return tooLong ? "bys" : "json";
}

/** Returns the name of the file of a schedule that was made. */
export const fileNameFor = (kept: Kept): string => fileNameOf(exporterNamed(formatFor(kept)), subjectOf(kept));
