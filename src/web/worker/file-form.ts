import { isPhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import type { Report } from "../../report/result.ts";
import { exporterNamed } from "../../run/export/exporters.ts";
import { fileNameOf } from "../../run/export/file-name.ts";
import { fitsJson } from "../../run/export/schedule-output.ts";
import type { ScheduleSubject } from "../../run/export/subject.ts";
import type { Kept } from "./shelf.ts";

/** Returns a schedule as exporters take it. */
export const subjectOf = ({ schedule, report }: Kept): ScheduleSubject => ({
  kind: "schedule",
  schedule,
  report: report.synthesis === null ? null : (report as Report),
  algorithm: report.algorithm,
});

/** Returns the format in which a schedule is written: JSON, unless that is too long. */
export function formatFor({ schedule }: Kept): "json" | "bys" {
  return isTreeFlow(schedule) || isPhaseSchedule(schedule) || fitsJson(schedule) ? "json" : "bys";
}

/** Returns the name of the file of a schedule that was made. */
export const fileNameFor = (kept: Kept): string => fileNameOf(exporterNamed(formatFor(kept)), subjectOf(kept));
