import { textWidth } from "../../base/visible.ts";
import { count, grouped, percent, roundedSize, significant, timeText } from "../../report/amounts.ts";
import { gainText } from "../../report/gains.ts";
import { axesText, axisText, boundText, meshText, runnersUp, strategyText } from "../../report/plan-text.ts";
import {
  type HandRow,
  handMesh,
  handTime,
  mainHands,
  nextCostText,
  nextName,
  nextStateText,
  whyNotText,
} from "../../report/plan-why.ts";
import { networkText } from "../../report/subject-text.ts";
import type { PlanRow } from "../../report/tensor-plan.ts";
import type { PlanReport } from "../../run/plan/report.ts";
import type { Context } from "../context.ts";
import { table } from "./table.ts";
import { labelled, reportWidth, wrapped } from "./text.ts";

/** Columns of names and times of hand-made plans, and of why they are not the plan, at least. */
const NAME_WIDTH = 30;
const TIME_WIDTH = 10;
const LEAST_WHY = 24;

/** Classes of hand-made plans that are told without details. */
const MOST_CLASSES = 6;

function memoryText({ memory }: Pick<PlanRow, "memory">): string {
  const { parameters, gradients, optimizer, activations, working } = memory;
  return Object.entries({ parameters, gradients, optimizer, activations, working })
    .filter(([, bytes]) => bytes > 0)
    .map(([name, bytes]) => `${name} ${roundedSize(bytes)}`)
    .join(", ");
}

/** Returns the plan, how good it is, and the runners-up. */
export function planLines(report: PlanReport, context: Pick<Context, "style" | "options" | "terminal">): string[] {
  const { model, topology, accelerator, step, plan, shares, search, byHand, others } = report;
  const { style } = context;
  const waits = Object.entries(shares.exposed).filter(([, share]) => share > 0.0005);
  const lines = [
    labelled("model", `${model.name}, ${significant(model.parameters / 1e9, 4)} B parameters`),
    labelled("topology", networkText(topology)),
    labelled("NPUs", `${accelerator.name}, ${roundedSize(step.memoryBytes)} for the plan`),
    "",
    labelled("mesh", `${meshText(plan)}, ${count(plan.passes, "pass", "passes")} a step`),
    ...(plan.stages.length === 1
      ? plan.strategies.map((axis) => labelled(`axis ${axis.axis}`, axisText(axis)))
      : plan.stages.map((stage, s) =>
          labelled(
            `stage ${s + 1}`,
            `${stage.from} .. ${stage.to}: ${axesText(stage)}; ${roundedSize(stage.memory.total)} an NPU`,
          ),
        )),
    labelled(
      "step",
      `${timeText(plan.us)}: computing ${percent(shares.compute)}${shares.bubble > 0.0005 ? `, waiting for other stages ${percent(shares.bubble)}` : ""}${waits.map(([axes, share]) => `, waiting on ${axes} ${percent(share)}`).join("")}`,
    ),
    labelled("memory", `${roundedSize(plan.memory.total)} an NPU: ${memoryText(plan)}`),
    ...(plan.againCount > 0
      ? [labelled("made again", `${count(plan.againCount, "tensor", "tensors")} in the backward pass`)]
      : []),
    labelled("bound", boundText(search, plan)),
  ];
  if (byHand !== null) {
    const { us } = byHand;
    lines.push(
      labelled(
        "by hand",
        `${strategyText(byHand)} on ${meshText(byHand)} takes ${timeText(us)} (${gainText(us, plan.us)} for the plan)`,
      ),
    );
  }
  const shown = runnersUp(plan, others);
  if (shown.length > 0) {
    lines.push("");
    const head = ["runner-up", "mesh", "passes", "memory", "step"];
    const cells = shown.map((other) => [
      strategyText(other),
      meshText(other),
      String(other.passes),
      roundedSize(other.memory.total),
      timeText(other.us),
    ]);
    lines.push(...table(head.map(style.dim), cells, ["left", "left", "right", "right", "right"]));
  }
  const isDetailed = context.options["details"] === true;
  const told = isDetailed ? report.classes : mainHands(report.classes, MOST_CLASSES);
  if (told.length > 0) lines.push("", ...classLines(report, told, context));
  if (isDetailed) {
    if (plan.stages.length > 1) {
      lines.push("", ...plan.stages.map((stage, s) => labelled(`memory ${s + 1}`, memoryText(stage))));
    }
    if (report.nextStates.length > 0) lines.push("", ...nextLines(report, context));
    lines.push("", ...collectiveLines(report, context), "", ...tensorLines(report, context));
  }
  return ["", ...lines].map((line) => `  ${line}`.trimEnd());
}

