import { InputError } from "../../base/errors.ts";
import { formatShare, formatSize, formatTime, PS_PER_US } from "../../model/numbers/units.ts";
import { placeOn, valueAt } from "../../picture/scales.ts";
import { apartBy, FILE_MARKERS, lookOf, markerOutline } from "../../picture/shapes.ts";
import { at, escaped, framed, label, type Picture, type PictureOptions, short } from "./svg.ts";

/** A measurement of the plot; the rows of a comparison have these fields. */
export interface ComparedRow {
  readonly sizeBytes: number;
  readonly algorithm: string;
  readonly us: number;
  readonly busbwGBps: number | null;
}

interface ComparisonOptions {
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

/** The ticks of an axis, and where a value lies between its ends. */
interface Axis {
  readonly ticks: readonly number[];
  /** 0 at its beginning (the left, the bottom), 1 at its end. */
  readonly place: (value: number) => number;
}

/** Returns an axis from power to power. */
function logAxis(values: readonly number[], scale: "log2" | "log10"): Axis {
  const places = values.map((value) => placeOn(scale, value));
  const low = Math.floor(places.reduce((a, b) => Math.min(a, b)) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(places.reduce((a, b) => Math.max(a, b)) - 1e-9));
  const step = Math.max(1, Math.ceil((high - low) / 10));
  const ticks: number[] = [];
  for (let power = low; power <= high; power += step) ticks.push(valueAt(scale, power));
  return { ticks, place: (value) => (placeOn(scale, value) - low) / (high - low) };
}

/** A part of the plot: what it measures, upwards, and where its values lie. */
interface Panel extends Axis {
  readonly heading: string;
  readonly top: number;
  readonly height: number;
  readonly measure: (row: ComparedRow) => number;
  /** Whether less is better. */
  readonly least: boolean;
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
    "log2",
  );
  const x = (size: number): number => LEFT + INSET + (WIDTH - 2 * INSET) * sizes.place(size);
  const panels = [measuredPanel(all.map(measure), show, measure, bounds.length > 0 ? FIRST_HEIGHT : HEIGHT)];
  if (bounds.length > 0) panels.push(sharePanel(bounds));
  const [first, last] = [panels[0], panels[panels.length - 1]];
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
      // a model of others knows another network: it has no share of this one's limit, only its name below
      yield* drawnLines(panel === first ? lines : lines.filter(({ kind }) => kind !== "reference"), WIDTH);
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
    ...logAxis(values, "log10"),
    text: (value) => (isTime ? formatTime(value * PS_PER_US) : `${Number(value.toPrecision(4))} GB/s`),
  };
}

