import type { Collective } from "../model/collective.ts";
import { groupOrder, listedTrees, type TreeFlow } from "../model/tree-flow.ts";
import type { Report } from "../result.ts";
import type { Style } from "./style.ts";
import { boundCells, networkText, sizedText } from "./synthesis-report.ts";
import {
  count,
  gbpsText,
  labelled,
  labelledTable,
  percent,
  roundedSize,
  significant,
  timeText,
  timingCells,
} from "./text.ts";

/** Returns "1024 trees", or of how many roots one stands for all. */
export function treesText(flow: TreeFlow): string {
  const trees = listedTrees(flow);
  const images = groupOrder(flow.symmetry);
  return images === 1 ? count(trees, "tree") : `${count(trees * images, "tree")} (images of ${trees})`;
}

/** Returns the lines of the report of `banyan synth` for trees. */
export function treesReportLines(report: Report, collective: Collective, style: Style, fileBytes?: number): string[] {
  const { simulated, throughput, bound, limit, reference, optimality, ofLimit, schedule, synthesis } = report;
  if (throughput === undefined || simulated === null) return [];
  const label = (key: string, text: string): string => `  ${labelled(key, text)}`;
  const perRoot =
    throughput.treesPerRoot === null
      ? ", roots with different numbers of copies,"
      : `, ${count(throughput.treesPerRoot, "copy", "copies")} per root`;
  const made = `${count(throughput.distinctTrees, "different tree")}${perRoot} by ${report.algorithm}`;
  const verdict = report.verified ? style.good("verified") : style.bad("NOT verified");
  const height = `height ${throughput.height}, ${significant(throughput.meanHeight, 3)} on average`;
  const pieces = schedule.pieces ?? 1;
  const lines = [
    "",
    label("topology", networkText(report.topology)),
    label("collective", sizedText(collective)),
    label("schedule", `${made}, ${verdict}`),
    label("trees", `${height}; a copy holds ${gbpsText(throughput.copyGBps)} and is sent in ${count(pieces, "piece")}`),
    "",
  ];
  const speeds = [
    ["", "time", "algbw", "busbw", ""],
    [
      "throughput",
      "",
      gbpsText(throughput.algbwGBps),
      gbpsText(throughput.busbwGBps),
      `${throughput.exact} GB/s exactly, with ever more pieces`,
    ],
    ["simulated", ...timingCells(simulated), simulated.model],
  ];
  const [head, ...rows] = labelledTable(speeds, ["left", "right", "right", "right", "left"]);
  lines.push(style.dim(`  ${head}`), ...rows.map((row) => `  ${row}`), "");
  const bounds = [boundCells("bound", bound, `${percent(optimality)} reached`)];
  bounds.push(boundCells("limit", limit, ofLimit === null ? "" : `${percent(ofLimit)} of simulated`));
  if (reference !== null) bounds.push(["reference", timeText(reference.us), "", `${reference.name}, not a bound`]);
  lines.push(...labelledTable(bounds, ["left", "right", "right", "left"]).map((line) => `  ${line}`), "");
  if (report.traffic !== undefined) {
    const { sentByNpus, ofAllLinks } = report.traffic;
    const left = `NPUs send ${percent(sentByNpus)} and links carry ${percent(ofAllLinks)} of this traffic, at the same rates`;
    lines.push(label("multicast", `where switches duplicate and reduce, ${left}`));
  }
  for (const note of report.notes ?? []) lines.push(label("note", note));
  const { seed, ms, backend, policy } = synthesis;
  lines.push(label("synthesis", `${timeText(ms * 1000)} on ${backend}; seed ${seed}; ${policy}`));
  if (schedule.file !== null) {
    const size = fileBytes === undefined ? "" : ` (${roundedSize(fileBytes)})`;
    lines.push(label("file", `${schedule.file}${size}`));
  }
  return lines;
}
