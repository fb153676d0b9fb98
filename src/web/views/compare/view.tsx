import { useEffect, useMemo } from "preact/hooks";
import "./compare.css";
import { count, gbpsText, percent, roundedSize, timeText } from "../../../report/amounts.ts";
import {
  COMPARE_TARGETS,
  type CompareTarget,
  type Comparison,
  type ComparisonRow,
  LIBRARY_OF,
  usOnTarget,
} from "../../../report/comparison.ts";
import { comparisonCsv } from "../../../report/comparison-csv.ts";
import { type GainTable, gainsShown, notModelledTexts, settingsToSet } from "../../../report/gains.ts";
import { Chart } from "../../parts/chart.tsx";
import { ChartLegend, useHidden } from "../../parts/chart-legend.tsx";
import { ColumnHeads } from "../../parts/column-heads.tsx";
import { isNarrow } from "../../parts/media.ts";
import { OneOf } from "../../parts/one-of.tsx";
import { useEscape } from "../../parts/use-escape.ts";
import { changeOptions, choose, exportTo, offerFile, say, synthesize } from "../../state/actions.ts";
import { MEASURES, type Measure } from "../../state/choices.ts";
import {
  FIRST_RANGE,
  POWERS,
  rangeText,
  type SizeRange,
  STEPS,
  sizesOf,
  sizeWord,
  withEnd,
} from "../../state/size-range.ts";
import { busy, welcome, words } from "../../state/store.ts";
import { networkWish } from "../../state/words.ts";
import { BeforeTable } from "./before-table.tsx";
import { DecisionTable } from "./decision-table.tsx";
import { programsBySize } from "./programs-by-size.ts";
import {
  comparison,
  failure,
  followComparison,
  isOld,
  makersOf,
  range,
  runComparison,
  running,
  stopComparison,
  tried,
} from "./run.ts";
import { algorithmsIn, axesOf, fileStem, jsonOf, linesOf, MEASURE_NAMES, sizesIn } from "./series.ts";

/** Which algorithm is best at which size. */
export function View() {
  const found = comparison.value;
  const { topology, file, options, choices } = words.value;
  useEffect(() => void followComparison(), [topology, file, options, choices, found, running.value]);
  return (
    <div class="compare">
      <Controls />
      {found === null ? (
        <p class="soft">
          {running.value === null
            ? "Every algorithm that applies makes a verified schedule at every size; times are simulated. Nothing was compared yet."
            : "The first size is on its way."}
        </p>
      ) : (
        <Found found={found} />
      )}
      <BeforeTable comparison={found} />
    </div>
  );
}

