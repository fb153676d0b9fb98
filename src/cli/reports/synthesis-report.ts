import type { DirectFacts } from "../../model/direct/facts.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import { count, gbpsText, percent, significant, timeText } from "../../report/amounts.ts";
import type { Report } from "../../report/result.ts";
import { collectiveText, networkText, sizedText } from "../../report/subject-text.ts";
import { chainLines, closingLines } from "./chain-report.ts";
import { dimensionLines } from "./dimension-lines.ts";
import { bandwidthText } from "./direct-report.ts";
import type { Style } from "./style.ts";
import { labelled } from "./text.ts";

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

const label = (key: string, text: string): string => `  ${labelled(key, text)}`;

/** Returns what a schedule consists of, and lines on its form, by kind; `verdict` in a word. */
function formOf(report: Report, verdict: string, { chunksPerNpu }: AnySchedule["collective"]): [string, ...string[]] {
  const { schedule, throughput, direct, algorithm } = report;
  if (throughput !== undefined) {
    const { treesPerRoot, distinctTrees, height, meanHeight, copyGBps } = throughput;
    const perRoot =
      treesPerRoot === null
        ? ", roots with different numbers of copies,"
        : `, ${count(treesPerRoot, "copy", "copies")} per root`;
    const heights = `height ${height}, ${significant(meanHeight, 3)} on average`;
    return [
      `${count(distinctTrees, "different tree")}${perRoot} by ${algorithm}, ${verdict}`,
      label(
        "trees",
        `${heights}; a copy holds ${gbpsText(copyGBps)} and is sent in ${count(schedule.pieces ?? 1, "piece")}`,
      ),
    ];
  }
  if (schedule.kind === "periods") {
    const { trees = 0, rounds = 0, periodUs = 0 } = schedule;
    return [`${count(trees, "tree")}, ${count(rounds, "round")} of ${timeText(periodUs)} by ${algorithm}, ${verdict}`];
  }
  if (schedule.kind === "phases") {
    const steps =
      schedule.transfers === null
        ? "sums in switches, not transfers between NPUs"
        : `about ${significant(schedule.transfers, 3)} transfers`;
    return [
      `${count(schedule.phases ?? 0, "phase")} of ${count(chunksPerNpu, "chunk")} by ${algorithm} (${steps}), ${verdict}`,
    ];
  }
  return [
    `${count(schedule.transfers ?? 0, "transfer")} by ${algorithm}, ${verdict}`,
    ...(direct === undefined ? [] : directLines(direct).map((text, i) => label(DIRECT_LABELS[i], text))),
  ];
}

/** Returns the lines of the report of `banyan synth`, of a schedule of any kind; `details`: figures of other models too. */
export function synthesisReport(
  report: Report,
  { topology, collective }: Pick<AnySchedule, "topology" | "collective">,
  style: Style,
  { fileBytes, details = false }: { readonly fileBytes?: number | undefined; readonly details?: boolean } = {},
): string[] {
  const { perDimension, traffic, schedule } = report;
  const verdict = report.verified ? style.good("verified") : style.bad("NOT verified");
  const [made, ...form] = formOf(report, verdict, collective);
  const isCounted = schedule.kind !== "trees" && schedule.kind !== "phases";
  const lines = [
    "",
    label("topology", networkText(report.topology)),
    label("collective", (isCounted ? collectiveText : sizedText)(topology, collective)),
    label("schedule", made),
    ...form,
    "",
    ...chainLines(report, style, details),
    "",
  ];
  if (perDimension !== undefined) lines.push(...dimensionLines(perDimension, style).map((line) => `  ${line}`), "");
  if (traffic !== undefined) {
    const left = `NPUs send ${percent(traffic.sentByNpus)} and links carry ${percent(traffic.ofAllLinks)} of this traffic, at the same rates`;
    lines.push(label("multicast", `where switches duplicate and reduce, ${left}`));
  }
  return [...lines, ...closingLines(report, { fileBytes, details })];
}
