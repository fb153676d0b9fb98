import { useEffect, useMemo } from "preact/hooks";
import "./links.css";
import { useComputed, useSignal } from "@preact/signals";
import { formatTime } from "../../../model/numbers/units.ts";
import { count, percent } from "../../../report/amounts.ts";
import { Chart } from "../../parts/chart.tsx";
import { ChartLegend, HeatLegend, useHidden } from "../../parts/chart-legend.tsx";
import { type ChartAxis, type ChartLine, lookOfLine } from "../../parts/chart-model.ts";
import { ColumnHeads } from "../../parts/column-heads.tsx";
import { hasNoMessages, NoMessages } from "../../parts/no-messages.tsx";
import { OneOf } from "../../parts/one-of.tsx";
import { useAnswer } from "../../parts/use-answer.ts";
import type { LoadsView, NetworkView, TrafficView } from "../../protocol.ts";
import { choose } from "../../state/actions.ts";
import { MATRICES, type MatrixName } from "../../state/choices.ts";
import { type Made, selection, words } from "../../state/store.ts";
import { NetworkCanvas } from "../network/network-canvas.tsx";
import type { ViewProps } from "../view-props.ts";
import {
  ABOUT_LINKS,
  ABOUT_TRAFFIC,
  type About,
  heatOfWires,
  sharesOf,
  spreadByClass,
  spreadOf,
  trafficText,
} from "./figures.ts";
import { HeatMap } from "./heat-map.tsx";
import type { Place } from "./heat-paint.ts";
import { ClassTable, LinkTables } from "./link-tables.tsx";
import { entryAt, insideOf, type Matrix, type Nodes, npusOf, type Pairs, wholeMatrix } from "./matrix.ts";

/** How busy every link is. */
export function View({ made }: ViewProps) {
  const loads = useAnswer("loads", made.schedule).value;
  if (loads.kind === "waiting") return <p class="links-none">Adding up the use of the links…</p>;
  if (loads.kind === "failed") return <p class="links-none">{loads.message}</p>;
  return <Links made={made} network={made.schedule.network ?? made.network} loads={loads.value} />;
}

interface LinksProps {
  readonly made: Made;
  readonly network: NetworkView;
  readonly loads: LoadsView;
}

function Links({ made, network, loads }: LinksProps) {
  const shares = useMemo(() => sharesOf(loads), [loads]);
  const marks = useMemo(() => ({ heat: heatOfWires(network, shares) }), [network, shares]);
  const spreads = useMemo(() => spreadByClass(network, shares), [network, shares]);
  const chosen = selection.value;
  const chosenWire = chosen?.kind === "wire" ? chosen.wire : null;
  const sentence = sentenceOf(shares, loads.totalPs);
  const onWire = (wire: number): void => {
    selection.value = { kind: "wire", wire };
  };
  return (
    <div class="links">
      <p class="links-sentence">{sentence}</p>
      <div class="links-pictures">
        <section aria-labelledby="links-matrix">
          <h3 id="links-matrix">From each node to each</h3>
          <Matrices network={network} loads={loads} shares={shares} chosenWire={chosenWire} onWire={onWire} />
        </section>
        <section aria-labelledby="links-network">
          <h3 id="links-network">On the network</h3>
          <div class="links-network">
            <NetworkCanvas
              network={network}
              label={`The network, every wire coloured by the share of the time that its busier direction was in use. ${sentence}`}
              marks={marks}
              selection={chosen}
              onSelect={(next) => {
                selection.value = next;
              }}
              height="100%"
            />
          </div>
          <p class="links-note">A wire has the colour of its busier direction.</p>
        </section>
      </div>
      <section aria-labelledby="links-time">
        <h3 id="links-time">Over time</h3>
        <OverTime made={made} network={network} loads={loads} />
      </section>
      {network.classes.length > 1 && <ClassTable network={network} spreads={spreads} />}
      <LinkTables network={network} loads={loads} shares={shares} chosenWire={chosenWire} onWire={onWire} />
    </div>
  );
}

function sentenceOf(shares: Float64Array, totalPs: number): string {
  const { links, mean, most, idle } = spreadOf(shares);
  const unused = idle === 0 ? "none is unused" : `${count(idle, "is", "are")} unused`;
  return `The ${count(links, "link")} are busy ${percent(mean)} of ${formatTime(totalPs)} on average, the busiest ${percent(most)}; ${unused}.`;
}

interface OverTimeProps {
  readonly made: Made;
  readonly network: NetworkView;
  readonly loads: LoadsView;
}

