import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import "./chart.css";
import { paletteOf } from "../draw/palette.ts";
import { type ChartLine, heatGradient, markerPath } from "./chart-model.ts";
import { scheme } from "./colours.ts";

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

interface HeatLegendProps {
  /** What the colours say. */
  readonly label: string;
  /** At the ends of the scale. */
  readonly low: string;
  readonly high: string;
  /** What the ground stands for; left out without it. */
  readonly none?: string;
}

/** Which colour is which share. */
export function HeatLegend({ label, low, high, none }: HeatLegendProps) {
  const bar = useRef<HTMLSpanElement>(null);
  const repaint = scheme.value;
  useEffect(() => {
    const element = bar.current;
    if (element !== null) element.style.background = heatGradient(paletteOf(element).isDark);
  }, [repaint]);
  return (
    <p class="chart-heat">
      <span>{low}</span>
      <span ref={bar} class="chart-heat-bar" aria-hidden="true" />
      <span>{high}</span>
      <span>{label}</span>
      {none !== undefined && (
        <span class="chart-heat-none">
          <span aria-hidden="true" />
          {none}
        </span>
      )}
    </p>
  );
}

/** Returns the names that are hidden, and what hides or shows one. */
export function useHidden(): { readonly hidden: ReadonlySet<string>; readonly toggle: (name: string) => void } {
  const hidden = useSignal<ReadonlySet<string>>(new Set());
  return {
    hidden: hidden.value,
    toggle(name) {
      const next = new Set(hidden.value);
      if (!next.delete(name)) next.add(name);
      hidden.value = next;
    },
  };
}
