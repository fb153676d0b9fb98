import type { Collective } from "../model/collective.ts";
import type { Report } from "../result.ts";
import { dimensionLines } from "./dimension-lines.ts";
import type { Style } from "./style.ts";
import { boundCells, networkText, sizedText } from "./synthesis-report.ts";
import { count, labelled, labelledTable, percent, roundedSize, significant, timeText, timingCells } from "./text.ts";

/** Returns the lines of the report of `banyan synth` for phases. */
export function phasesReportLines(report: Report, collective: Collective, style: Style, fileBytes?: number): string[] {
  const { simulated, perDimension, bound, limit, reference, optimality, ofLimit, schedule, synthesis } = report;
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
    label("collective", sizedText(collective)),
    label("schedule", `${phases} (${steps}), ${verdict}`),
    "",
    ...dimensionLines(perDimension, style).map((line) => `  ${line}`),
    "",
  ];
  const speeds = [
    ["", "time", "algbw", "busbw", ""],
    ["simulated", ...timingCells(simulated), simulated.model],
  ];
  const [head, ...rows] = labelledTable(speeds, ["left", "right", "right", "right", "left"]);
  lines.push(style.dim(`  ${head}`), ...rows.map((row) => `  ${row}`), "");
  const bounds = [boundCells("bound", bound, `${percent(optimality)} reached`)];
  bounds.push(boundCells("limit", limit, ofLimit === null ? "" : `${percent(ofLimit)} of simulated`));
  if (reference !== null) bounds.push(["reference", timeText(reference.us), "", `${reference.name}, not a bound`]);
  lines.push(...labelledTable(bounds, ["left", "right", "right", "left"]).map((line) => `  ${line}`), "");
  for (const note of report.notes ?? []) lines.push(label("note", note));
  const { seed, ms, backend, policy } = synthesis;
  lines.push(label("synthesis", `${timeText(ms * 1000)} on ${backend}; seed ${seed}; ${policy}`));
  if (schedule.file !== null) {
    const size = fileBytes === undefined ? "" : ` (${roundedSize(fileBytes)})`;
    lines.push(label("file", `${schedule.file}${size}`));
  }
  return lines;
}
