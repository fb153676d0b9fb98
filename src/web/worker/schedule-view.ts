import { answerOf, figuresOf } from "../../export/pictures/html-figures.ts";
import { cutOf } from "../../export/pictures/svg-topology.ts";
import { PS_PER_US } from "../../model/numbers/units.ts";
import { isPhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { type AnySchedule, optimismOf } from "../../model/steps/schedule.ts";
import type { Lack } from "../../run/export/exporter.ts";
import type { ScheduleRef, ScheduleView } from "../protocol.ts";
import { pageExporters } from "./page-exporters.ts";
import type { KnownSchedule } from "./schedule-cache.ts";

/** Returns a schedule as the page tells of it. */
export function scheduleView(ref: ScheduleRef, { schedule, report }: KnownSchedule, ms: number): ScheduleView {
  const { topology, collective } = schedule;
  const cut = cutOf(topology, report.limit.witness) ?? cutOf(topology, report.classLimit?.witness);
  return {
    ref,
    report,
    answer: answerOf(report),
    optimism: optimismOf(schedule),
    figures: figuresOf(report),
    kind: report.schedule.kind,
    chunkCount: isPhaseSchedule(schedule) ? 0 : collective.chunkCount,
    totalPs: report.time.us * PS_PER_US,
    cut: cut === null ? null : { nodes: Int32Array.from(cut.nodes), direction: cut.direction },
    command: "",
    network: null,
    lacks: lacksOf(schedule),
    violations: [],
    ms,
  };
}

/** Returns what formats need and a schedule has none of, by format; pictures as "svg: time". */
function lacksOf(schedule: AnySchedule): Record<string, Lack> {
  const found = pageExporters().flatMap(({ name, lacks }) => {
    const lack = lacks?.(schedule) ?? null;
    return lack === null ? [] : [[name, lack] as const];
  });
  const inTime = found.some(([, lack]) => lack === "messages") ? [["svg: time", "messages"] as const] : [];
  return Object.fromEntries([...found, ...inTime]);
}
