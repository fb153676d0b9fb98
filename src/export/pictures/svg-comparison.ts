import { InputError } from "../../base/errors.ts";
import { formatShare, formatSize, formatTime, PS_PER_US } from "../../model/numbers/units.ts";
import { type ComparedLine, drawnLines, namesOf } from "./compared-lines.ts";
import { type Place, wayOf } from "./shared-lines.ts";
import { at, framed, label, type Picture, type PictureOptions } from "./svg.ts";

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
  /** What no algorithm can pass; `algorithm` names it. With it there is a second panel: shares of the limit. */
  readonly limits?: readonly ComparedRow[];
  /** Models of others, drawn in dashes and never the best. */
  readonly references?: readonly ComparedRow[];
}

const WIDTH = 720;
const LEFT = 72;
/** Inside the panels, so that points at their sides have room. */
const INSET = 24;
const HEIGHT = 420;
/** Above a panel, for its heading. */
const HEAD = 12;
/** Of two panels, and between them. */
const FIRST_HEIGHT = 280;
const SECOND_HEIGHT = 240;
const BETWEEN = 34;

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

/** A part of the plot: what it measures, upwards, and where its values lie. */
interface Panel {
  readonly heading: string;
  readonly top: number;
  readonly height: number;
  readonly measure: (row: ComparedRow) => number;
  /** Whether less is better. */
  readonly least: boolean;
  readonly ticks: readonly number[];
  /** 0 at the bottom, 1 at the top. */
  readonly place: (value: number) => number;
  readonly text: (value: number) => string;
}

/**
 * Yields the parts of an SVG of time or bus bandwidth over size, a line for each algorithm, both axes logarithmic; where limits are
 * given, below it the shares of the limit; a band for the best of each size, models of others in dashes. Lines that run over each
 * other take turns in dashes, their points stand side by side, and names are in the order of the values at the greatest size.
 * Values of 0 have no place there and are left out, which the picture says. Throws InputError where nothing is left to draw.
 */
export const comparisonSvg = (
  rows: readonly ComparedRow[],
  options: ComparisonOptions & PictureOptions,
): Generator<string> => framed(comparisonPicture(rows, options), options);

/** Returns that picture without its frame. */
export function comparisonPicture(
  rows: readonly ComparedRow[],
  { title, show = "time", limits = [], references = [] }: ComparisonOptions,
): Picture {
  const measure = ({ us, busbwGBps }: ComparedRow): number => (show === "time" ? us : (busbwGBps ?? 0));
  const canBeDrawn = (row: ComparedRow): boolean => measure(row) > 0 && row.sizeBytes > 0;
  const own = rows.filter(canBeDrawn);
  if (own.length === 0)
    throw new InputError("the rows of a plot", `at least one with a ${show === "time" ? "time" : "bandwidth"} above 0`);
  const [bounds, others] = [limits.filter(canBeDrawn), references.filter(canBeDrawn)];
  const all = [...own, ...bounds, ...others];
  const sizes = logAxis(
    all.map(({ sizeBytes }) => sizeBytes),
    2,
  );
  const x = (size: number): number => LEFT + INSET + (WIDTH - 2 * INSET) * sizes.place(size);
  const panels = [measuredPanel(all.map(measure), show, measure, bounds.length > 0 ? FIRST_HEIGHT : HEIGHT)];
  if (bounds.length > 0) panels.push(sharePanel(bounds, [...own, ...others]));
  const [first, last] = [panels[0] as Panel, panels[panels.length - 1] as Panel];
  const bottom = last.top + last.height;
  function* parts(): Generator<string> {
    for (const panel of panels) {
      const ends = panel === last ? sizes.ticks : [];
      yield* framework(panel, sizes.ticks, ends, x);
      const placeOf = ({ size, value }: { size: number; value: number }): Place => ({
        x: x(size),
        y: panel.top + panel.height * (1 - panel.place(value)),
      });
      const best = wayOf(bestPoints(own, panel).map(placeOf));
      yield `<path d="${best}" fill="none" stroke-width="13" stroke-linejoin="round" style="stroke:var(--rule);stroke-linecap:round"/>`;
      const lines = [
        ...linesOf(own, "algorithm", panel, placeOf),
        ...linesOf(bounds, "limit", panel, placeOf),
        ...linesOf(others, "reference", panel, placeOf),
      ];
      yield* drawnLines(lines, WIDTH);
      if (panel !== last) continue;
      const values = new Map(linesOf([...own, ...bounds, ...others], "algorithm", first, placeOf).map(lastText));
      yield* namesOf(lines, values, { x: LEFT + WIDTH, low: bottom });
    }
  }
  const missing = rows.length - own.length;
  const left = missing === 0 ? "" : ` ${missing} ${missing === 1 ? "value" : "values"} of 0 left out.`;
  const below = panels.length > 1 ? "; below, shares of the limit" : "";
  const sentence = `${first.heading} over size, both on logarithmic axes${below}; the band is the best of each size.${left}`;
  return { title, sentence, width: LEFT + WIDTH + 234, height: bottom + 26, parts: parts() };
}

