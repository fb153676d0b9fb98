import { formatGigabytes, TERA } from "../../model/numbers/units.ts";
import { count, grouped, percent, roundedSize, significant, timeText } from "../../report/amounts.ts";
import { gainText } from "../../report/gains.ts";
import { networkText } from "../../report/subject-text.ts";
import { groupName, type TrainingRow } from "../../report/training.ts";
import { parallelText } from "../../request/parallel.ts";
import type { GivenReport, TrainingReport } from "../../run/training/report.ts";
import type { Context } from "../context.ts";
import { table } from "./table.ts";
import { labelled } from "./text.ts";

const billions = (parameters: number): string => `${significant(parameters / 1e9, 4)} B`;
const flopsText = (flops: number): string => `${significant(flops / TERA, 4)} TFLOP/s`;

/** Returns the model and how it is trained. */
function subjectLines({ model, topology, accelerator, step }: TrainingReport): string[] {
  const { parameters, activeParameters } = model;
  const size =
    parameters === 0
      ? ""
      : `, ${billions(parameters)} parameters${activeParameters === parameters ? "" : `, ${billions(activeParameters)} active`}`;
  const tokens = step.tokens > 0 ? `, ${grouped(step.tokens)} tokens` : "";
  const micro = `${count(step.microBatches, "micro batch", "micro batches")} of ${step.microBatch}`;
  return [
    labelled("model", `${model.name}${size}`),
    labelled("topology", networkText(topology)),
    labelled(
      "NPUs",
      `${accelerator.name}: ${flopsText(accelerator.peakFlops)} in ${step.precision}, ${formatGigabytes(accelerator.memoryBytes)}`,
    ),
    labelled(
      "parallel",
      `${parallelText(step.parallelism)}; ${micro}${step.recompute === "none" ? "" : `, recompute ${step.recompute}`}`,
    ),
    labelled("step", `${grouped(step.batch)} samples${tokens}`),
  ];
}

function memoryLine({ memory, accelerator, step }: TrainingReport): string {
  const { parameters, gradients, optimizer, activations, working, total, stage } = memory;
  const parts = Object.entries({ parameters, gradients, optimizer, activations, working })
    .filter(([, bytes]) => bytes > 0)
    .map(([name, bytes]) => `${name} ${formatGigabytes(bytes)}`);
  const where = step.parallelism.pipeline > 1 ? ` (stage ${stage})` : "";
  return labelled(
    "memory",
    `${formatGigabytes(total)} of ${formatGigabytes(accelerator.memoryBytes)} an NPU${where}: ${parts.join(", ")}`,
  );
}

/** Returns the rows of makers: the step and where its time goes. */
function rowLines(rows: readonly TrainingRow[], { style }: Pick<Context, "style">): string[] {
  const groups = [...new Set(rows.flatMap(({ exposedUs }) => Object.keys(exposedUs)))];
  const first = rows[0] as TrainingRow;
  const hasSamples = rows.some(({ samplesPerSecond }) => samplesPerSecond > 0);
  const hasTokens = rows.some(({ tokensPerSecond }) => tokensPerSecond !== null);
  const hasBubble = rows.some(({ bubbleUs }) => bubbleUs > 0);
  const head = [
    "collectives",
    "step",
    ...(hasSamples ? [hasTokens ? "tokens/s" : "samples/s", "MFU"] : []),
    "compute",
    ...groups.map((group) => `wait ${groupName(group)}`),
    ...(hasBubble ? ["bubble"] : []),
    "gain",
  ];
  const cells = rows.map((row, i) => [
    row.collectives,
    timeText(row.us),
    ...(hasSamples
      ? [
          significant(row.tokensPerSecond ?? row.samplesPerSecond),
          row.modelUtilisation === null ? "-" : percent(row.modelUtilisation),
        ]
      : []),
    percent(row.computeUs / row.us),
    ...groups.map((group) => percent((row.exposedUs[group] ?? 0) / row.us)),
    ...(hasBubble ? [percent(row.bubbleUs / row.us)] : []),
    i === 0 ? "" : gainText(first.us, row.us),
  ]);
  return table(
    head.map(style.dim),
    cells,
    head.map((_, i) => (i === 0 ? "left" : "right")),
  );
}

