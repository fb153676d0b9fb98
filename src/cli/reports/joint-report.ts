import { type JointSchedule, jointTransferCount } from "../../model/joint/joint-schedule.ts";
import { formatSize } from "../../model/numbers/units.ts";
import { count, gbpsText, percent, timeText } from "../../report/amounts.ts";
import { type JointReport, tenantReport } from "../../report/joint-result.ts";
import type { Timing } from "../../report/result.ts";
import { collectiveText, networkText } from "../../report/subject-text.ts";
import { solverLines } from "./solver-lines.ts";
import type { Style } from "./style.ts";
import { boundCells } from "./synthesis-report.ts";
import { labelled, labelledTable } from "./text.ts";

const label = (key: string, text: string): string => `  ${labelled(key, text)}`;

/** Returns a line for each collective: what it is and when its last transfer is planned to end. */
export function tenantLines(joint: JointSchedule): string[] {
  return joint.tenants.map(({ collective }, t) => {
    const ends = timeText(tenantReport(joint, t).time.us);
    return labelled(
      t === 0 ? "collectives" : "",
      `${t}  ${collectiveText(joint.topology, collective)}, done at ${ends}`,
    );
  });
}

/** Returns a table of times, each with the bytes of all collectives over it. */
export function timeLines(
  rows: readonly (readonly [name: string, time: Timing & { readonly model: string }])[],
  style: Style,
): string[] {
  const cells = rows.map(([name, time]) => [name, timeText(time.us), gbpsText(time.algbwGBps), time.model]);
  const [head, ...lines] = labelledTable([["", "time", "in all", ""], ...cells], ["left", "right", "right", "left"]);
  return [style.dim(head as string), ...lines];
}

/** Returns the lines of the report of `banyan synth --collectives`. */
export function jointReportLines(
  report: JointReport,
  joint: JointSchedule,
  style: Style,
  fileBytes?: number,
): string[] {
  const { time, simulated, bound, limit, optimality, ofLimit, schedule, synthesis } = report;
  const verdict = report.verified ? style.good("verified") : style.bad("NOT verified");
  const share = ofLimit === null ? "" : `${percent(ofLimit)} of simulated`;
  const bounds = [boundCells("bound", bound, `${percent(optimality)} of planned`), boundCells("limit", limit, share)];
  const { trials, seed, ms, backend, threads } = synthesis;
  const where = `${backend}${threads > 1 ? `, ${count(threads, "thread")}` : ""}`;
  const made = `${count(jointTransferCount(joint), "transfer")} by ${report.algorithm}, all together, ${verdict}`;
  const lines = [
    "",
    label("topology", networkText(report.topology)),
    ...tenantLines(joint).map((line) => `  ${line}`),
    label("schedule", made),
    "",
    ...timeLines([["planned", time], ...(simulated === null ? [] : [["simulated", simulated] as const])], style).map(
      (line) => `  ${line}`,
    ),
    "",
    ...labelledTable(bounds, ["left", "right", "right", "left"]).map((line) => `  ${line}`),
    "",
    label(
      "synthesis",
      `${count(trials, "trial")} in ${timeText(ms * 1000)} on ${where}; seed ${seed}; ${synthesis.policy}`,
    ),
  ];
  if (report.solver !== undefined) lines.push(...solverLines(report.solver).map((line) => `  ${line}`));
  for (const note of report.notes ?? []) lines.push(label("note", note));
  if (schedule.file !== null) {
    const size = fileBytes === undefined ? "" : ` (${formatSize(fileBytes)})`;
    lines.push(label("file", `${schedule.file}${size}`));
  }
  return lines;
}
