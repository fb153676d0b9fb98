import type { AnySchedule } from "../../model/steps/schedule.ts";
import type { Lack } from "../../run/export/exporter.ts";
import { EXPORTERS } from "../../run/export/exporters.ts";

/** Returns what formats need and a schedule has none of, by format; pictures as "svg: time". */
export function lacksOf(schedule: AnySchedule): Record<string, Lack> {
  const found = EXPORTERS.flatMap(({ name, lacks }) => {
    const lack = lacks?.(schedule) ?? null;
    return lack === null ? [] : [[name, lack] as const];
  });
  const inTime = found.some(([, lack]) => lack === "messages") ? [["svg: time", "messages"] as const] : [];
  return Object.fromEntries([...found, ...inTime]);
}
