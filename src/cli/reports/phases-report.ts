import type { AnySchedule } from "../../model/steps/schedule.ts";
import { count, significant } from "../../report/amounts.ts";
import type { Report } from "../../report/result.ts";
import { networkText, sizedText } from "../../report/subject-text.ts";
import { dimensionLines } from "./dimension-lines.ts";
import { closingLines, reachedLines, speedLines } from "./rate-report.ts";
import type { Style } from "./style.ts";
import { labelled, timingCells } from "./text.ts";

/** Returns the lines of the report of `banyan synth` for phases. */
export function phasesReportLines(
  report: Report,
  { topology, collective }: Pick<AnySchedule, "topology" | "collective">,
  style: Style,
  fileBytes?: number,
): string[] {
  const { simulated, perDimension, schedule } = report;
  if (perDimension === undefined || simulated === null) return [];
  const label = (key: string, text: string): string => `  ${labelled(key, text)}`;
  const verdict = report.verified ? style.good("verified") : style.bad("NOT verified");
  const phases = `${count(schedule.phases ?? 0, "phase")} of ${count(collective.chunksPerNpu, "chunk")} by ${report.algorithm}`;
  const steps =
    schedule.transfers === null
      ? "sums in switches, not transfers between NPUs"
      : `about ${significant(schedule.transfers, 3)} transfers`;
  const lines = [
    "",
    label("topology", networkText(report.topology)),
    label("collective", sizedText(topology, collective)),
    label("schedule", `${phases} (${steps}), ${verdict}`),
    "",
    ...dimensionLines(perDimension, style).map((line) => `  ${line}`),
    "",
  ];
  const speeds = [["simulated", ...timingCells(simulated), simulated.model]];
  lines.push(...speedLines(speeds, style), "", ...reachedLines(report), "");
  lines.push(...closingLines(report, fileBytes));
  return lines;
}