function communicationLines({ communications, us }: TrainingRow, { style }: Pick<Context, "style">): string[] {
  const head = ["group", "collective", "size", "algorithm", "time", "times", "of step"];
  const cells = communications.map((one) => [
    groupName(one.group),
    one.collective,
    roundedSize(one.bytes),
    one.algorithm,
    timeText(one.us),
    String(one.times),
    percent((one.times * one.us) / us),
  ]);
  return table(head.map(style.dim), cells, ["left", "left", "right", "left", "right", "right", "right"]);
}

function stageLines({ stages }: TrainingRow, { style }: Pick<Context, "style">): string[] {
  const groups = Object.keys(stages[0]?.exposedUs ?? {});
  const head = ["stage", "compute", ...groups.map((group) => `wait ${groupName(group)}`), "bubble"];
  const cells = stages.map(({ stage, computeUs, exposedUs, bubbleUs }) => [
    stage,
    timeText(computeUs),
    ...groups.map((group) => timeText(exposedUs[group] ?? 0)),
    timeText(bubbleUs),
  ]);
  return table(
    head.map(style.dim),
    cells,
    head.map((_, i) => (i === 0 ? "left" : "right")),
  );
}

/** Returns the meshes that were tried. */
function searchLines({ search }: TrainingReport, { style }: Pick<Context, "style">): string[] {
  if (search === null) return [];
  const { best, tried, tooLarge, simulated, pruned } = search;
  const head = ["mesh", "micro batch", "recompute", "memory", "step"];
  const cells = best.map(({ way, us, memoryBytes }) => [
    parallelText(way.parallelism),
    String(way.microBatch),
    way.recompute,
    formatGigabytes(memoryBytes),
    timeText(us),
  ]);
  const counts = `${grouped(tried)} ways: ${grouped(tooLarge)} too large, ${grouped(simulated)} simulated, ${grouped(pruned)} slower by computations and the pipeline's filling alone`;
  return [
    "",
    labelled("tried", counts),
    ...table(head.map(style.dim), cells, ["left", "right", "left", "right", "right"]),
  ];
}

/** Returns what a failure costs a step. */
function failureLines({ rows, wholeNetwork }: TrainingReport): string[] {
  if (wholeNetwork === null) return [];
  const parts = rows.map((row, i) => {
    const whole = wholeNetwork[i] as TrainingRow;
    return `${row.collectives} ${timeText(whole.us)} -> ${timeText(row.us)} (${percent(row.us / whole.us - 1)} more)`;
  });
  return ["", labelled("failure", parts.join("; "))];
}

/** Returns what was read. */
const givenLines = ({ workload, topology }: GivenReport): string[] => [
  labelled(
    "workload",
    `${workload.name}, ${workload.source}: ${count(workload.tasks, "task")} of ${count(workload.actors, "actor")}`,
  ),
  labelled("topology", networkText(topology)),
];

/** Returns the report of a training step as lines. */
export function trainingLines(
  report: TrainingReport | GivenReport,
  context: Pick<Context, "style" | "options">,
): string[] {
  const shown = report.rows.find(({ collectives }) => collectives === "best") ?? (report.rows[0] as TrainingRow);
  const details =
    context.options["details"] === true
      ? [
          "",
          ...communicationLines(shown, context),
          ...(shown.stages.length > 1 ? ["", ...stageLines(shown, context)] : []),
        ]
      : [];
  const subject =
    "workload" in report
      ? givenLines(report)
      : [...subjectLines(report), memoryLine(report), ...searchLines(report, context)];
  const failure = "workload" in report ? [] : failureLines(report);
  return ["", ...subject, "", ...rowLines(report.rows, context), ...failure, ...details].map((line) =>
    `  ${line}`.trimEnd(),
  );
}
