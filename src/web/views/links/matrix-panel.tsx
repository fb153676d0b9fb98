import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { percent } from "../../../words/amounts.ts";
import { HeatLegend } from "../../parts/chart-heat-legend.tsx";
import type { NetworkView } from "../../protocol.ts";
import type { Place } from "./heat-canvas.ts";
import { HeatMap } from "./heat-map.tsx";
import { entryAt, insideOf, type Matrix, wholeMatrix } from "./matrix.ts";

interface MatrixPanelProps {
  readonly network: NetworkView;
  readonly shares: Float64Array;
  readonly chosenWire: number | null;
  readonly onWire: (wire: number) => void;
}

/** The heat map with its legend, what is pointed at in words, and the way into coarse cells and back. */
export function MatrixPanel({ network, shares, chosenWire, onWire }: MatrixPanelProps) {
  const whole = useMemo(() => wholeMatrix(network, shares), [network, shares]);
  const inside = useSignal<{ readonly matrix: Matrix; readonly name: string } | null>(null);
  const pointed = useSignal<Place | null>(null);
  useEffect(() => {
    inside.value = null;
  }, [inside, whole]);
  const matrix = inside.value?.matrix ?? whole;
  const isCoarse = matrix.rows.note !== null;
  const chosen = useMemo(() => placesOf(network, matrix, chosenWire), [network, matrix, chosenWire]);
  const spoken = useComputed(() => textAt(inside.value?.matrix ?? whole, pointed.value));

  function pick({ row, column }: Place): void {
    const entry = entryAt(matrix, row, column);
    if (entry < 0) return;
    if (isCoarse)
      inside.value = { matrix: insideOf(network, matrix, row, column, shares), name: nameAt(matrix, row, column) };
    else onWire(network.wires.ofLink[matrix.link[entry]]);
  }
  const label = `Share of the time that links were busy: ${matrix.rows.names.length} sources by ${matrix.columns.names.length} destinations. Arrow keys walk through it, PageUp and PageDown from link to link, Enter ${isCoarse ? "looks inside" : "selects the wire"}.`;
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
        chosen={chosen}
        onPoint={(place) => {
          pointed.value = place;
        }}
        onPick={pick}
      />
      <p class="matrix-panel-said" aria-live="polite">
        {spoken.value || "Point at a cell, or walk with the arrow keys."}
      </p>
      <HeatLegend label="share of the time that a link is busy" low="0 %" high="100 %" none="no link" />
      {matrix.rows.note !== null && <p class="links-note">{matrix.rows.note}</p>}
    </div>
  );
}

const nameAt = ({ rows, columns }: Matrix, row: number, column: number): string =>
  `${rows.names[row]} → ${columns.names[column]}`;

function textAt(matrix: Matrix, place: Place | null): string {
  if (place === null) return "";
  const entry = entryAt(matrix, place.row, place.column);
  const name = nameAt(matrix, place.row, place.column);
  if (entry < 0) return `${name}: no link`;
  const links = matrix.links[entry] as number;
  const share = percent(matrix.share[entry] as number);
  return `${name}: ${share} busy${links > 1 ? ` (mean of ${links} links)` : ""}`;
}

/** Returns the cells of a wire, one for each direction. */
function placesOf({ wires }: NetworkView, { rows, columns, entryOf }: Matrix, wire: number | null): Place[] {
  if (wire === null) return [];
  const [a, b] = [wires.a[wire], wires.b[wire]];
  return [
    [a, b],
    [b, a],
  ].flatMap(([from, to]) => {
    const [row, column] = [rows.cellOf[from as number] ?? -1, columns.cellOf[to as number] ?? -1];
    return row >= 0 && column >= 0 && entryOf.has(row * columns.names.length + column) ? [{ row, column }] : [];
  });
}
