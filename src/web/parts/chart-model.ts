import { type AxisScale, heatColours, placeOn } from "../../picture/scales.ts";
import { cornersAt, lookOf, type Marker, markerOutline, PAGE_MARKERS } from "../../picture/shapes.ts";

/** What a chart shows. */
export interface ChartAxis {
  /** With the unit where the ticks do not say it. */
  readonly label: string;
  readonly scale: AxisScale;
  readonly text: (value: number) => string;
  /** Ends of the axis; those of the values without them. */
  readonly low?: number;
  readonly high?: number;
}

export interface ChartLine {
  readonly name: string;
  /** A CSS variable, "--chart-1". */
  readonly colour: string;
  /** At each abscissa; null: none. */
  readonly values: ArrayLike<number | null>;
  readonly dash?: readonly number[];
  readonly width?: number;
  /** Index of a marker's shape; none without it. */
  readonly marker?: number;
  /** The area below it is shaded. */
  readonly filled?: boolean;
}

/** What lines are drawn in when the colours (chart.css has them for both schemes) come again. */
const DASHES: readonly (readonly number[])[] = [
  [9, 3],
  [3, 2],
  [9, 2, 2, 2],
];

/** Returns the look of a line among others: no two of 24 have the same colour and dashes, nor the same colour and marker. */
export function lookOfLine(line: number): Pick<ChartLine, "colour" | "dash" | "marker"> {
  const { colour, round, marker } = lookOf(line);
  const look = { colour: `--chart-${colour + 1}`, marker };
  return round === 0 ? look : { ...look, dash: DASHES[(round - 1) % DASHES.length] };
}

/** Returns the ends of an axis as places on it, a little apart where all values are the same. */
export function endsOf(axis: ChartAxis, values: Iterable<number | null>): readonly [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    const place = value === null ? Number.NaN : placeOn(axis.scale, value);
    if (place < low) low = place;
    if (place > high) high = place;
  }
  const given = [axis.low, axis.high].map((end) => (end === undefined ? Number.NaN : placeOn(axis.scale, end)));
  if (!Number.isNaN(given[0])) low = given[0];
  if (!Number.isNaN(given[1])) high = given[1];
  if (!(low <= high)) return [0, 1];
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

/** Returns the line whose value at an abscissa is nearest to a place of the y axis; -1 where there is none. */
export function nearestLine(lines: readonly ChartLine[], scale: AxisScale, index: number, place: number): number {
  let [nearest, distance] = [-1, Number.POSITIVE_INFINITY];
  for (const [i, { values }] of lines.entries()) {
    const value = values[index];
    if (value === null || value === undefined) continue;
    const apart = Math.abs(placeOn(scale, value) - place);
    if (apart < distance) [nearest, distance] = [i, apart];
  }
  return nearest;
}

/** Returns the lines that have a value at an abscissa, by value, the highest first. */
export function linesAt(
  lines: readonly ChartLine[],
  index: number,
): { readonly line: number; readonly value: number }[] {
  const found = lines.flatMap(({ values }, line) => {
    const value = values[index];
    return value === null || value === undefined ? [] : [{ line, value }];
  });
  return found.sort((a, b) => b.value - a.value || a.line - b.line);
}

type Pen = Pick<CanvasRenderingContext2D, "moveTo" | "lineTo" | "arc" | "closePath">;

const markerOf = (shape: number): Marker => PAGE_MARKERS[shape % PAGE_MARKERS.length];

/** Adds a marker to a path, about `radius` large: 0 a circle, then square, diamond, triangles, pentagon, and again. */
export function addMarker(pen: Pen, shape: number, x: number, y: number, radius: number): void {
  const corners = cornersAt(markerOf(shape), x, y, radius);
  if (corners.length === 0) {
    pen.moveTo(x + radius, y);
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    return;
  }
  for (const [i, corner] of corners.entries()) {
    if (i === 0) pen.moveTo(...corner);
    else pen.lineTo(...corner);
  }
  pen.closePath();
}

/** Returns a marker as the path of an SVG. */
export function markerPath(shape: number, x: number, y: number, radius: number): string {
  if (markerOf(shape).length === 0)
    return `M${x - radius} ${y}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0Z`;
  return markerOutline(markerOf(shape), x, y, radius);
}

const STOPS = 13;

/** Returns the scale of heat as a CSS gradient from 0 to 1. */
export const heatGradient = (isDark: boolean): string =>
  `linear-gradient(to right, ${heatColours(STOPS, isDark).join(", ")})`;
