import { useSignal } from "@preact/signals";
import { useCallback } from "preact/hooks";
import { jsonText } from "../../../base/visible.ts";
import { count, grouped, percent, roundedSize, significant, timeText } from "../../../report/amounts.ts";
import { plainName } from "../../../report/file-name.ts";
import { groupText, type TrainingRow } from "../../../report/training.ts";
import { parallelText } from "../../../request/parallel.ts";
import type { TrainingReport } from "../../../run/training/report.ts";
import { ColumnHeads } from "../../parts/column-heads.tsx";
import { OneOf } from "../../parts/one-of.tsx";
import type { GivenFile } from "../../protocol.ts";
import { choose } from "../../state/actions.ts";
import { Bar, Folded, Key, Memory } from "../step/bars.tsx";
import { Figures } from "../step/figures.tsx";
import { Files } from "../step/files.tsx";
import { StepInTime } from "../step/in-time.tsx";
import { Sideways } from "../step/sideways.tsx";
import { isOld, type step, timelineOf, traceOf } from "./ask.ts";
import { colourOf } from "./looks.ts";
import { costText, gainOf, makerText, partText, spentOf, spentText } from "./spent.ts";

type Step = NonNullable<typeof step.value>;

/** What the step takes, and where its time goes. */
export function Result({ of }: { readonly of: Step }) {
  const { report, whole, shownRow } = of.view;
  const chosen = useSignal(shownRow);
  const at = Math.min(chosen.value, report.rows.length - 1);
  const row = report.rows[at] as TrainingRow;
  const find = useCallback((signal: AbortSignal) => timelineOf(of, at, signal), [of, at]);
  const cost = costText(report.rows, report.wholeNetwork, of.wish.network.options["without"] !== undefined);
  return (
    <div class="step-result">
      <p class="step-sentence">
        {answerText(report, report.rows[shownRow] as TrainingRow, of.wish.options["pass"])}
        {isOld.value && <span class="old-answer">made for another network or step</span>}
      </p>
      {cost !== null && (
        <p class="step-cost">
          {cost}
          {whole !== null &&
            whole.npuCount !== report.topology.npus &&
            ` Before there were ${whole.npuCount} NPUs: ${whole.parallel}.`}
        </p>
      )}
      <TrainingFigures report={report} row={report.rows[shownRow] as TrainingRow} />
      <Memory
        memory={report.memory}
        capacity={report.accelerator.memoryBytes}
        where={report.step.parallelism.pipeline > 1 ? `, stage ${report.memory.stage}, which takes most` : ""}
      />
      <Rows report={report} />
      <div class="step-bar">
        {report.rows.length > 1 && (
          <OneOf
            title="Collectives"
            choices={report.rows.map(({ collectives }, i) => [i, collectives] as const)}
            value={at}
            onChange={(next) => {
              chosen.value = next;
            }}
          />
        )}
        <Files
          files={[
            { title: "Save as JSON", make: () => reportFile(report) },
            { title: "Save a Perfetto trace", busy: "Writing the trace...", make: () => traceOf(of, at) },
          ]}
        />
      </div>
      <StepInTime find={find} of={`with the collectives of ${row.collectives}`} colourOf={colourOf} />
      <Communications row={row} />
      <Stages row={row} />
      <Meshes report={report} />
    </div>
  );
}

/** Returns what the step takes, in a sentence or two. */
function answerText({ model, topology, rows }: TrainingReport, row: TrainingRow, pass: unknown): string {
  const what = typeof pass === "string" && pass !== "train" ? `A ${pass}` : "A step";
  const { tokensPerSecond, samplesPerSecond, modelUtilisation } = row;
  const speed = tokensPerSecond === null ? `${number(samplesPerSecond)} samples` : `${number(tokensPerSecond)} tokens`;
  const mfu = modelUtilisation === null ? "" : `, ${percent(modelUtilisation)} of what the NPUs can compute`;
  const gain = gainOf(rows, rows.indexOf(row));
  const gained =
    gain === "tie"
      ? " Better collectives than those of libraries gain nothing here."
      : gain === ""
        ? ""
        : ` That is ${gain} as fast as with the collectives of libraries.`;
  return `${what} of ${model.name} on ${topology.name || "the network"} takes ${timeText(row.us)}: ${speed} a second${mfu}.${gained}`;
}

