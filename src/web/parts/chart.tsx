import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { paletteOf } from "../draw/palette.ts";
import "./chart.css";
import { placeOn } from "../../picture/scales.ts";
import { LineSwatch } from "./chart-legend.tsx";
import { linesAt, nearestLine } from "./chart-model.ts";
import { drawPlot, type Plot } from "./chart-plot.ts";
import { scheme } from "./colours.ts";
import { actOnKey } from "./keys.ts";

interface ChartProps extends Plot {
  /** What it shows, a sentence for screen readers. */
  readonly label: string;
  readonly height: number;
  /** A point was chosen: by click, or by Enter at the cursor. */
  readonly onPick?: (line: number, index: number) => void;
  /** What choosing a point does: "makes this schedule". */
  readonly pickHint?: string;
}

interface Cursor {
  readonly index: number;
  /** The line pointed at; -1: none. */
  readonly line: number;
}

/**
 * A chart of lines over a common abscissa. The cursor follows the pointer, or the arrow keys where the chart has the focus: left
 * and right go along, up and down choose a line, Enter picks the point.
 */
export function Chart({ label, height, x, y, at, lines, isNamed = false, onPick, pickHint }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const cursor = useSignal<Cursor | null>(null);
  const { plot, place } = usePlot(box, { x, y, at, lines, isNamed }, height, cursor);
  const spoken = cursor.value === null ? "" : textAt({ x, y, at, lines }, cursor.value);

  function move(by: number): void {
    const last = at.length - 1;
    const from = cursor.value?.index ?? (by > 0 ? -1 : last + 1);
    moveTo(Math.max(0, Math.min(last, from + by)), cursor.value?.line ?? -1);
  }
  function moveTo(index: number, line: number): void {
    const there = linesAt(lines, index);
    const first = there.find((one) => lines[one.line].marker !== undefined) ?? there[0];
    const kept = there.some((one) => one.line === line) ? line : (first?.line ?? -1);
    cursor.value = { index, line: kept };
    plot.current?.setCursor({ left: plot.current.valToPos(placeOn(x.scale, at[index]), "x"), top: -10 }, false);
  }
  function chooseLine(by: number): void {
    const { index, line } = cursor.value ?? { index: 0, line: -1 };
    const there = linesAt(lines, index);
    const here = there.findIndex((one) => one.line === line);
    const next = there[Math.max(0, Math.min(there.length - 1, here + by))];
    if (next !== undefined) moveTo(index, next.line);
  }
  function pick(): void {
    const now = cursor.value;
    if (now !== null && now.line >= 0) onPick?.(now.line, now.index);
  }
  const acts = {
    ArrowRight: () => move(1),
    ArrowLeft: () => move(-1),
    PageDown: () => move(Math.ceil(at.length / 10)),
    PageUp: () => move(-Math.ceil(at.length / 10)),
    Home: () => moveTo(0, cursor.value?.line ?? -1),
    End: () => moveTo(at.length - 1, cursor.value?.line ?? -1),
    ArrowUp: () => chooseLine(-1),
    ArrowDown: () => chooseLine(1),
    Enter: pick,
  };

  return (
    <div
      class="chart"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-orientation="horizontal"
      aria-valuemin={0}
      aria-valuemax={Math.max(0, at.length - 1)}
      aria-valuenow={cursor.value?.index ?? 0}
      aria-valuetext={spoken}
      onKeyDown={(event) => actOnKey(event, acts)}
      onClick={onPick === undefined ? undefined : pick}
      data-picks={onPick !== undefined}
    >
      <div class="chart-plot" ref={box} />
      {cursor.value !== null && (
        <Readout plot={{ x, y, at, lines }} cursor={cursor.value} place={place.value} hint={pickHint} />
      )}
    </div>
  );
}

/** Draws a chart into a box, as wide as that is, with the cursor where the pointer is; returns it, and the place of the cursor. */
function usePlot(
  box: RefObject<HTMLDivElement | null>,
  { x, y, at, lines, isNamed = false }: Plot,
  height: number,
  cursor: Signal<Cursor | null>,
) {
  const plot = useRef<uPlot | null>(null);
  const place = useSignal({ x: 0, width: 0 });
  const repaint = scheme.value;
  const given = useRef<Plot>({ x, y, at, lines, isNamed });
  given.current = { x, y, at, lines, isNamed };
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const size = () => ({ width: Math.max(160, element.clientWidth), height });
    cursor.value = null;
    const drawn = drawPlot(element, given.current, size(), paletteOf(element), (to) => {
      const now = given.current;
      cursor.value =
        to === null ? null : { index: to.index, line: nearestLine(now.lines, now.y.scale, to.index, to.place) };
    });
    plot.current = drawn;
    const observer = new ResizeObserver(() => drawn.setSize(size()));
    observer.observe(element);
    return () => {
      observer.disconnect();
      drawn.destroy();
      plot.current = null;
    };
  }, [box, x, y, at, lines, isNamed, height, repaint, cursor]);
  useEffect(() => {
    const drawn = plot.current;
    const now = cursor.value;
    if (drawn === null || now === null) return;
    const left = drawn.valToPos(placeOn(given.current.x.scale, given.current.at[now.index]), "x");
    place.value = { x: drawn.over.offsetLeft + left, width: box.current?.clientWidth ?? 0 };
  }, [box, cursor.value, place]);
  return { plot, place };
}

const MOST_READ = 16;

interface ReadoutProps {
  readonly plot: Plot;
  readonly cursor: Cursor;
  readonly place: { readonly x: number; readonly width: number };
  readonly hint: string | undefined;
}

/** What the lines say at the cursor. */
function Readout({ plot: { x, y, at, lines }, cursor: { index, line }, place, hint }: ReadoutProps) {
  const isRight = place.x > place.width / 2;
  const there = linesAt(lines, index).slice(0, MOST_READ);
  return (
    <div
      class="chart-readout"
      aria-hidden="true"
      style={isRight ? { right: `${place.width - place.x + 12}px` } : { left: `${place.x + 12}px` }}
    >
      <strong>{x.text(at[index])}</strong>
      <ul>
        {there.map(({ line: one, value }) => (
          <li key={one} data-chosen={one === line}>
            <LineSwatch line={lines[one]} />
            <span>{lines[one]?.name}</span>
            <b>{y.text(value)}</b>
          </li>
        ))}
      </ul>
      {hint !== undefined && lines[line]?.marker !== undefined && <small>{`Click or Enter: ${hint}`}</small>}
    </div>
  );
}

/** Returns the cursor's values in words. */
function textAt({ x, y, at, lines }: Plot, { index, line }: Cursor): string {
  const there = linesAt(lines, index).map(({ line: one, value }) => `${lines[one]?.name} ${y.text(value)}`);
  const chosen = lines[line]?.name;
  return `${x.text(at[index])}: ${there.join(", ")}${chosen === undefined ? "" : `; at ${chosen}`}`;
}
