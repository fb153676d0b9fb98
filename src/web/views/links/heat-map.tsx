import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { scheme } from "../../parts/colours.ts";
import { actOnKey } from "../../parts/keys.ts";
import type { Place } from "./heat-paint.ts";
import { HeatStage } from "./heat-stage.ts";
import { entryBeside, type Matrix } from "./matrix.ts";

interface HeatMapProps {
  readonly matrix: Matrix;
  /** What a screen reader says of the picture. */
  readonly label: string;
  /** Cells of what is chosen elsewhere. */
  readonly chosen: readonly Place[];
  readonly onPoint: (place: Place | null) => void;
  readonly onPick: (place: Place) => void;
}

/**
 * Shares by source and destination. The pointer or, with the focus, the arrow keys choose a cell (Shift: ten further; PageUp, PageDown: with
 * links), Enter picks it; + and - zoom, 0 shows all.
 */
export function HeatMap(props: HeatMapProps) {
  const { matrix, label, onPoint, onPick } = props;
  const box = useRef<HTMLDivElement>(null);
  const pointed = useSignal<Place | null>(null);
  const stage = useHeatStage(box, props, pointed);

  function point(place: Place | null): void {
    const before = pointed.peek();
    if (before?.row === place?.row && before?.column === place?.column) return;
    pointed.value = place;
    onPoint(place);
  }
  function goTo(place: Place): void {
    point(place);
    stage.current?.follow(place);
  }
  function move(rows: number, columns: number): void {
    const { row, column } = pointed.peek() ?? { row: -Math.min(rows, 0), column: -Math.min(columns, 0) };
    const held = (at: number, count: number): number => Math.max(0, Math.min(count - 1, at));
    const start = pointed.peek() === null ? 0 : 1;
    goTo({
      row: held(row + start * rows, matrix.rows.names.length),
      column: held(column + start * columns, matrix.columns.names.length),
    });
  }
  /** Goes to the next cell with links, row by row. */
  function jump(by: 1 | -1): void {
    const entry = entryBeside(matrix, pointed.peek(), by);
    if (entry >= 0) goTo({ row: matrix.row[entry], column: matrix.column[entry] });
  }
  function scale(by: number): void {
    stage.current?.scale(by);
    const place = pointed.peek();
    if (place !== null) stage.current?.follow(place);
  }
  function onKeyDown(event: KeyboardEvent): void {
    const far = event.shiftKey ? 10 : 1;
    actOnKey(event, {
      ArrowUp: () => move(-far, 0),
      ArrowDown: () => move(far, 0),
      ArrowLeft: () => move(0, -far),
      ArrowRight: () => move(0, far),
      PageDown: () => jump(1),
      PageUp: () => jump(-1),
      Enter: () => pointed.peek() !== null && onPick(pointed.peek() as Place),
      "+": () => scale(1.6),
      "=": () => scale(1.6),
      "-": () => scale(1 / 1.6),
      "0": () => scale(0),
    });
  }
  return (
    <div
      class="heat-map"
      ref={box}
      role="application"
      aria-roledescription="heat map"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys walk from cell to cell
      tabIndex={0}
      aria-label={label}
      onKeyDown={onKeyDown}
      onPointerMove={(event) => point(stage.current?.placeOf(event) ?? null)}
      onPointerLeave={() => point(null)}
      onClick={(event) => {
        const place = stage.current?.placeOf(event) ?? null;
        if (place === null) return;
        point(place);
        onPick(place);
      }}
    >
      <canvas />
      <canvas />
    </div>
  );
}

/** Returns what paints the matrix on the canvases of a box, as wide as that is. */
function useHeatStage(
  box: RefObject<HTMLDivElement | null>,
  { matrix, chosen, onPoint }: HeatMapProps,
  pointed: Signal<Place | null>,
): RefObject<HeatStage | null> {
  const stage = useRef<HeatStage | null>(null);
  const width = useSignal(0);
  const repaint = scheme.value;
  useEffect(() => {
    const element = box.current as HTMLDivElement;
    const [cells, marks] = element.querySelectorAll("canvas");
    stage.current = new HeatStage(cells, marks);
    const measure = (): void => {
      width.value = element.clientWidth;
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [box, width]);
  useEffect(() => {
    if (width.value === 0) return;
    pointed.value = null;
    onPoint(null);
    return stage.current?.show(matrix, width.value);
  }, [matrix, width.value, repaint]);
  useEffect(() => stage.current?.mark(pointed.value, chosen), [chosen, pointed.value]);
  return stage;
}
