import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { HeatLegend } from "../../parts/chart-heat-legend.tsx";
import type { About } from "./about.ts";
import type { Place } from "./heat-canvas.ts";
import { HeatMap } from "./heat-map.tsx";
import { entryAt, insideOf, type Matrix, type Nodes, type Pairs, wholeMatrix } from "./matrix.ts";

interface MatrixPanelProps {
  readonly nodes: Nodes;
  readonly pairs: Pairs;
  readonly about: About;
  /** Nodes from and to which something is chosen elsewhere. */
  readonly chosen: readonly (readonly [from: number, to: number])[];
  readonly onPick: (pair: number) => void;
}

/** The heat map with its legend, what is pointed at in words, and the way into coarse cells and back. */
export function MatrixPanel({ nodes, pairs, about, chosen, onPick }: MatrixPanelProps) {
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
    else onPick(matrix.first[entry] as number);
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
  const text = entry < 0 ? about.none : about.textOf(matrix.value[entry] as number, matrix.pairs[entry] as number);
  return `${nameAt(matrix, place.row, place.column)}: ${text}`;
}

/** Returns the cells of what is chosen. */
const placesOf = ({ rows, columns, entryOf }: Matrix, chosen: MatrixPanelProps["chosen"]): Place[] =>
  chosen.flatMap(([from, to]) => {
    const [row, column] = [rows.cellOf[from] ?? -1, columns.cellOf[to] ?? -1];
    return row >= 0 && column >= 0 && entryOf.has(row * columns.names.length + column) ? [{ row, column }] : [];
  });
