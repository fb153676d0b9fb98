import { InputError } from "../errors.ts";
import { formatSize, formatTime, PS_PER_US } from "../model/units.ts";
import { at, escaped, framed, label, type Picture, type PictureOptions, short } from "./pictures/svg.ts";

/** A measurement of the plot; the rows of a comparison have these fields. */
export interface ComparedRow {
  readonly sizeBytes: number;
  readonly algorithm: string;
  readonly us: number;
  readonly busbwGBps: number | null;
}

export interface ComparisonOptions {
  /** "All-reduce on dgx-a100:2". */
  readonly title: string;
  /** Time (default) or bus bandwidth, upwards. */
  readonly show?: "time" | "busbw";
}

const WIDTH = 720;
const HEIGHT = 400;
const LEFT = 72;
const COLOURS = 6;
/** Lines beyond the colours differ by their strokes. */
const DASHES = ["", "7 4", "2 4", "10 4 2 4"];

interface Line {
  readonly algorithm: string;
  readonly points: readonly { readonly size: number; readonly value: number }[];
}

/** A logarithmic axis: its ends, and where a value lies between them. */
interface LogAxis {
  readonly ticks: readonly number[];
  readonly place: (value: number) => number;
}

function logAxis(values: readonly number[], base: number): LogAxis {
  const log = (value: number): number => Math.log(value) / Math.log(base);
  const low = Math.floor(log(values.reduce((a, b) => Math.min(a, b))) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(log(values.reduce((a, b) => Math.max(a, b))) - 1e-9));
  const step = Math.max(1, Math.ceil((high - low) / 10));
  const ticks: number[] = [];
  for (let power = low; power <= high; power += step) ticks.push(base ** power);
  return { ticks, place: (value) => (log(value) - low) / (high - low) };
}

/**
 * Yields the parts of an SVG of time or bus bandwidth over size, a line for each algorithm, both axes logarithmic. Values of 0 have
 * no place there and are left out, which the picture says. Throws InputError where nothing is left to draw.
 */
export const comparisonSvg = (
  rows: readonly ComparedRow[],
  options: ComparisonOptions & PictureOptions,
): Generator<string> => framed(comparisonPicture(rows, options), options);

/** Returns that picture without its frame. */
export function comparisonPicture(rows: readonly ComparedRow[], { title, show = "time" }: ComparisonOptions): Picture {
  const measureOf = ({ us, busbwGBps }: ComparedRow): number => (show === "time" ? us : (busbwGBps ?? 0));
  const drawn = rows.filter((row) => measureOf(row) > 0 && row.sizeBytes > 0);
  if (drawn.length === 0)
    throw new InputError("the rows of a plot", `at least one with a ${show === "time" ? "time" : "bandwidth"} above 0`);
  const lines = linesOf(drawn, measureOf);
  const sizes = logAxis(
    drawn.map(({ sizeBytes }) => sizeBytes),
    2,
  );
  const values = logAxis(drawn.map(measureOf), 10);
  const x = (size: number): number => LEFT + WIDTH * sizes.place(size);
  const y = (value: number): number => HEIGHT * (1 - values.place(value));
  const text = (value: number): string =>
    show === "time" ? formatTime(value * PS_PER_US) : `${Number(value.toPrecision(4))} GB/s`;
  function* parts(): Generator<string> {
    for (const size of sizes.ticks) {
      yield `<path d="M${at(x(size))} 0V${HEIGHT}" class="axis"/>${label(x(size), HEIGHT + 18, formatSize(size), "small")}`;
    }
    for (const value of values.ticks) {
      yield `<path d="M${LEFT} ${at(y(value))}h${WIDTH}" class="axis"/>${label(LEFT - 8, y(value) + 4, text(value), "small", "end")}`;
    }
    for (const [i, { algorithm, points }] of lines.entries()) yield* drawnLine(algorithm, points, i, x, y, text);
    yield* endLabels(lines, x, y);
  }
  const missing = rows.length - drawn.length;
  const left = missing === 0 ? "" : ` ${missing} ${missing === 1 ? "value" : "values"} of 0 left out.`;
  const sentence = `${show === "time" ? "Time" : "Bus bandwidth"} over size of the collective, both on logarithmic axes.${left}`;
  return { title, sentence, width: LEFT + WIDTH + 130, height: HEIGHT + 26, parts: parts() };
}

function linesOf(rows: readonly ComparedRow[], measureOf: (row: ComparedRow) => number): Line[] {
  const lines = new Map<string, { size: number; value: number }[]>();
  for (const row of rows) {
    const points = lines.get(row.algorithm) ?? [];
    lines.set(row.algorithm, points);
    points.push({ size: row.sizeBytes, value: measureOf(row) });
  }
  return [...lines].map(([algorithm, points]) => ({ algorithm, points: points.sort((a, b) => a.size - b.size) }));
}

function* drawnLine(
  algorithm: string,
  points: Line["points"],
  index: number,
  x: (size: number) => number,
  y: (value: number) => number,
  text: (value: number) => string,
): Generator<string> {
  const colour = `k${index % COLOURS}`;
  const dash = DASHES[Math.floor(index / COLOURS) % DASHES.length];
  const way = points.map(({ size, value }, i) => `${i === 0 ? "M" : "L"}${at(x(size))} ${at(y(value))}`).join("");
  yield `<path d="${way}" class="wire ${colour}" stroke-width="2.2"${dash === "" ? "" : ` stroke-dasharray="${dash}"`}/>`;
  for (const { size, value } of points) {
    const title = escaped(`${algorithm}, ${formatSize(size)}: ${text(value)}`);
    yield `<circle cx="${at(x(size))}" cy="${at(y(value))}" r="3.6" class="f${colour}"><title>${title}</title></circle>`;
  }
}

/** Yields names at the right ends of lines, moved apart where they would cover each other. */
function* endLabels(
  lines: readonly Line[],
  x: (size: number) => number,
  y: (value: number) => number,
): Generator<string> {
  const ends = lines.map(({ algorithm, points }, index) => {
    const last = points[points.length - 1];
    return { algorithm, index, x: x(last.size), y: y(last.value) };
  });
  ends.sort((a, b) => a.y - b.y || a.index - b.index);
  let free = Number.NEGATIVE_INFINITY;
  for (const end of ends) {
    const top = Math.max(end.y, free);
    free = top + 15;
    const name = escaped(short(end.algorithm, 16));
    yield `<text x="${at(end.x + 10)}" y="${at(top + 4)}" class="fk${end.index % COLOURS}" style="fill:var(--k${end.index % COLOURS})">${name}</text>`;
  }
}
