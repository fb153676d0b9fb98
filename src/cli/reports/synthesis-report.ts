import type { DirectFacts } from "../../model/direct/facts.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import { count, percent, roundedSize, timeText } from "../../report/amounts.ts";
import type { BoundReport, Report } from "../../report/result.ts";
import { collectiveText, networkText } from "../../report/subject-text.ts";
import { SYNTHESIZERS } from "../../synthesize/catalog.ts";
import { dimensionLines } from "./dimension-lines.ts";
import { bandwidthText } from "./direct-report.ts";
import { solverLines } from "./solver-lines.ts";
import type { Style } from "./style.ts";
import { labelled, labelledTable, timingCells } from "./text.ts";

/** Returns the cells of a bound: name, time, how near the result is, and why it holds. */
export function boundCells(name: string, { us, because }: BoundReport, achieved: string): string[] {
  return [name, timeText(us), achieved, because];
}

/** Below this share of the limit a schedule of one chunk per NPU may gain from more. */
const WORTH_MORE_CHUNKS = 0.9;

const DIRECT_LABELS = ["comm steps", "predicted"] as const;

/** Returns how good a schedule in comm steps is: "6 (Moore bound 5), T_B 1.021 M/B (1045/1024), least 0.9990". */
function directLines(facts: DirectFacts): [string, string] {
  const { steps, predictedUs } = facts;
  const opposite = facts.bidirectionalMooreSteps;
  const both = opposite === null || opposite === facts.mooreSteps ? "" : `, ${opposite} where links come in pairs`;
  return [
    `${steps} (Moore bound ${facts.mooreSteps}${both}), ${bandwidthText(facts)}`,
    `${timeText(predictedUs)} by comm steps (T_L + T_B)`,
  ];
}

const isPlanner = (name: string): boolean => SYNTHESIZERS.some((one) => one.name === name && one.plans === true);

/** Returns the lines of the report of `banyan synth`. `choseChunks`: by --chunks auto, which is then no hint. */
export function synthesisReport(
  report: Report,
  { topology, collective }: Pick<AnySchedule, "topology" | "collective">,
  style: Style,
  fileBytes?: number,
  choseChunks = false,
): string[] {
  const { time, simulated, bound, limit, reference, optimality, ofLimit, schedule, synthesis } = report;
  const label = (key: string, text: string): string => `  ${labelled(key, text)}`;
  const made = `${count(schedule.transfers ?? 0, "transfer")} by ${report.algorithm}`;
  const verdict = report.verified ? style.good("verified") : style.bad("NOT verified");
  const lines = [
    "",
    label("topology", networkText(report.topology)),
    label("collective", collectiveText(topology, collective)),
    label("schedule", `${made}, ${verdict}`),
    ...(report.direct === undefined ? [] : directLines(report.direct).map((text, i) => label(DIRECT_LABELS[i], text))),
    "",
  ];
  const speeds = [["", "time", "algbw", "busbw", ""]];
  const showsPlan = simulated === null || isPlanner(report.algorithm);
  if (showsPlan) speeds.push(["planned", ...timingCells(time), time.model]);
  if (simulated !== null) speeds.push(["simulated", ...timingCells(simulated), simulated.model]);
  const [head, ...rows] = labelledTable(speeds, ["left", "right", "right", "right", "left"]);
  lines.push(style.dim(`  ${head}`), ...rows.map((row) => `  ${row}`));
  if (simulated === null) lines.push(label("simulated", "not above 1e8 transfers without --simulate"));
  lines.push("");
  if (report.perDimension !== undefined)
    lines.push(...dimensionLines(report.perDimension, style).map((line) => `  ${line}`), "");
  const bounds = showsPlan ? [boundCells("bound", bound, `${percent(optimality)} of planned`)] : [];
  const share = ofLimit === null ? "" : `${percent(ofLimit)} of simulated`;
  bounds.push(boundCells("limit", limit, share));
  if (reference !== null) bounds.push(["reference", timeText(reference.us), "", `${reference.name}, not a bound`]);
  lines.push(...labelledTable(bounds, ["left", "right", "right", "left"]).map((line) => `  ${line}`));
  const { trials, seed, ms, backend, threads } = synthesis;
  const where = `${backend}${threads > 1 ? `, ${count(threads, "thread")}` : ""}`;
  lines.push(
    "",
    label(
      "synthesis",
      `${count(trials, "trial")} in ${timeText(ms * 1000)} on ${where}; seed ${seed}; ${synthesis.policy}`,
    ),
  );
  if (report.solver !== undefined) lines.push(...solverLines(report.solver).map((line) => `  ${line}`));
  if (
    report.direct === undefined &&
    collective.chunksPerNpu === 1 &&
    !choseChunks &&
    ofLimit !== null &&
    ofLimit < WORTH_MORE_CHUNKS &&
    collective.kind !== "custom"
  ) {
    lines.push(label("hint", "--chunks auto tries more chunks per NPU, which may be faster"));
  }
  if (report.solver !== undefined && !report.deterministic)
    lines.push(label("note", "the limit on time decided: another run may give another schedule"));
  for (const note of report.notes ?? []) lines.push(label("note", note));
  if (schedule.file !== null) {
    const size = fileBytes === undefined ? "" : ` (${roundedSize(fileBytes)})`;
    lines.push(label("file", `${schedule.file}${size}`));
  }
  return lines;
}
