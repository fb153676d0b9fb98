import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { paletteOf } from "../draw/palette.ts";
import "./chart.css";
import { LineSwatch } from "./chart-legend.tsx";
import { addMarker } from "./chart-marker.ts";
import { type ChartAxis, type ChartLine, endsOf, linesAt, nearestLine } from "./chart-model.ts";
import { scheme } from "./chart-scheme.ts";
import { placeOn, ticksOf, valueAt } from "./chart-ticks.ts";

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
export function Chart({ label, height, x, y, at, lines, onPick, pickHint }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const cursor = useSignal<Cursor | null>(null);
  const place = useSignal({ x: 0, width: 0 });
  const repaint = scheme.value;
  const given = useRef<Plot>({ x, y, at, lines });
  given.current = { x, y, at, lines };

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
  }, [x, y, at, lines, height, repaint, cursor]);

  const spoken = useComputed(() => {
    const now = cursor.value;
    return now === null ? "" : textAt(given.current, now);
  });

  useEffect(() => {
    const drawn = plot.current;
    const now = cursor.value;
    if (drawn === null || now === null) return;
    const { x: axis, at: abscissas } = given.current;
    const left = drawn.valToPos(placeOn(axis.scale, abscissas[now.index] as number), "x");
    const start = drawn.over.offsetLeft;
    place.value = { x: start + left, width: box.current?.clientWidth ?? 0 };
  }, [cursor.value, place]);

  function move(by: number): void {
    const last = at.length - 1;
    const from = cursor.value?.index ?? (by > 0 ? -1 : last + 1);
    moveTo(Math.max(0, Math.min(last, from + by)), cursor.value?.line ?? -1);
  }
  function moveTo(index: number, line: number): void {
    const there = linesAt(lines, index);
    const first = there.find((one) => lines[one.line]?.marker !== undefined) ?? there[0];
    const kept = there.some((one) => one.line === line) ? line : (first?.line ?? -1);
    cursor.value = { index, line: kept };
    plot.current?.setCursor(
      { left: plot.current.valToPos(placeOn(x.scale, at[index] as number), "x"), top: -10 },
      false,
    );
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
  const KEYS: Readonly<Record<string, () => void>> = {
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
      onKeyDown={(event) => {
        const act = KEYS[event.key];
        if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        event.stopPropagation();
        act();
      }}
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
      <strong>{x.text(at[index] as number)}</strong>
      <ul>
        {there.map(({ line: one, value }) => (
          <li key={one} data-chosen={one === line}>
            <LineSwatch line={lines[one] as ChartLine} />
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
  return `${x.text(at[index] as number)}: ${there.join(", ")}${chosen === undefined ? "" : `; at ${chosen}`}`;
}

/** A chart as it is drawn: axes hold places (logarithms), so that their ticks are ours. */

const FONT = '12px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const TEXT_WIDTH = 6.6;
const MARKER = 4;

interface Plot {
  readonly x: ChartAxis;
  readonly y: ChartAxis;
  readonly at: ArrayLike<number>;
  readonly lines: readonly ChartLine[];
}

/** Told of the cursor: an index of the abscissas and a place of the y axis; null where it left. */
type OnCursor = (at: { readonly index: number; readonly place: number } | null) => void;

const placesOf = ({ scale }: ChartAxis, values: ArrayLike<number | null>): (number | null)[] =>
  Array.from(values, (value) => {
    const place = value === null ? Number.NaN : placeOn(scale, value);
    return Number.isNaN(place) ? null : place;
  });

function axisOf(axis: ChartAxis, isX: boolean, colour: (name: string) => string): uPlot.Axis {
  const textOf = (place: number): string => axis.text(valueAt(axis.scale, place));
  return {
    label: axis.label,
    labelSize: 20,
    labelFont: FONT,
    font: FONT,
    stroke: colour("--soft"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
    gap: 6,
    size: isX
      ? 26
      : (_, texts) => 12 + TEXT_WIDTH * (texts ?? []).reduce((longest, { length }) => Math.max(longest, length), 3),
    splits: (plot, _, low, high) => {
      const room = isX ? plot.bbox.width / devicePixelRatio / 76 : plot.bbox.height / devicePixelRatio / 36;
      return ticksOf(axis.scale, low, high, Math.max(2, Math.floor(room)));
    },
    values: (_, places) => places.map(textOf),
  };
}

/** Returns the lines over each other in the order they come, with their markers on top. */
function paintMarkers(plot: uPlot, lines: readonly ChartLine[], colour: (name: string) => string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left - 8, bbox.top - 8, bbox.width + 16, bbox.height + 16);
  ctx.clip();
  for (const [i, { marker, colour: name }] of lines.entries()) {
    if (marker === undefined) continue;
    ctx.beginPath();
    for (const [j, place] of (plot.data[i + 1] as (number | null)[]).entries()) {
      if (place === null) continue;
      const x = plot.valToPos(plot.data[0][j] as number, "x", true);
      addMarker(ctx, marker, x, plot.valToPos(place, "y", true), MARKER * devicePixelRatio);
    }
    ctx.fillStyle = colour(name);
    ctx.strokeStyle = colour("--panel");
    ctx.lineWidth = devicePixelRatio;
    ctx.fill();
    ctx.stroke();
  }
  ctx.restore();
}

/** Draws a chart into an element and returns it; the caller destroys it. */
function drawPlot(
  into: HTMLElement,
  { x, y, at, lines }: Plot,
  size: { readonly width: number; readonly height: number },
  colour: (name: string) => string,
  onCursor: OnCursor,
): uPlot {
  const [left, right] = endsOf(x, Array.from(at));
  const isPointed = lines.some(({ marker }) => marker !== undefined);
  // markers at the sides need room
  const room = isPointed ? (right - left) * 0.03 : 0;
  const [low, high] = endsOf(
    y,
    lines.flatMap(({ values }) => Array.from(values)),
  );
  const above = y.high === undefined ? (high - low) * 0.05 : 0;
  const below = y.low === undefined ? (high - low) * 0.05 : 0;
  const options: uPlot.Options = {
    ...size,
    legend: { show: false },
    padding: [10, 14, 0, 0],
    cursor: {
      y: false,
      drag: { x: false, y: false, setScale: false },
      points: { show: false },
    },
    scales: {
      x: { time: false, range: [left - room, right + room] },
      y: { range: [low - below, high + above] },
    },
    axes: [axisOf(x, true, colour), axisOf(y, false, colour)],
    series: [
      {},
      ...lines.map(({ colour: name, dash, width, filled }) => ({
        stroke: colour(name),
        width: width ?? 2,
        ...(dash === undefined ? {} : { dash: [...dash] }),
        ...(filled ? { fill: `color-mix(in srgb, ${colour(name)} 9%, transparent)`, fillTo: low } : {}),
        points: { show: false },
        spanGaps: false,
      })),
    ],
    hooks: {
      draw: [(plot) => paintMarkers(plot, lines, colour)],
      setCursor: [
        ({ cursor: { idx, left: cursorLeft, top }, posToVal }) => {
          if (idx === null || idx === undefined || cursorLeft === undefined || cursorLeft < 0) onCursor(null);
          else onCursor({ index: idx, place: posToVal(top ?? 0, "y") });
        },
      ],
    },
  };
  const data = [placesOf(x, at), ...lines.map(({ values }) => placesOf(y, values))];
  return new uPlot(options, data as unknown as uPlot.AlignedData, into);
}
