import "./chart.css";
import { markerPath } from "./chart-marker.ts";
import type { ChartLine } from "./chart-model.ts";

/** How a line looks. */
export function LineSwatch({ line: { colour, dash, marker } }: { readonly line: ChartLine }) {
  return (
    <svg class="chart-swatch" width="26" height="12" aria-hidden="true">
      <path
        d="M0 6h26"
        stroke={`var(${colour})`}
        stroke-width="2"
        {...(dash === undefined ? {} : { "stroke-dasharray": dash.join(" ") })}
      />
      {marker !== undefined && <path d={markerPath(marker, 13, 6, 4)} fill={`var(${colour})`} />}
    </svg>
  );
}

interface LegendProps {
  readonly label: string;
  readonly lines: readonly ChartLine[];
  /** Names of lines that are not drawn. */
  readonly hidden: ReadonlySet<string>;
  readonly onToggle: (name: string) => void;
}

/** Names of lines as buttons that hide and show them. */
export function ChartLegend({ label, lines, hidden, onToggle }: LegendProps) {
  return (
    <fieldset class="chart-legend" aria-label={label}>
      {lines.map((line) => (
        <button
          key={line.name}
          type="button"
          aria-pressed={!hidden.has(line.name)}
          title={hidden.has(line.name) ? `Show ${line.name}` : `Hide ${line.name}`}
          onClick={() => onToggle(line.name)}
        >
          <LineSwatch line={line} />
          {line.name}
        </button>
      ))}
    </fieldset>
  );
}
