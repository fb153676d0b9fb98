import { kindOf } from "../../kinds/kinds.ts";
import type { Report } from "../../report/result.ts";
import { exporterNamed } from "../../run/export/exporters.ts";
import { fileNameOf } from "../../run/export/file-name.ts";
import { fitsJson } from "../../run/export/schedule-output.ts";
import type { ScheduleSubject } from "../../run/export/subject.ts";
import type { KnownSchedule } from "./schedule-cache.ts";

/** Returns a schedule as exporters take it. */
export const subjectOf = ({ schedule, report }: KnownSchedule): ScheduleSubject => ({
  kind: "schedule",
  schedule,
  report: report.synthesis === null ? null : (report as Report),
  algorithm: report.algorithm,
});

/** Returns the format in which a schedule is written: JSON, unless that is too long. */
export function formatFor({ schedule }: KnownSchedule): "json" | "bys" {
  const kind = kindOf(schedule);
  return typeof kind.forms.bys === "string" || fitsJson(kind) ? "json" : "bys";
}

/** Returns the name of the file of a schedule that was made. */
export const fileNameFor = (kept: KnownSchedule): string => fileNameOf(exporterNamed(formatFor(kept)), subjectOf(kept));
