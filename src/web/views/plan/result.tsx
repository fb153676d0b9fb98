import { useCallback } from "preact/hooks";
import { jsonText } from "../../../base/visible.ts";
import { count, grouped, percent, roundedSize, significant, timeText } from "../../../report/amounts.ts";
import { plainName } from "../../../report/file-name.ts";
import { gainText } from "../../../report/gains.ts";
import { axesText, axisText, boundText, meshText, runnersUp, strategyText } from "../../../report/plan-text.ts";
import { handMesh, handTime, whyNotText } from "../../../report/plan-why.ts";
import { ColumnHeads } from "../../parts/column-heads.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import type { PlanView } from "../../plan-protocol.ts";
import type { GivenFile } from "../../protocol.ts";
import { Bar, Folded, Key, Memory } from "../step/bars.tsx";
import { Figures } from "../step/figures.tsx";
import { Files } from "../step/files.tsx";
import { StepInTime } from "../step/in-time.tsx";
import { fileOf, isOld, type MadePlan, timelineOf } from "./ask.ts";
import { PlanGraph } from "./graph.tsx";
import { axisColour, colourOf } from "./looks.ts";

type Report = PlanView["report"];

/** What the best plan takes, what it is, and how near it is to what can be. */
export function Result({ of }: { readonly of: MadePlan }) {
  const { report, command } = of.view;
  const find = useCallback((signal: AbortSignal) => timelineOf(of, signal), [of]);
  const { mesh } = report.plan;
  const colour = useCallback((kind: string) => colourOf(mesh, kind), [mesh]);
  return (
    <div class="step-result">
      <p class="step-sentence">
        {answerText(report)}
        {isOld.value && <span class="old-answer">made for another network or plan</span>}
      </p>
      <PlanFigures report={report} />
      <Stages report={report} />
      <Axes report={report} />
      <p class="plan-bound">
        <b>Bound:</b> {boundText(report.search, report.plan)}.{" "}
        <span class="soft">The search: {report.search.how}.</span>
      </p>
      <Shares report={report} />
      <Memory memory={report.plan.memory} capacity={report.step.memoryBytes} />
      <div class="step-bar plan-files">
        <span class="soft">Save</span>
        <Files
          files={[
            { title: "PyTorch placements", make: () => fileOf(of, "torch") },
            { title: "JAX specs", make: () => fileOf(of, "jax") },
            { title: "Commands", make: () => fileOf(of, "commands") },
            { title: "Perfetto trace", busy: "Writing the trace...", make: () => fileOf(of, "trace") },
            { title: "Chakra traces", busy: "Writing traces...", make: () => fileOf(of, "chakra") },
            { title: "JSON", make: () => reportFile(report) },
          ]}
        />
      </div>
      <PlanGraph view={of.view} />
      <StepInTime find={find} of="computations and the collectives of each set of axes" colourOf={colour} />
      <RunnersUp report={report} />
      <Classes report={report} />
      <Collectives report={report} />
      <Tensors report={report} />
      <p class="plan-command">
        <code>{command}</code> <CopyButton text={command} what="command" />
      </p>
    </div>
  );
}

/** Returns the report as the command line's file. */
const reportFile = (report: Report): GivenFile => ({
  name: `${plainName(report.model.name)}.${plainName(report.topology.name) || "network"}.plan.json`,
  content: new Blob([`${jsonText(report, 2)}\n`], { type: "application/json" }),
});

/** Returns what the step takes, in a sentence or two. */
function answerText({ model, topology, plan, byHand }: Report): string {
  const what = `A step of ${model.name} on ${topology.name || "the network"} takes ${timeText(plan.us)}: ${strategyText(plan)}, in ${count(plan.passes, "pass", "passes")}.`;
  if (byHand === null) return `${what} No plan that people write by hand fits.`;
  const gain = gainText(byHand.us, plan.us);
  const hand = `The best by hand (${strategyText(byHand)} on ${meshText(byHand)})`;
  if (gain === "tie") return `${what} ${hand} takes as long.`;
  return `${what} ${hand} takes ${timeText(byHand.us)}: the plan is ${gain} as fast.`;
}

function PlanFigures({ report: { model, plan, byHand, step, search, accelerator } }: { readonly report: Report }) {
  const figures: readonly (readonly [string, string, string])[] = [
    ["Step", timeText(plan.us), "simulated"],
    ...(byHand === null
      ? []
      : [["By hand", timeText(byHand.us), `the best: ${gainText(byHand.us, plan.us)}`] as const]),
    ["Mesh", meshText(plan), count(plan.passes, "pass", "passes")],
    ["Memory", roundedSize(plan.memory.total), `most at ${plan.memory.at}`],
    ["Made again", grouped(plan.againCount), "tensors"],
    ["Parameters", `${significant(model.parameters / 1e9, 4)} B`, `${accelerator.name}, ${step.precision}`],
    ["Searched", grouped(search.searched), `of ${count(search.looked, "way", "ways")} of splitting`],
  ];
  return <Figures of={figures} />;
}

/** What each stage has, where there are several. */
const Stages = ({ report: { plan } }: { readonly report: Report }) =>
  plan.stages.length === 1 ? null : (
    <ol class="plan-stages">
      {plan.stages.map((stage) => (
        <li key={stage.from}>
          {stage.from} to {stage.to}: {axesText(stage)}; {roundedSize(stage.memory.total)} an NPU
        </li>
      ))}
    </ol>
  );