/** Returns hand-made plans and why they are not the plan. */
function classLines(
  { plan, shares }: PlanReport,
  rows: readonly HandRow[],
  { style, terminal }: Pick<Context, "style" | "terminal">,
): string[] {
  const best = { us: plan.us, computeUs: shares.compute * plan.us };
  const head = ["by hand", "mesh", "passes", "memory", "step", "why not"];
  const texts = rows.map((row) => [
    wrapped(row.name, NAME_WIDTH),
    [handMesh(row)],
    [String(row.passes)],
    [row.memoryBytes === null ? "-" : roundedSize(row.memoryBytes)],
    wrapped(handTime(row), TIME_WIDTH),
    [whyNotText(row, best)],
  ]);
  const widths = head
    .slice(0, -1)
    .map((name, i) => Math.max(textWidth(name), ...texts.map((cells) => Math.max(...(cells[i] ?? []).map(textWidth)))));
  // two blanks before each column
  const left = reportWidth(terminal) - widths.reduce((sum, width) => sum + width + 2, 2);
  const cells = texts.map((row) =>
    row.map((cell, i) =>
      (i < widths.length ? cell : cell.flatMap((text) => wrapped(text, Math.max(LEAST_WHY, left)))).join("\n"),
    ),
  );
  return table(head.map(style.dim), cells, ["left", "left", "right", "right", "left", "left"]);
}

/** Returns what the next best states of tensors would cost. */
function nextLines({ nextStates }: PlanReport, { style }: Pick<Context, "style">): string[] {
  const isStaged = nextStates.some(({ stage }) => stage > 1);
  const head = ["tensor", "times", "lies", "instead", "would take"];
  const cells = nextStates.map((row) => [
    `${isStaged ? `${row.stage}: ` : ""}${nextName(row)}`,
    grouped(row.count),
    nextStateText(row, row.now),
    nextStateText(row, row.instead),
    nextCostText(row),
  ]);
  return table(head.map(style.dim), cells, ["left", "right", "left", "left", "left"]);
}

function collectiveLines({ collectives }: PlanReport, { style }: Pick<Context, "style">): string[] {
  const head = ["collective", "axes", "groups", "size", "times", "algorithm", "time"];
  const cells = collectives.map((one) => [
    one.collective,
    one.axes,
    `${grouped(one.groupCount)} x ${grouped(one.groupSize)}`,
    roundedSize(one.bytes),
    grouped(one.times),
    one.algorithm,
    timeText(one.us),
  ]);
  return table(head.map(style.dim), cells, ["left", "left", "right", "right", "right", "left", "right"]);
}

/** Returns where tensors lie: an axis between bars each; those that are brought elsewhere with where. */
function tensorLines({ tensors }: PlanReport, { style }: Pick<Context, "style">): string[] {
  const isStaged = tensors.some(({ stage }) => stage > 1);
  const head = ["tensor", "times", "lies", "retention", "brought to"];
  const cells = tensors.map(({ stage, name: own, count: times, pattern, retention, streamed, home, copies }) => {
    const name = isStaged ? `${stage}: ${own}` : own;
    const to = (when: string, patterns: readonly string[]): string[] => patterns.map((one) => `${when}: ${one}`);
    const all = [...to("forward", copies.forward), ...to("backward", copies.backward), ...to("update", copies.update)];
    const kept = streamed === null ? retention : `${retention}, streamed with ${streamed}`;
    return [name, grouped(times), pattern, kept, [...(home === null ? [] : [`home: ${home}`]), ...all].join("; ")];
  });
  return table(head.map(style.dim), cells, ["left", "right", "left", "left", "left"]);
}