const lastText = ({ name, points }: ComparedLine): [string, string] => [name, points[points.length - 1]?.text ?? ""];

function measuredPanel(
  values: readonly number[],
  show: "time" | "busbw",
  measure: Panel["measure"],
  height: number,
): Panel {
  const isTime = show === "time";
  return {
    heading: isTime ? "Time" : "Bus bandwidth",
    top: HEAD,
    height,
    measure,
    least: isTime,
    ...logAxis(values, 10),
    text: (value) => (isTime ? formatTime(value * PS_PER_US) : `${Number(value.toPrecision(4))} GB/s`),
  };
}

/** Shares of the limit, from 0 to the greatest: models of others may promise more than there is. */
function sharePanel(limits: readonly ComparedRow[], rows: readonly ComparedRow[]): Panel {
  const limitOf = new Map(limits.map(({ sizeBytes, us }) => [sizeBytes, us]));
  const measure = ({ us, sizeBytes }: ComparedRow): number => (us > 0 ? (limitOf.get(sizeBytes) ?? 0) / us : 0);
  const most = rows.reduce((a, row) => Math.max(a, measure(row)), 1);
  const step = most > 2 ? Math.ceil(most / 5) : 0.2;
  const ticks = Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => i * step);
  return {
    heading: "Share of the limit",
    top: HEAD + FIRST_HEIGHT + BETWEEN,
    height: SECOND_HEIGHT,
    measure,
    least: false,
    ticks,
    place: (value) => value / most,
    text: formatShare,
  };
}

/** Yields the axes of a panel; sizes are written below the lowest. */
function* framework(
  { heading, top, height, ticks, place, text }: Panel,
  sizes: readonly number[],
  written: readonly number[],
  x: (size: number) => number,
): Generator<string> {
  for (const size of sizes) yield `<path d="M${at(x(size))} ${at(top)}v${at(height)}" class="axis"/>`;
  for (const size of written) yield label(x(size), top + height + 18, formatSize(size), "small");
  for (const value of ticks) {
    const y = top + height * (1 - place(value));
    yield `<path d="M${LEFT} ${at(y)}h${WIDTH}" class="axis"/>${label(LEFT - 8, y + 4, text(value), "small", "end")}`;
  }
  yield label(LEFT, top - 8, heading, "small soft", "start");
}

function linesOf(
  rows: readonly ComparedRow[],
  kind: ComparedLine["kind"],
  { measure, text }: Panel,
  placeOf: (point: { size: number; value: number }) => Place,
): ComparedLine[] {
  const lines = new Map<string, ComparedRow[]>();
  for (const row of rows) lines.set(row.algorithm, [...(lines.get(row.algorithm) ?? []), row]);
  return [...lines].map(([name, ofName]) => ({
    name,
    kind,
    points: ofName
      .sort((a, b) => a.sizeBytes - b.sizeBytes)
      .map((row) => ({
        place: placeOf({ size: row.sizeBytes, value: measure(row) }),
        title: `${name}, ${formatSize(row.sizeBytes)}: ${text(measure(row))}`,
        text: text(measure(row)),
      })),
  }));
}

/** Returns the best value of each size, ascending. */
function bestPoints(rows: readonly ComparedRow[], { measure, least }: Panel): { size: number; value: number }[] {
  const best = new Map<number, number>();
  for (const row of rows) {
    const [value, before] = [measure(row), best.get(row.sizeBytes)];
    if (before === undefined || (least ? value < before : value > before)) best.set(row.sizeBytes, value);
  }
  return [...best].map(([size, value]) => ({ size, value })).sort((a, b) => a.size - b.size);
}