/** Shares of the limit, from 0 to 100 %. */
function sharePanel(limits: readonly ComparedRow[]): Panel {
  const limitOf = new Map(limits.map(({ sizeBytes, us }) => [sizeBytes, us]));
  const measure = ({ us, sizeBytes }: ComparedRow): number => (us > 0 ? (limitOf.get(sizeBytes) ?? 0) / us : 0);
  return {
    heading: "Share of the limit",
    top: HEAD + FIRST_HEIGHT + BETWEEN,
    height: SECOND_HEIGHT,
    measure,
    least: false,
    ticks: [0, 0.2, 0.4, 0.6, 0.8, 1],
    place: (value) => Math.min(1, value),
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

/** A line of a plot that compares algorithms, with its points from left to right. */
export interface ComparedLine {
  readonly name: string;
  readonly kind: "algorithm" | "limit" | "reference";
  readonly points: readonly { readonly place: Place; readonly title: string; readonly text: string }[];
}

/** Points nearer than this stand side by side, so far apart. */
const NEAR = 5;
const APART = 8;
/** Between the plot and the names right of it, what the names take, and the distance of two. */
const GAP = 44;
const NAMES = 190;
const LINE_OF_TEXT = 16;

/** What sets the lines apart that are no algorithm's. */
const STROKES: Readonly<Record<Exclude<ComparedLine["kind"], "algorithm">, string>> = {
  limit: 'stroke-width="1.6" stroke-dasharray="2 4" style="stroke:var(--ink)"',
  reference: 'stroke-width="1.8" stroke-dasharray="9 4" style="stroke:var(--soft)"',
};

const algorithmsOf = (lines: readonly ComparedLine[]): ComparedLine[] =>
  lines.filter(({ kind }) => kind === "algorithm");
const placesOf = ({ points }: ComparedLine): Place[] => points.map(({ place }) => place);

/** Yields the lines and their points, in a plot of that width. */
export function* drawnLines(lines: readonly ComparedLine[], width: number): Generator<string> {
  for (const line of lines) {
    if (line.kind !== "algorithm") yield `<path d="${wayOf(placesOf(line))}" fill="none" ${STROKES[line.kind]}/>`;
  }
  const own = algorithmsOf(lines);
  const places = own.map(placesOf);
  for (const [i, ofLine] of stretches(places).entries()) {
    for (const stretch of ofLine) {
      yield `<path d="${wayOf(stretch.corners)}" class="wire k${colourOf(i)}" stroke-width="2"${dashesOf(stretch)}/>`;
    }
  }
  const columns = new Set(places.flat().map(({ x }) => x)).size;
  const sideways = sidewaysOf(places, { near: NEAR, apart: APART, room: (0.8 * width) / Math.max(6, columns) });
  for (const [i, { points }] of own.entries()) {
    for (const [j, { place, title }] of points.entries())
      yield marker(i, place.x + sideways[i][j], place.y, escaped(title));
  }
}

/** Yields names right of the plot in the order of the last points, each joined to the end of its line, with a value beside it. */
export function* namesOf(
  lines: readonly ComparedLine[],
  values: ReadonlyMap<string, string>,
  side: { readonly x: number; readonly low: number },
): Generator<string> {
  const own = algorithmsOf(lines);
  const ends = lines.flatMap((line) => {
    const last = line.points[line.points.length - 1];
    return last === undefined ? [] : [{ line, place: last.place }];
  });
  ends.sort((a, b) => a.place.y - b.place.y || lines.indexOf(a.line) - lines.indexOf(b.line));
  const wanted = ends.map(({ place }) => place.y);
  // the title above gives way where there are too many
  const low = Math.max(side.low, LINE_OF_TEXT * (wanted.length - 1));
  const heights = apartBy(wanted, LINE_OF_TEXT, Number.NEGATIVE_INFINITY, low);
  const right = Math.max(...ends.map(({ place }) => place.x));
  const x = side.x + GAP;
  for (const [i, { line, place }] of ends.entries()) {
    const y = heights[i];
    const index = own.indexOf(line);
    if (place.x === right)
      yield `<path d="M${at(side.x + 2)} ${at(place.y)}L${at(x - 24)} ${at(y)}" fill="none" style="stroke:var(--rule)"/>`;
    yield line.kind === "algorithm"
      ? `<path d="M${at(x - 22)} ${at(y)}h22" fill="none" class="k${colourOf(index)}" stroke-width="2"/>${marker(index, x - 11, y)}`
      : `<path d="M${at(x - 22)} ${at(y)}h22" fill="none" ${STROKES[line.kind]}/>`;
    const style =
      line.kind === "algorithm"
        ? `class="fk${colourOf(index)}" style="fill:var(--k${colourOf(index)})"`
        : 'class="soft"';
    yield `<text x="${at(x + 6)}" y="${at(y + 4)}" ${style}>${escaped(short(line.name, 16))}</text>`;
    yield label(x + NAMES - 10, y + 4, values.get(line.name) ?? "", "small soft", "end");
  }
}

const RADIUS = 4;

const colourOf = (index: number): number => lookOf(index).colour;

/** Returns the point of the index-th series, with what it says where the reader asks; `title` is escaped already. */
export function marker(index: number, x: number, y: number, title = ""): string {
  const shape = FILE_MARKERS[lookOf(index).marker];
  const inside = title === "" ? "" : `<title>${title}</title>`;
  const colour = `class="fk${colourOf(index)}"`;
  return shape.length === 0
    ? `<circle cx="${at(x)}" cy="${at(y)}" r="${RADIUS - 0.2}" ${colour}>${inside}</circle>`
    : `<path d="${markerOutline(shape, x, y, RADIUS, at)}" ${colour}>${inside}</path>`;
}

/** A point of a plot. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

/** Lines that run over each other are drawn so that every one is seen, in dashes that take turns. A stretch of one: its corners, and its turn among those that run there. */
interface Stretch {
  readonly corners: readonly Place[];
  readonly turn: number;
  readonly turns: number;
}

/** Lines nearer than this cannot be distinguished, pixels. */
const SAME = 2;
const DASH = 9;

interface Segment {
  readonly line: number;
  readonly from: Place;
  readonly to: Place;
}

/** Returns each segment's turn and how many take turns: those between the same two abscissas, near each other at both. */
function turnsOf(segments: readonly Segment[]): Map<Segment, { turn: number; turns: number }> {
  const between = new Map<string, Segment[]>();
  for (const segment of segments) {
    const key = `${segment.from.x} ${segment.to.x}`;
    between.set(key, [...(between.get(key) ?? []), segment]);
  }
  const found = new Map<Segment, { turn: number; turns: number }>();
  for (const all of between.values()) {
    let left = [...all].sort((a, b) => a.from.y - b.from.y || a.line - b.line);
    while (left.length > 0) {
      const [first] = left as [Segment];
      const isNear = ({ from, to }: Segment): boolean =>
        Math.abs(from.y - first.from.y) < SAME && Math.abs(to.y - first.to.y) < SAME;
      const near = left.filter(isNear).sort((a, b) => a.line - b.line);
      left = left.filter((segment) => !isNear(segment));
      for (const [turn, segment] of near.entries()) found.set(segment, { turn, turns: near.length });
    }
  }
  return found;
}

/** Returns the stretches of each line, given by its points from left to right. O(L^2 P) for L lines of P points. */
export function stretches(lines: readonly (readonly Place[])[]): Stretch[][] {
  const segments = lines.map((points, line) =>
    points.slice(1).map((to, i) => ({ line, from: points[i] as Place, to })),
  );
  const turns = turnsOf(segments.flat());
  return segments.map((ofLine) => {
    const found: { corners: Place[]; turn: number; turns: number }[] = [];
    for (const segment of ofLine) {
      const own = turns.get(segment) as { turn: number; turns: number };
      const last = found[found.length - 1];
      if (last !== undefined && last.turn === own.turn && last.turns === own.turns) last.corners.push(segment.to);
      else found.push({ ...own, corners: [segment.from, segment.to] });
    }
    return found;
  });
}

/** Returns the way along corners. */
const wayOf = (corners: readonly Place[]): string =>
  corners.map(({ x, y }, i) => `${i === 0 ? "M" : "L"}${at(x)} ${at(y)}`).join("");

/** Returns the attributes that leave the other lines their turns; none for a line by itself. */
export const dashesOf = ({ corners, turn, turns }: Stretch): string =>
  turns === 1
    ? ""
    : ` style="stroke-linecap:butt" stroke-dasharray="${DASH} ${DASH * (turns - 1)}" stroke-dashoffset="${at((corners[0]?.x ?? 0) - DASH * turn)}"`;

/** Returns how far each point moves sideways, so that points of one abscissa that are near stand side by side within `room`. */
export function sidewaysOf(
  lines: readonly (readonly Place[])[],
  { near, apart, room }: { readonly near: number; readonly apart: number; readonly room: number },
): number[][] {
  const all = lines.flatMap((points, line) => points.map((place, i) => ({ place, line, i })));
  all.sort((a, b) => a.place.x - b.place.x || a.place.y - b.place.y || a.line - b.line);
  const moved = lines.map((points) => points.map(() => 0));
  for (let from = 0; from < all.length; ) {
    const first = (all[from] as (typeof all)[number]).place;
    let to = from + 1;
    while (to < all.length) {
      const { x, y } = (all[to] as (typeof all)[number]).place;
      if (x !== first.x || y - first.y >= near) break;
      to++;
    }
    const group = all.slice(from, to).sort((a, b) => a.line - b.line);
    const step = Math.min(apart, room / group.length);
    for (const [k, { line, i }] of group.entries()) moved[line][i] = step * (k - (group.length - 1) / 2);
    from = to;
  }
  return moved;
}