function Found({ found }: { readonly found: Comparison }) {
  const measure = words.value.choices.measure ?? MEASURES[0];
  const order = useMemo(() => (welcome.value?.algorithms ?? []).map(({ name }) => name), [welcome.value]);
  const collective = welcome.value?.collectives.find(({ kind }) => kind === found.collective)?.name ?? found.collective;
  const make = async ({ sizeBytes, algorithm, chunks }: ComparisonRow): Promise<void> => {
    if (isOld.value) {
      say("The network or the request was changed since: compare again first");
      return;
    }
    const makes = welcome.value?.algorithms.find(({ name }) => name === algorithm)?.makes;
    // searches were compared with the chunks that suit them
    const own = makes === "steps" && chunks > 1 && words.value.options["chunks"] === undefined;
    const changes = { size: sizeWord(sizeBytes), algorithm, ...(own ? { chunks: String(chunks) } : {}) };
    if (await changeOptions(changes)) await synthesize();
  };
  const save = (text: string, ending: string, type: string): void => {
    const name = `${fileStem(found)}.${ending}`;
    void offerFile({ name, content: new Blob([text], { type }) });
  };
  return (
    <>
      <p>
        <strong>{`${collective} on ${found.topology.name || "the network"}.`}</strong> {bestText(found)}
        {isOld.value && <span class="old-answer">made for another network or request</span>}
      </p>
      <OneOf
        title="What is shown"
        isUntitled
        choices={MEASURES.map((name) => [name, MEASURE_NAMES[name]] as const)}
        value={measure}
        onChange={(name) => choose({ measure: name === MEASURES[0] ? undefined : name })}
      />
      <DecisionTable
        comparison={found}
        measure={measure}
        onMake={(row) => void make(row)}
        isBusy={busy.value !== null}
      />
      <ComparisonChart comparison={found} measure={measure} order={order} onMake={(row) => void make(row)} />
      <div class="compare-files">
        <ProgramsBySize found={found} />
        <button type="button" onClick={() => save(comparisonCsv(found), "csv", "text/csv")}>
          Save as CSV
        </button>
        <button type="button" onClick={() => save(jsonOf(found), "json", "application/json")}>
          Save as JSON
        </button>
        <span class="soft">as `banyan compare` writes them</span>
      </div>
      <Gains comparison={found} />
      <details class="compare-figures">
        <summary>All figures: bandwidths, chunks, limits, models of others</summary>
        <ComparisonTable comparison={found} onMake={(row) => void make(row)} isBusy={busy.value !== null} />
      </details>
      {found.leftOut.length > 0 && (
        <details class="compare-left-out">
          <summary>{`${count(found.leftOut.length, "algorithm")} left out`}</summary>
          <dl>
            {found.leftOut.map(({ algorithm, reason }) => (
              <div key={algorithm}>
                <dt>{algorithm}</dt>
                <dd>{reason}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </>
  );
}

/** Saves the fastest program of each size, and which is for which: those of the target, else MSCCL XML. */
function ProgramsBySize({ found }: { readonly found: Comparison }) {
  const asked = programsBySize(found, words.value.options);
  if (asked === null) return null;
  const save = (): void => {
    if (isOld.value) say("The network or the request was changed since: compare again first");
    else void exportTo({ kind: "network", wish: networkWish(words.value) }, asked.to, asked.options);
  };
  return (
    <button
      type="button"
      disabled={busy.value !== null}
      title={`A program for each of these sizes, each with the range it is for, as banyan export --to ${asked.to} --sizes writes them`}
      onClick={save}
    >
      Save programs by size
    </button>
  );
}

/** Returns who is best where, in a sentence. */
function bestText(found: Comparison): string {
  const best = found.rows.filter((row) => row.best).sort((a, b) => a.sizeBytes - b.sizeBytes);
  const wins = algorithmsIn({ rows: best }).map((name) => {
    const sizes = best.filter(({ algorithm }) => algorithm === name).map(({ sizeBytes }) => roundedSize(sizeBytes));
    return `${name} at ${sizes.join(", ")}`;
  });
  const all = sizesIn(found).length;
  if (wins.length === 0) return "No line has a schedule.";
  return wins.length === 1 && all > 1
    ? `Best at all ${all} sizes: ${best[0]?.algorithm}.`
    : `Best: ${wins.join("; ")}.`;
}

/** What is gained, size by size, as on the command line, and what to set for it; nothing where nothing can be said. */
function Gains({ comparison }: { readonly comparison: Comparison }) {
  const toSet = settingsToSet(comparison.settings ?? []);
  const missing = notModelledTexts(comparison.notModelled ?? []);
  return (
    <>
      {gainsShown(comparison).tables.map((table) => (
        <GainsOver key={table.over} table={table} />
      ))}
      {toSet.length > 0 && (
        <p>
          To set:
          {toSet.map((text) => (
            <span key={text}>
              {" "}
              <code>{text}</code>
            </span>
          ))}
        </p>
      )}
      {missing.length > 0 && <p>{`No model: ${missing.join("; ")}.`}</p>}
    </>
  );
}

function GainsOver({ table: { lines, over } }: { readonly table: GainTable }) {
  const isDefault = over === "by default";
  const caption = `Gain ${isDefault ? "of a library's best setting over its default" : "over the fastest library algorithm"}, simulated`;
  return (
    <div class="sideways">
      <table class="compare-table compare-gains">
        <caption>{caption}</caption>
        <ColumnHeads
          names={[
            "Size",
            "Gain",
            "Fastest",
            "Time",
            ...(isDefault ? ["By default", "Its time"] : ["Of libraries", "Library's time"]),
          ]}
        />
        <tbody>
          {lines.map(({ sizeBytes, fastest, us, libraryUs, how, text }) => (
            <tr key={`${sizeBytes} ${how}`}>
              <th scope="row">{roundedSize(sizeBytes)}</th>
              <td class="n">{text}</td>
              <td class="n">{fastest}</td>
              <td class="n">{timeText(us)}</td>
              <td>{how}</td>
              <td class="n">{timeText(libraryUs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface ComparisonChartProps {
  readonly comparison: Comparison;
  readonly measure: Measure;
  /** Names of all algorithms, in the order of the lines that can be hidden. */
  readonly order: readonly string[];
  readonly onMake: (row: ComparisonRow) => void;
}

/** A measure over size, a line for each algorithm. */
function ComparisonChart({ comparison, measure, order, onMake }: ComparisonChartProps) {
  const { hidden, toggle } = useHidden();
  const sizes = useMemo(() => sizesIn(comparison), [comparison]);
  const lines = useMemo(() => linesOf(comparison, measure, order), [comparison, measure, order]);
  const shown = useMemo(() => lines.filter(({ name }) => !hidden.has(name)), [lines, hidden]);
  const { x, y } = useMemo(() => axesOf(measure), [measure]);
  const pick = (line: number, index: number): void => {
    const name = shown[line]?.name;
    const row = comparison.rows.find(({ algorithm, sizeBytes }) => algorithm === name && sizeBytes === sizes[index]);
    if (row !== undefined) onMake(row);
  };
  return (
    <div class="compare-chart">
      <Chart
        label={`${MEASURE_NAMES[measure]} over size, a line for each algorithm; the table above has the figures`}
        height={380}
        x={x}
        y={y}
        at={sizes}
        lines={shown}
        isNamed
        onPick={pick}
        pickHint="make this schedule"
      />
      <details class="compare-lines" open={isNarrow.value}>
        <summary>{hidden.size === 0 ? "Hide lines" : `${count(hidden.size, "line")} hidden`}</summary>
        <ChartLegend label="Lines: press to hide and show" lines={lines} hidden={hidden} onToggle={toggle} />
      </details>
    </div>
  );
}

interface ComparisonTableProps {
  readonly comparison: Comparison;
  readonly onMake: (row: ComparisonRow) => void;
  readonly isBusy: boolean;
}

/** All rows, by size and time, the best of each size marked; the limit and models of others between them. */
function ComparisonTable({ comparison, onMake, isBusy }: ComparisonTableProps) {
  const { rows, references, coarse = [], limits, target } = comparison;
  const loads = target !== undefined && target !== "nccl";
  const ran = [
    ...(loads ? ["As a program"] : []),
    ...(target === undefined ? [] : [`By ${LIBRARY_OF[target]} itself`]),
  ];
  const times = (row: ComparisonRow): readonly (number | null | undefined)[] => [
    ...(loads ? [row.programUs] : []),
    ...(target === undefined ? [] : [row.libraryUs]),
  ];
  const order = target === undefined ? ({ us }: ComparisonRow) => us : usOnTarget;
  return (
    <div class="sideways">
      <table class="compare-table">
        <caption class="unseen">Time, bandwidth and share of the limit by size and algorithm</caption>
        <ColumnHeads
          names={[
            "Algorithm",
            "Time",
            ...ran,
            "Alg. bandwidth",
            "Bus bandwidth",
            "Of the limit",
            "Chunks",
            "Synthesis",
          ]}
        />
        {limits.map(({ sizeBytes, limit }) => (
          <tbody key={sizeBytes}>
            <tr class="compare-size">
              <th scope="rowgroup" colSpan={7 + ran.length}>
                {roundedSize(sizeBytes)}
              </th>
            </tr>
            {rows
              .filter((row) => row.sizeBytes === sizeBytes)
              .sort((a, b) => order(a) - order(b) || a.us - b.us)
              .map((row) => (
                <tr key={row.algorithm} data-best={row.best}>
                  <th scope="row">
                    <button
                      type="button"
                      class="compare-make"
                      disabled={isBusy}
                      title={`Synthesize ${row.algorithm} at ${roundedSize(sizeBytes)}`}
                      onClick={() => onMake(row)}
                    >
                      {row.algorithm}
                    </button>
                    {row.best && <span class="compare-best">best</span>}
                  </th>
                  <td class="n">{timeText(row.us)}</td>
                  {times(row).map((us, i) => (
                    <td key={ran[i]} class="n">
                      {us === undefined || us === null ? "-" : timeText(us)}
                    </td>
                  ))}
                  <td class="n">{gbpsText(row.algbwGBps)}</td>
                  <td class="n">{gbpsText(row.busbwGBps)}</td>
                  <td class="n">{percent(row.ofLimit)}</td>
                  <td class="n">{row.chunks}</td>
                  <td class="n">{timeText(row.synthesisMs * 1000)}</td>
                </tr>
              ))}
            {coarse
              .filter((row) => row.sizeBytes === sizeBytes)
              .map((row) => (
                <tr key={row.algorithm} class="compare-other">
                  <th scope="row" title={`${row.policy}; ${row.by}`}>{`${row.algorithm}: coarse`}</th>
                  <td class="n">{timeText(row.us)}</td>
                  {ran.map((name) => (
                    <td key={name} />
                  ))}
                  <td class="n">{gbpsText(row.algbwGBps)}</td>
                  <td class="n">{gbpsText(row.busbwGBps)}</td>
                  <td class="n">{percent(row.ofLimit)}</td>
                  <td colSpan={2}>too many transfers to list: a model, no schedule</td>
                </tr>
              ))}
            {references
              .filter((row) => row.sizeBytes === sizeBytes)
              .map((row) => (
                <tr key={row.name} class="compare-other">
                  <th scope="row" title={row.choice}>{`${row.name}: ${row.choice}`}</th>
                  <td class="n">{timeText(row.us)}</td>
                  {ran.map((name) => (
                    <td key={name} />
                  ))}
                  <td class="n">{gbpsText(row.algbwGBps)}</td>
                  <td class="n">{gbpsText(row.busbwGBps)}</td>
                  <td colSpan={3} />
                </tr>
              ))}
            <tr class="compare-other">
              <th scope="row">limit</th>
              <td class="n">{timeText(limit.us)}</td>
              {ran.map((name) => (
                <td key={name} />
              ))}
              <td class="n">{gbpsText(limit.algbwGBps)}</td>
              <td colSpan={4} class="compare-because">
                {limit.because}
              </td>
            </tr>
          </tbody>
        ))}
      </table>
    </div>
  );
}

const TARGET_NAMES: Readonly<Record<CompareTarget, string>> = {
  msccl: "MSCCL XML, microsoft/msccl",
  azure: "MSCCL XML, Azure's executor",
  rccl: "MSCCL XML, RCCL",
  mscclpp: "MSCCL++ plans",
  mpi: "plans for MPI",
  nccl: "NCCL alone",
};

/** Sizes, algorithms, start and stop. */
function Controls() {
  const { from, to, step } = range.value;
  const now = running.value;
  const sizes = sizesOf(range.value).length;
  useEscape(now !== null, stopComparison);
  return (
    <div class="compare-controls">
      <SizeSelect label="From" value={from} onChange={(power) => setRange(withEnd(range.value, "from", power))} />
      <SizeSelect label="to" value={to} onChange={(power) => setRange(withEnd(range.value, "to", power))} />
      <label>
        times
        <select
          value={step}
          onChange={({ currentTarget }) => setRange({ ...range.value, step: Number(currentTarget.value) })}
        >
          {STEPS.map((doublings) => (
            <option key={doublings} value={doublings}>
              {2 ** doublings}
            </option>
          ))}
        </select>
      </label>
      <label title="--target">
        to run as
        <select
          value={words.value.choices.target ?? ""}
          onChange={({ currentTarget }) =>
            choose({ target: currentTarget.value === "" ? undefined : currentTarget.value })
          }
        >
          <option value="">schedules</option>
          {COMPARE_TARGETS.map((name) => (
            <option key={name} value={name}>
              {TARGET_NAMES[name]}
            </option>
          ))}
        </select>
      </label>
      <span class="soft">{count(sizes, "size")}</span>
      {now === null ? (
        <button type="button" class="primary" disabled={welcome.value === null} onClick={() => void runComparison()}>
          Compare
        </button>
      ) : (
        <button type="button" aria-keyshortcuts="Escape" onClick={stopComparison}>
          Stop <kbd>Esc</kbd>
        </button>
      )}
      <Tried />
      {now !== null && (
        <p class="compare-progress" aria-live="off">
          <progress
            {...(now.progress?.total === undefined ? {} : { value: now.progress.done ?? 0, max: now.progress.total })}
            aria-label="Comparison"
          />
          <span>{now.progress?.what ?? "reading the network"}</span>
        </p>
      )}
      {failure.value !== null && (
        <p class="compare-failure" role="alert">
          {failure.value.place === null ? "" : `${failure.value.place}: `}
          {failure.value.message}
        </p>
      )}
    </div>
  );
}

function setRange(range: SizeRange): void {
  const sizes = rangeText(range);
  choose({ sizes: sizes === rangeText(FIRST_RANGE) ? undefined : sizes });
}

interface SizeSelectProps {
  readonly label: string;
  readonly value: number;
  readonly onChange: (power: number) => void;
}

function SizeSelect({ label, value, onChange }: SizeSelectProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={({ currentTarget }) => onChange(Number(currentTarget.value))}>
        {POWERS.map((power) => (
          <option key={power} value={power}>
            {roundedSize(2 ** power)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Which algorithms are tried. */
function Tried() {
  const makers = makersOf();
  const usual = new Set(makers.filter(({ solves }) => !solves).map(({ name }) => name));
  const now = tried.value ?? usual;
  const toggle = (toggled: string): void => {
    const next = makers.map(({ name }) => name).filter((name) => now.has(name) !== (name === toggled));
    const isUsual = next.length === usual.size && next.every((name) => usual.has(name));
    choose({ algorithms: isUsual || next.length === 0 ? undefined : next.join(",") });
  };
  return (
    <details class="compare-tried">
      <summary>{tried.value === null ? "All algorithms that apply" : count(now.size, "algorithm")}</summary>
      <fieldset aria-label="Algorithms to compare">
        {makers.map(({ name, description, solves }) => (
          <label key={name} title={description}>
            <input type="checkbox" checked={now.has(name)} onChange={() => toggle(name)} />
            {name}
            {solves && <span class="soft">solves programs: slow</span>}
          </label>
        ))}
      </fieldset>
      {tried.value !== null && (
        <button type="button" onClick={() => choose({ algorithms: undefined })}>
          All that apply
        </button>
      )}
    </details>
  );
}
