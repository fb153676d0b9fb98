import uPlot from "uplot";
import { placeOn, ticksOf, valueAt } from "../../picture/scales.ts";
import { apartBy } from "../../picture/shapes.ts";
import { addMarker, type ChartAxis, type ChartLine, endsOf } from "./chart-model.ts";
import { withMicro } from "./visible-texts.ts";

/** A chart as it is drawn: axes hold places (logarithms), so that their ticks are ours. */

const FONT = '12px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const TEXT_WIDTH = 6.6;
const MARKER = 4;

export interface Plot {
  readonly x: ChartAxis;
  readonly y: ChartAxis;
  readonly at: ArrayLike<number>;
  readonly lines: readonly ChartLine[];
  /** Lines have their names at their right ends, where there is room. */
  readonly isNamed?: boolean;
}

/** Narrower charts have no room for names. */
const LEAST_NAMED = 480;
const NAME_HEIGHT = 14;
const NAME_GAP = 16;

/** Told of the cursor: an index of the abscissas and a place of the y axis; null where it left. */
type OnCursor = (at: { readonly index: number; readonly place: number } | null) => void;

const placesOf = ({ scale }: ChartAxis, values: ArrayLike<number | null>): (number | null)[] =>
  Array.from(values, (value) => {
    const place = value === null ? Number.NaN : placeOn(scale, value);
    return Number.isNaN(place) ? null : place;
  });

function axisOf(axis: ChartAxis, isX: boolean, colour: (name: string) => string): uPlot.Axis {
  const textOf = (place: number): string => withMicro(axis.text(valueAt(axis.scale, place)));
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
      const x = plot.valToPos(plot.data[0][j], "x", true);
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

/** Returns where a line has its last value, as indices of its points; -1: none. */
const lastOf = (places: readonly (number | null)[]): number => places.findLastIndex((place) => place !== null);

/** Writes the names of lines beside the plot, each as near the line's end as others let it, and joined with it. */
function paintNames(plot: uPlot, lines: readonly ChartLine[], colour: (name: string) => string): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  const ends = lines.flatMap((line, i) => {
    const places = plot.data[i + 1] as (number | null)[];
    const last = lastOf(places);
    if (last < 0) return [];
    const x = plot.valToPos(plot.data[0][last] as number, "x", true);
    return [{ line, x, y: plot.valToPos(places[last] as number, "y", true) }];
  });
  ends.sort((a, b) => a.y - b.y || a.line.name.localeCompare(b.line.name));
  const apart = apartBy(
    ends.map(({ y }) => y),
    NAME_HEIGHT * scale,
    bbox.top,
    bbox.top + bbox.height,
  );
  ctx.save();
  ctx.font = FONT.replace("12px", `${12 * scale}px`);
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  ctx.lineWidth = scale;
  ctx.setLineDash([]);
  const right = bbox.left + bbox.width;
  for (const [i, { line, x, y }] of ends.entries()) {
    const at = apart[i] as number;
    ctx.strokeStyle = colour(line.colour);
    ctx.globalAlpha = 0.5;
    ctx.beginPath();
    ctx.moveTo(x + MARKER * scale, y);
    ctx.lineTo(right + 2 * scale, y);
    ctx.lineTo(right + (NAME_GAP - 4) * scale, at);
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.fillStyle = colour("--text");
    ctx.fillText(line.name, right + NAME_GAP * scale, at);
  }
  ctx.restore();
}

/** Draws a chart into an element and returns it; the caller destroys it. */
export function drawPlot(
  into: HTMLElement,
  { x, y, at, lines, isNamed }: Plot,
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
  const longest = lines.reduce((most, { name }) => Math.max(most, name.length), 0);
  const hasNames = ({ width }: uPlot): boolean => isNamed === true && width >= LEAST_NAMED;
  const options: uPlot.Options = {
    ...size,
    legend: { show: false },
    padding: [10, (plot) => (hasNames(plot) ? NAME_GAP + 1.15 * TEXT_WIDTH * longest + 6 : 14), 0, 0],
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
      draw: [
        (plot) => {
          if (hasNames(plot)) paintNames(plot, lines, colour);
          paintMarkers(plot, lines, colour);
        },
      ],
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