const number = (value: number): string => (value >= 1000 ? grouped(Math.round(value)) : significant(value, 3));

function TrainingFigures({
  report: { model, step: asked, accelerator },
  row,
}: {
  readonly report: TrainingReport;
  readonly row: TrainingRow;
}) {
  const active =
    model.activeParameters === model.parameters ? "" : `${significant(model.activeParameters / 1e9, 3)} B active`;
  const figures: readonly (readonly [string, string, string])[] = [
    ["Step", timeText(row.us), `${grouped(asked.batch)} samples`],
    row.tokensPerSecond === null
      ? ["Samples/s", number(row.samplesPerSecond), ""]
      : ["Tokens/s", number(row.tokensPerSecond), `${grouped(asked.tokens)} a step`],
    [
      "MFU",
      row.modelUtilisation === null ? "-" : percent(row.modelUtilisation),
      `${accelerator.name}, ${asked.precision}`,
    ],
    [
      "Mesh",
      parallelText(asked.parallelism),
      `${count(asked.microBatches, "micro batch", "micro batches")} of ${asked.microBatch}`,
    ],
    ["Recomputation", asked.recompute, ""],
    ...(model.parameters === 0 ? [] : [["Parameters", `${significant(model.parameters / 1e9, 4)} B`, active] as const]),
  ];
  return <Figures of={figures} />;
}