/** How much of the links' bandwidth is in use over time, of all and by class. */
function OverTime({ made, network, loads }: OverTimeProps) {
  const { hidden, toggle } = useHidden();
  const { lines, at, x, y } = useMemo(() => chartOf(network, loads), [network, loads]);
  const shown = useMemo(() => lines.filter(({ name }) => !hidden.has(name)), [lines, hidden]);
  if (hasNoMessages(made)) return <NoMessages />;
  if (loads.overTime.length === 0)
    return <p class="links-none">There are too many transfers to draw the use of links over time.</p>;
  return (
    <>
      {lines.length > 1 && <ChartLegend label="Lines" lines={lines} hidden={hidden} onToggle={toggle} />}
      <Chart
        label={`Share of the links' bandwidth in use over ${formatTime(loads.totalPs)}`}
        height={220}
        x={x}
        y={y}
        at={at}
        lines={shown}
      />
      <details class="links-details">
        <summary>The same as a table</summary>
        <TimeTable lines={lines} at={at} />
      </details>
    </>
  );
}

function chartOf(network: NetworkView, { overTime, overTimeOfClass, totalPs }: LoadsView) {
  const bins = overTime.length;
  const middle = Float64Array.from({ length: bins }, (_, bin) => ((bin + 0.5) * totalPs) / bins);
  const all: ChartLine = { name: "all links", colour: "--text", values: overTime, width: 2, filled: true };
  const classes = overTimeOfClass.map((values, i): ChartLine => {
    const text = network.classes[i]?.text ?? `class ${i + 1}`;
    return { name: text, colour: lookOfLine(i).colour, values, width: 1.6, dash: i % 2 === 0 ? [6, 3] : [2, 3] };
  });
  const x: ChartAxis = { label: "time", scale: "linear", text: formatTime, low: 0, high: totalPs };
  const y: ChartAxis = { label: "bandwidth in use", scale: "linear", text: percent, low: 0, high: 1 };
  // one class says the same as all of them
  return { lines: classes.length > 1 ? [all, ...classes] : [all], at: middle, x, y };
}

const ROWS = 20;

