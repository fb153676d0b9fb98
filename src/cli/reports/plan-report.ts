import { count, grouped, percent, roundedSize, significant, timeText } from "../../report/amounts.ts";
import { gainText } from "../../report/gains.ts";
import { networkText } from "../../report/subject-text.ts";
import type { AxisStrategy, PlanRow } from "../../report/tensor-plan.ts";
import type { PlanReport } from "../../run/plan/report.ts";
import type { Context } from "../context.ts";
import { table } from "./table.ts";
import { labelled } from "./text.ts";

/** Returns stages and the mesh of each: "4 stages of 2x8"; of one stage its mesh. */
function meshText({ mesh, stages }: PlanRow): string {
  const own = mesh.map(({ size }) => size).join("x");
  return stages.length === 1 ? own : `${stages.length} stages of ${own}`;
}

/** Returns what an axis is used for: "8 data, parameters shared (FSDP)", with shares where there are several. */
function axisText({ size, uses }: AxisStrategy): string {
  if (uses.length === 0) return `${size} the same on all`;
  const parts = uses.map(({ name, share }) => (uses.length === 1 ? name : `${name} ${percent(share)}`));
  return `${size} ${parts.join(" + ")}`;
}

const axesText = ({ strategies }: Pick<PlanRow, "strategies">): string => strategies.map(axisText).join("; ");

/** Returns what a plan is called: "4 stages, 8 data"; where stages differ, what the first does. */
function strategyText(row: PlanRow): string {
  const { length } = row.stages;
  const differs = row.stages.some((stage) => axesText(stage) !== axesText(row));
  return length === 1 ? axesText(row) : `${length} stages, ${axesText(row)}${differs ? " in the first" : ""}`;
}

function memoryText({ memory }: Pick<PlanRow, "memory">): string {
  const { parameters, gradients, optimizer, activations, working } = memory;
  return Object.entries({ parameters, gradients, optimizer, activations, working })
    .filter(([, bytes]) => bytes > 0)
    .map(([name, bytes]) => `${name} ${roundedSize(bytes)}`)
    .join(", ");
}

/** Returns the plan, how good it is, and the runners-up. */
export function planLines(report: PlanReport, context: Pick<Context, "style" | "options">): string[] {
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
    labelled(
      "bound",
      `${timeText(search.boundUs)} for any plan of ${plan.stages.length === 1 ? "this mesh" : "these stages"} and number of passes${search.leftFreeBytes > 0 ? ` that leaves ${roundedSize(search.leftFreeBytes)} free` : ""}, ${timeText(plan.countedUs)} counted for this one${search.gap <= 1e-6 ? ": none is faster" : `: at most ${percent(search.gap)} faster`}`,
    ),
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
  const different = others.filter(
    (other) => strategyText(other) !== strategyText(plan) || meshText(other) !== meshText(plan),
  );
  const shown = different.filter(
    (other, i) =>
      different.findIndex((one) => strategyText(one) === strategyText(other) && meshText(one) === meshText(other)) ===
      i,
  );
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
  if (context.options["details"] === true) {
    if (plan.stages.length > 1) {
      lines.push("", ...plan.stages.map((stage, s) => labelled(`memory ${s + 1}`, memoryText(stage))));
    }
    lines.push("", ...collectiveLines(report, context), "", ...tensorLines(report, context));
  }
  return ["", ...lines].map((line) => `  ${line}`.trimEnd());
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
  const cells = tensors.map(({ stage, name: own, count: times, pattern, retention, home, copies }) => {
    const name = isStaged ? `${stage}: ${own}` : own;
    const to = (when: string, patterns: readonly string[]): string[] => patterns.map((one) => `${when}: ${one}`);
    const all = [...to("forward", copies.forward), ...to("backward", copies.backward), ...to("update", copies.update)];
    return [name, grouped(times), pattern, retention, [...(home === null ? [] : [`home: ${home}`]), ...all].join("; ")];
  });
  return table(head.map(style.dim), cells, ["left", "right", "left", "left", "left"]);
}