/** What each axis is used for, of several stages in the first. */
const Axes = ({ report: { plan } }: { readonly report: Report }) => (
  <ul class="plan-axes">
    {plan.strategies.map((axis, i) => (
      <li key={axis.axis}>
        <i class="plan-axis" style={{ "--axis": `var(${axisColour(i)})` }}>
          {axis.axis}
        </i>
        {axisText(axis)}
      </li>
    ))}
  </ul>
);

/** Where the time of the step goes. */
function Shares({ report: { shares, plan } }: { readonly report: Report }) {
  const parts = [["compute", shares.compute] as const, ...Object.entries(shares.exposed)].filter(
    ([, share]) => share > 0.0005,
  );
  const text = (kind: string): string => (kind === "compute" ? "computing" : `waiting for ${kind}`);
  const told = parts.map(([kind, share]) => `${text(kind)} ${percent(share)}`);
  return (
    <section class="step-block" aria-label="Where the time goes">
      <h3>Where the time goes</h3>
      <Bar label={told.join(", ")} parts={parts.map(([kind, share]) => [colourOf(plan.mesh, kind), share])} />
      <Key entries={parts.map(([kind], i) => [colourOf(plan.mesh, kind), told[i] as string])} />
    </section>
  );
}

/** Plans that are called otherwise; nothing where there is none. */
function RunnersUp({ report: { plan, others } }: { readonly report: Report }) {
  const rows = runnersUp(plan, others);
  if (rows.length === 0) return null;
  return (
    <Folded title={count(rows.length, "runner-up", "runners-up")} isOpen>
      <table class="step-table">
        <caption class="unseen">Other plans, the fastest first</caption>
        <ColumnHeads names={["Plan", "Mesh", "Passes", "Memory", "Step"]} />
        <tbody>
          {rows.map((row) => (
            <tr key={`${strategyText(row)} ${meshText(row)}`}>
              <th scope="row" class="plan-called">
                {strategyText(row)}
              </th>
              <td class="n">{meshText(row)}</td>
              <td class="n">{row.passes}</td>
              <td class="n">{roundedSize(row.memory.total)}</td>
              <td class="n">{timeText(row.us)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Folded>
  );
}

/** Hand-made plans, and why they are not the plan. */
function Classes({ report: { plan, shares, classes } }: { readonly report: Report }) {
  if (classes.length === 0) return null;
  const best = { us: plan.us, computeUs: shares.compute * plan.us };
  return (
    <Folded title={`Why not by hand: ${count(classes.length, "way", "ways")}`}>
      <table class="step-table">
        <caption class="unseen">The best hand-made plan of each kind, the fastest first</caption>
        <ColumnHeads names={["By hand", "Mesh", "Passes", "Memory", "Step", "Why not"]} />
        <tbody>
          {classes.map((row) => (
            <tr key={`${row.name} ${handMesh(row)}`}>
              <th scope="row" class="plan-called">
                {row.name}
              </th>
              <td class="n">{handMesh(row)}</td>
              <td class="n">{row.passes}</td>
              <td class="n">{row.memoryBytes === null ? "-" : roundedSize(row.memoryBytes)}</td>
              <td class="n">{handTime(row)}</td>
              <td>{whyNotText(row, best)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Folded>
  );
}

/** What is communicated, each distinct collective once. */
function Collectives({ report: { collectives, plan } }: { readonly report: Report }) {
  if (collectives.length === 0) return null;
  return (
    <Folded title={count(collectives.length, "distinct collective")}>
      <table class="step-table">
        <caption class="unseen">Distinct collectives of the step, the one that takes most first</caption>
        <ColumnHeads names={["Collective", "Axes", "Groups", "Size", "Algorithm", "Alone", "Times", "Of the step"]} />
        <tbody>
          {collectives.map((one) => (
            <tr key={`${one.collective} ${one.axes} ${one.bytes}`}>
              <th scope="row">
                <i class="step-dot" style={{ backgroundColor: `var(${colourOf(plan.mesh, one.axes)})` }} />
                {one.collective}
              </th>
              <td class="n">{one.axes}</td>
              <td class="n">
                {grouped(one.groupCount)} x {grouped(one.groupSize)}
              </td>
              <td class="n">{roundedSize(one.bytes)}</td>
              <td class="n">{one.algorithm}</td>
              <td class="n">{timeText(one.us)}</td>
              <td class="n">{grouped(one.times)}</td>
              <td class="n">{percent((one.times * one.us) / plan.us)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Folded>
  );
}

/** Where every tensor lies, those that are alike in one row. */
function Tensors({ report: { tensors, plan } }: { readonly report: Report }) {
  const axes = plan.mesh.map(({ name }) => name).join(" | ");
  const isStaged = plan.stages.length > 1;
  return (
    <Folded title={`${grouped(tensors.length)} kinds of tensors`}>
      <table class="step-table">
        <caption class="unseen">Where tensors lie, along the axes {axes}</caption>
        <ColumnHeads names={["Tensor", "Times", `Lies (${axes})`, "Afterwards", "Brought to"]} />
        <tbody>
          {tensors.map(({ stage, name, count: times, pattern, retention, streamed, home, copies }) => (
            <tr key={`${stage} ${name} ${JSON.stringify(copies)}`}>
              <th scope="row">{isStaged ? `${stage}: ${name}` : name}</th>
              <td class="n">{grouped(times)}</td>
              <td class="n">{pattern}</td>
              <td class="n">{streamed === null ? retention : `${retention}, streamed with ${streamed}`}</td>
              <td>
                {[
                  ...(home === null ? [] : [`home: ${home}`]),
                  ...Object.entries(copies).flatMap(([when, all]) => all.map((one) => `${when}: ${one}`)),
                ].join("; ")}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Folded>
  );
}
