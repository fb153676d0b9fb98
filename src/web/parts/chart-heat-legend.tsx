import { useEffect, useRef } from "preact/hooks";
import "./chart.css";
import { paletteOf } from "../draw/palette.ts";
import { heatGradient } from "./chart-heat.ts";
import { scheme } from "./chart-scheme.ts";

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