/** A row for each maker of collectives: what the step takes, and where its time goes. */
function Rows({ report: { rows, wholeNetwork } }: { readonly report: TrainingReport }) {
  const longest = [...rows, ...(wholeNetwork ?? [])].reduce((most, { us }) => Math.max(most, us), 0);
  const hasTokens = rows.some(({ tokensPerSecond }) => tokensPerSecond !== null);
  const before = wholeNetwork === null ? [] : ["Before"];
  const heads = ["Collectives", "Step", ...before, hasTokens ? "Tokens/s" : "Samples/s", "MFU", "Gain"];
  const kinds = [...new Set(rows.flatMap((row) => spentOf(row).map(({ kind }) => kind)))];
  return (
    <section class="step-block" aria-label="Where the time goes">
      <h3>Where the time goes</h3>
      <Sideways label="Rows of the step">
        <table class="step-table step-rows">
          <caption class="unseen">Time, speed and gain by who makes the collectives</caption>
          <thead>
            <tr>
              {heads.map((name, i) => (
                <th key={name} scope="col" class={`${i === 0 ? "" : "n"}${name === "MFU" ? " step-wide" : ""}`}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          {rows.map((row, i) => (
            <tbody key={row.collectives}>
              <tr>
                <th scope="row">
                  <b>{row.collectives}</b> <span class="soft">{makerText(row.collectives)}</span>
                </th>
                <td class="n">{timeText(row.us)}</td>
                {wholeNetwork !== null && <td class="n">{timeText((wholeNetwork[i] as TrainingRow).us)}</td>}
                <td class="n">{number(row.tokensPerSecond ?? row.samplesPerSecond)}</td>
                <td class="n step-wide">{row.modelUtilisation === null ? "-" : percent(row.modelUtilisation)}</td>
                <td class="n">{gainOf(rows, i)}</td>
              </tr>
              <tr class="step-spent">
                <td colSpan={heads.length}>
                  <Bar
                    label={`${row.collectives}: ${spentText(row)}`}
                    parts={spentOf(row).map(({ kind, us }) => [colourOf(kind), us / longest])}
                  />
                  <span>
                    {spentOf(row).map(({ kind, us }) => (
                      <span key={kind}>
                        {kind === "compute" || kind === "bubble" ? kind : `exposed ${groupText(kind)}`}{" "}
                        {percent(us / row.us)}
                      </span>
                    ))}
                  </span>
                </td>
              </tr>
            </tbody>
          ))}
        </table>
      </Sideways>
      <Key entries={kinds.map((kind) => [colourOf(kind), partText(kind)])} />
    </section>
  );
}

/** Returns the report as the command line's file. */
const reportFile = (report: TrainingReport): GivenFile => ({
  name: `${plainName(report.model.name)}.${plainName(report.topology.name) || "network"}.training.json`,
  content: new Blob([`${jsonText(report, 2)}\n`], { type: "application/json" }),
});

/** What is communicated, each distinct communication once. */
function Communications({ row: { communications, collectives, us } }: { readonly row: TrainingRow }) {
  return (
    <Folded title={`${count(communications.length, "distinct communication")} (${collectives})`} isOpen>
      <table class="step-table">
        <caption class="unseen">Distinct communications of the step, the one that takes most first</caption>
        <thead>
          <tr>
            <th scope="col">Group</th>
            <th scope="col">Collective</th>
            <th scope="col" class="n">
              Size
            </th>
            <th scope="col">Algorithm</th>
            <th scope="col" class="n">
              Alone
            </th>
            <th scope="col" class="n">
              Times
            </th>
            <th scope="col" class="n">
              Of the step
            </th>
          </tr>
        </thead>
        <tbody>
          {communications.map((one) => (
            <tr key={`${one.group} ${one.collective} ${one.bytes} ${one.us}`}>
              <th scope="row">
                <i class="step-dot" style={{ backgroundColor: `var(${colourOf(one.group)})` }} />
                {groupText(one.group)}
              </th>
              <td>{one.collective}</td>
              <td class="n">{roundedSize(one.bytes)}</td>
              <td>{one.algorithm}</td>
              <td class="n">{timeText(one.us)}</td>
              <td class="n">{grouped(one.times)}</td>
              <td class="n">{percent((one.times * one.us) / us)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Folded>
  );
}

/** Where the time of each stage of the pipeline goes; nothing where there is one. */
function Stages({ row: { stages, collectives } }: { readonly row: TrainingRow }) {
  if (stages.length < 2) return null;
  const groups = Object.keys(stages[0]?.exposedUs ?? {});
  return (
    <Folded title={`${stages.length} stages (${collectives})`}>
      <table class="step-table">
        <caption class="unseen">Where the time of each stage goes</caption>
        <ColumnHeads names={["Stage", "Compute", ...groups.map((group) => `Exposed ${groupText(group)}`), "Bubble"]} />
        <tbody>
          {stages.map(({ stage, computeUs, exposedUs, bubbleUs }) => (
            <tr key={stage}>
              <th scope="row">{stage}</th>
              <td class="n">{timeText(computeUs)}</td>
              {groups.map((group) => (
                <td key={group} class="n">
                  {timeText(exposedUs[group] ?? 0)}
                </td>
              ))}
              <td class="n">{timeText(bubbleUs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Folded>
  );
}

/** With "auto" the meshes that come next; nothing without. */
function Meshes({ report: { search, accelerator } }: { readonly report: TrainingReport }) {
  if (search === null) return null;
  const { best, tried, tooLarge, simulated, pruned } = search;
  return (
    <Folded title={`The ${best.length} fastest of ${grouped(tried)} meshes`} isOpen>
      <table class="step-table">
        <caption>
          {`${grouped(tooLarge)} are too large for ${accelerator.name}, ${grouped(simulated)} were simulated with the collectives of libraries, ${grouped(pruned)} are slower by their computations and the pipeline's filling alone.`}
        </caption>
        <ColumnHeads names={["Mesh", "Micro batch", "Recomputation", "Memory", "Step"]} />
        <tbody>
          {best.map(({ way: { parallelism, microBatch, recompute }, us, memoryBytes }) => {
            const mesh = parallelText(parallelism);
            return (
              <tr key={`${mesh} ${microBatch} ${recompute}`}>
                <th scope="row">
                  <button
                    type="button"
                    class="step-link"
                    title={`Ask for ${mesh}, micro batch ${microBatch}, recomputation ${recompute}`}
                    onClick={() => choose({ parallel: mesh, microBatch: String(microBatch), recompute })}
                  >
                    {mesh}
                  </button>
                </th>
                <td class="n">{microBatch}</td>
                <td class="n">{recompute}</td>
                <td class="n">{roundedSize(memoryBytes)}</td>
                <td class="n">{timeText(us)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Folded>
  );
}
