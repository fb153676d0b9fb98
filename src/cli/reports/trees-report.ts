import type { AnySchedule } from "../../model/steps/schedule.ts";
import { count, gbpsText, percent, significant } from "../../report/amounts.ts";
import type { Report } from "../../report/result.ts";
import { networkText, sizedText } from "../../report/subject-text.ts";
import { closingLines, reachedLines, speedLines } from "./rate-report.ts";
import type { Style } from "./style.ts";
import { labelled, timingCells } from "./text.ts";

/** Returns the lines of the report of `banyan synth` for trees. */
export function treesReportLines(
  report: Report,
  { topology, collective }: Pick<AnySchedule, "topology" | "collective">,
  style: Style,
  fileBytes?: number,
): string[] {
  const { simulated, throughput, schedule } = report;
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
    label("collective", sizedText(topology, collective)),
    label("schedule", `${made}, ${verdict}`),
    label("trees", `${height}; a copy holds ${gbpsText(throughput.copyGBps)} and is sent in ${count(pieces, "piece")}`),
    "",
  ];
  const speeds = [
    [
      "throughput",
      "",
      gbpsText(throughput.algbwGBps),
      gbpsText(throughput.busbwGBps),
      `${throughput.exact} GB/s exactly, with ever more pieces`,
    ],
    ["simulated", ...timingCells(simulated), simulated.model],
  ];
  lines.push(...speedLines(speeds, style), "", ...reachedLines(report), "");
  if (report.traffic !== undefined) {
    const { sentByNpus, ofAllLinks } = report.traffic;
    const left = `NPUs send ${percent(sentByNpus)} and links carry ${percent(ofAllLinks)} of this traffic, at the same rates`;
    lines.push(label("multicast", `where switches duplicate and reduce, ${left}`));
  }
  lines.push(...closingLines(report, fileBytes));
  return lines;
}
