import { useMemo } from "preact/hooks";
import type { Comparison, ComparisonRow } from "../../../report/comparison.ts";
import { Chart } from "../../parts/chart.tsx";
import { ChartLegend } from "../../parts/chart-legend.tsx";
import { OneOf } from "../../parts/one-of.tsx";
import { useHidden } from "../../parts/use-hidden.ts";
import { choose } from "../../state/actions.ts";
import { MEASURES } from "../../state/choices.ts";
import { words } from "../../state/store.ts";
import { axesOf, linesOf, MEASURE_NAMES, sizesIn } from "./series.ts";

interface ComparisonChartProps {
  readonly comparison: Comparison;
  /** Names of all algorithms, in the order of the legend. */
  readonly order: readonly string[];
  readonly onMake: (row: ComparisonRow) => void;
}

/** A measure over size, a line for each algorithm. */
export function ComparisonChart({ comparison, order, onMake }: ComparisonChartProps) {
  const measure = words.value.choices.measure ?? MEASURES[0];
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
      <div class="compare-chart-bar">
        <OneOf
          title="What is shown"
          isUntitled
          choices={MEASURES.map((name) => [name, MEASURE_NAMES[name]] as const)}
          value={measure}
          onChange={(name) => choose({ measure: name === MEASURES[0] ? undefined : name })}
        />
        <ChartLegend label="Lines: press to hide and show" lines={lines} hidden={hidden} onToggle={toggle} />
      </div>
      <Chart
        label={`${MEASURE_NAMES[measure]} over size, a line for each algorithm; the table below has the figures`}
        height={380}
        x={x}
        y={y}
        at={sizes}
        lines={shown}
        onPick={pick}
        pickHint="make this schedule"
      />
    </div>
  );
}
