import { type AxisScale, placeOn, ticksOf, valueAt } from "../../picture/scales.ts";
import { at, label } from "./svg.ts";

/** Axes of plots of columns: linear or logarithmic, whichever shows more. */

/** An axis: its ticks and where a value lies between its ends. */
export interface PlotAxis {
  readonly name: string;
  readonly scale: AxisScale;
  readonly ticks: readonly number[];
  /** 0 at its beginning (the left, the bottom), 1 at its end. */
  place(value: number): number;
  text(value: number): string;
}

/** What an axis is for. */
export interface Measured {
  /** The name of its column. */
  readonly name: string;
  /** Bytes: powers of two. */
  readonly isSize?: boolean;
  text(value: number): string;
}

/** Values that differ by more than this factor are shown on a logarithmic axis. */
const WIDE = 20;

/** Returns whether values are shown by their logarithms. */
export const isWide = (values: readonly number[]): boolean => {
  const [low, high] = rangeOf(values);
  return low > 0 && high / low > WIDE;
};

/** Returns the least and the greatest value; 0 and 1 of none. */
export const rangeOf = (values: readonly number[]): [number, number] =>
  values.length === 0 ? [0, 1] : [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];

/** Returns an axis around values, with about so many ticks; `fromZero`: a linear one begins at 0. */
export function axisOf(
  values: readonly number[],
  { name, isSize = false, text }: Measured,
  { about, fromZero = false }: { readonly about: number; readonly fromZero?: boolean },
): PlotAxis {
  const [least, most] = rangeOf(values);
  const scale: AxisScale = least > 0 && (isSize || isWide(values)) ? (isSize ? "log2" : "log10") : "linear";
  const [low, high] = [fromZero && scale === "linear" ? Math.min(0, least) : least, most].map((value) =>
    placeOn(scale, value),
  ) as [number, number];
  const span = high - low || Math.abs(high) / 2 || 1;
  const margin = 0.06 * span;
  const from = fromZero && scale === "linear" && least >= 0 ? 0 : low - margin;
  const to = high + margin;
  const ticks = (scale === "log10" ? decades(from, to, about) : ticksOf(scale, from, to, about)).map((place) =>
    valueAt(scale, place),
  );
  return { name, scale, ticks, place: (value) => (placeOn(scale, value) - from) / (to - from), text };
}

/** Returns the places of powers of ten, with 2 and 5 times these where there is room. */
function decades(from: number, to: number, about: number): number[] {
  const whole = ticksOf("log10", from, to, about);
  const first = Math.floor(from);
  const all = Array.from({ length: Math.ceil(to) - first + 1 }, (_, i) => first + i)
    .flatMap((decade) => [decade, decade + Math.log10(2), decade + Math.log10(5)])
    .filter((place) => place >= from && place <= to);
  return all.length <= about + 2 ? all : whole;
}

/** Where a plot lies. */
export interface Plane {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Yields the grid of a plot with the names of its axes; `x` null: what lies below it is written by others. */
export function* gridOf({ left, top, width, height }: Plane, x: PlotAxis | null, y: PlotAxis): Generator<string> {
  for (const tick of x?.ticks ?? []) {
    const place = left + width * (x as PlotAxis).place(tick);
    yield `<path d="M${at(place)} ${at(top)}v${at(height)}" class="axis"/>${label(place, top + height + 18, (x as PlotAxis).text(tick), "small")}`;
  }
  for (const tick of y.ticks) {
    const place = top + height * (1 - y.place(tick));
    yield `<path d="M${at(left)} ${at(place)}h${at(width)}" class="axis"/>${label(left - 8, place + 4, y.text(tick), "small", "end")}`;
  }
  yield label(left, top - 8, y.name, "small soft", "start");
  if (x !== null) yield label(left + width / 2, top + height + 38, x.name, "small soft");
}