function TimeTable({ lines, at }: { readonly lines: readonly ChartLine[]; readonly at: Float64Array }) {
  const every = Math.max(1, Math.ceil(at.length / ROWS));
  const bins = Array.from({ length: Math.ceil(at.length / every) }, (_, i) => i * every);
  return (
    <div class="links-scroll">
      <table class="links-table">
        <ColumnHeads names={["Time", ...lines.map(({ name }) => name)]} />
        <tbody>
          {bins.map((bin) => (
            <tr key={bin}>
              <th scope="row">{formatTime(at[bin])}</th>
              {lines.map(({ name, values }) => (
                <td key={name} class="n">
                  {percent(values[bin] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface MatricesProps {
  readonly network: NetworkView;
  readonly loads: LoadsView;
  readonly shares: Float64Array;
  readonly chosenWire: number | null;
  readonly onWire: (wire: number) => void;
}

const MATRIX_NAMES: Readonly<Record<MatrixName, string>> = {
  traffic: ABOUT_TRAFFIC.title,
  links: "Use of the links",
};

/** The heat maps from each node to each. Where switches are between NPUs, links alone say little of who talks to whom. */
function Matrices(props: MatricesProps) {
  const { network, loads } = props;
  const hasSwitches = network.nodeNames.length > network.npuCount;
  const usual = hasSwitches ? "traffic" : "links";
  const shown = loads.traffic === null ? "links" : (words.value.choices.matrix ?? usual);
  return (
    <>
      {loads.traffic !== null && (
        <OneOf
          title="What the matrix shows"
          isUntitled
          choices={MATRICES.map((name) => [name, MATRIX_NAMES[name]] as const)}
          value={shown}
          onChange={(name) => choose({ matrix: name === usual ? undefined : name })}
        />
      )}
      {shown === "traffic" && loads.traffic !== null ? (
        <TrafficMatrix network={network} traffic={loads.traffic} />
      ) : (
        <LinkMatrix {...props} />
      )}
    </>
  );
}

function LinkMatrix({ network, shares, chosenWire, onWire }: MatricesProps) {
  const { linkSource, linkTarget, wires } = network;
  const pairs = useMemo<Pairs>(
    () => ({ source: linkSource, target: linkTarget, value: shares, together: "mean" }),
    [linkSource, linkTarget, shares],
  );
  const chosen = useMemo(() => {
    if (chosenWire === null) return [];
    const [a, b] = [wires.a[chosenWire], wires.b[chosenWire]];
    return [[a, b] as const, [b, a] as const];
  }, [wires, chosenWire]);
  return (
    <MatrixPanel
      nodes={network}
      pairs={pairs}
      about={ABOUT_LINKS}
      chosen={chosen}
      onPick={(link) => onWire(wires.ofLink[link])}
    />
  );
}

const NONE: readonly never[] = [];

function TrafficMatrix({ network, traffic }: { readonly network: NetworkView; readonly traffic: TrafficView }) {
  const nodes = useMemo(() => npusOf(network), [network]);
  const pairs = useMemo<Pairs>(
    () => ({ source: traffic.source, target: traffic.target, value: traffic.bytes, together: "sum" }),
    [traffic],
  );
  const sentence = useMemo(() => trafficText(traffic, network.nodeNames), [traffic, network]);
  return (
    <>
      <p class="links-note">{sentence}</p>
      <MatrixPanel
        nodes={nodes}
        pairs={pairs}
        about={ABOUT_TRAFFIC}
        chosen={NONE}
        onPick={(pair) => {
          selection.value = { kind: "node", node: traffic.source[pair] };
        }}
      />
    </>
  );
}

interface MatrixPanelProps {
  readonly nodes: Nodes;
  readonly pairs: Pairs;
  readonly about: About;
  /** Nodes from and to which something is chosen elsewhere. */
  readonly chosen: readonly (readonly [from: number, to: number])[];
  readonly onPick: (pair: number) => void;
}

/** The heat map with its legend, what is pointed at in words, and the way into coarse cells and back. */
function MatrixPanel({ nodes, pairs, about, chosen, onPick }: MatrixPanelProps) {
  const whole = useMemo(() => wholeMatrix(nodes, pairs), [nodes, pairs]);
  const inside = useSignal<{ readonly matrix: Matrix; readonly name: string } | null>(null);
  const pointed = useSignal<Place | null>(null);
  useEffect(() => {
    inside.value = null;
  }, [inside, whole]);
  const matrix = inside.value?.matrix ?? whole;
  const isCoarse = matrix.rows.note !== null;
  const places = useMemo(() => placesOf(matrix, chosen), [matrix, chosen]);
  const spoken = useComputed(() => textAt(inside.value?.matrix ?? whole, about, pointed.value));

  function pick({ row, column }: Place): void {
    const entry = entryAt(matrix, row, column);
    if (entry < 0) return;
    if (isCoarse)
      inside.value = { matrix: insideOf(nodes, pairs, matrix, row, column), name: nameAt(matrix, row, column) };
    else onPick(matrix.first[entry]);
  }
  const label = `${about.title}: ${matrix.rows.names.length} sources by ${matrix.columns.names.length} destinations. Arrow keys walk through it, PageUp and PageDown from ${about.pair} to ${about.pair}, Enter ${isCoarse ? "looks inside" : about.pick}.`;
  return (
    <div class="matrix-panel">
      <div class="matrix-panel-head">
        <span>rows: source, columns: destination</span>
        {inside.value !== null && (
          <button
            type="button"
            onClick={() => {
              inside.value = null;
            }}
          >
            {`Back to all (now inside ${inside.value.name})`}
          </button>
        )}
      </div>
      <HeatMap
        matrix={matrix}
        label={label}
        chosen={places}
        onPoint={(place) => {
          pointed.value = place;
        }}
        onPick={pick}
      />
      <p class="matrix-panel-said" aria-live="polite">
        {spoken.value || "Point at a cell, or walk with the arrow keys."}
      </p>
      <HeatLegend label={about.colours} low={about.amount(0)} high={about.amount(matrix.whole)} none={about.none} />
      {matrix.rows.note !== null && <p class="links-note">{matrix.rows.note}</p>}
    </div>
  );
}

const nameAt = ({ rows, columns }: Matrix, row: number, column: number): string =>
  `${rows.names[row]} → ${columns.names[column]}`;

function textAt(matrix: Matrix, about: About, place: Place | null): string {
  if (place === null) return "";
  const entry = entryAt(matrix, place.row, place.column);
  const text = entry < 0 ? about.none : about.textOf(matrix.value[entry], matrix.pairs[entry]);
  return `${nameAt(matrix, place.row, place.column)}: ${text}`;
}

/** Returns the cells of what is chosen. */
const placesOf = ({ rows, columns, entryOf }: Matrix, chosen: MatrixPanelProps["chosen"]): Place[] =>
  chosen.flatMap(([from, to]) => {
    const [row, column] = [rows.cellOf[from] ?? -1, columns.cellOf[to] ?? -1];
    return row >= 0 && column >= 0 && entryOf.has(row * columns.names.length + column) ? [{ row, column }] : [];
  });
