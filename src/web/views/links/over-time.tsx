import { useMemo } from "preact/hooks";
import { formatTime } from "../../../model/numbers/units.ts";
import { percent } from "../../../report/amounts.ts";
import { Chart } from "../../parts/chart.tsx";
import { ChartLegend } from "../../parts/chart-legend.tsx";
import { type ChartAxis, type ChartLine, lineColour } from "../../parts/chart-model.ts";
import { ColumnHeads } from "../../parts/column-heads.tsx";
import { hasNoMessages, NoMessages } from "../../parts/no-messages.tsx";
import { useHidden } from "../../parts/use-hidden.ts";
import type { LoadsView, NetworkView } from "../../protocol.ts";
import type { Made } from "../../state/store.ts";

interface OverTimeProps {
  readonly made: Made;
  readonly network: NetworkView;
  readonly loads: LoadsView;
}

/** How much of the links' bandwidth is in use over time, of all and by class. */
export function OverTime({ made, network, loads }: OverTimeProps) {
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
