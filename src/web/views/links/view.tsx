import { useMemo } from "preact/hooks";
import "./links.css";
import { formatTime } from "../../../model/numbers/units.ts";
import { count, percent } from "../../../report/amounts.ts";
import { Chart } from "../../parts/chart.tsx";
import { ChartLegend } from "../../parts/chart-legend.tsx";
import { type ChartAxis, type ChartLine, lineColour } from "../../parts/chart-model.ts";
import { ColumnHeads } from "../../parts/column-heads.tsx";
import { hasNoMessages, NoMessages } from "../../parts/no-messages.tsx";
import { useAnswer } from "../../parts/use-answer.ts";
import { useHidden } from "../../parts/use-hidden.ts";
import type { LoadsView, NetworkView } from "../../protocol.ts";
import { type Made, selection } from "../../state/store.ts";
import { NetworkCanvas } from "../network/network-canvas.tsx";
import type { ViewProps } from "../view-props.ts";
import { heatOfWires, sharesOf, spreadByClass, spreadOf } from "./figures.ts";
import { ClassTable, LinkTables } from "./link-tables.tsx";
import { Matrices } from "./matrices.tsx";

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
  return `The ${count(links, "link")} are busy ${percent(mean)} of ${formatTime(totalPs)} in the mean, the busiest ${percent(most)}; ${unused}.`;
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
    return { name: text, colour: lineColour(i), values, width: 1.6, dash: i % 2 === 0 ? [6, 3] : [2, 3] };
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
              <th scope="row">{formatTime(at[bin] as number)}</th>
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
