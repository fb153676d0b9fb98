import { colourOf, marker } from "./markers.ts";
import { dashesOf, type Place, sidewaysOf, stretches, wayOf } from "./shared-lines.ts";
import { at, escaped, label, short } from "./svg.ts";

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
      yield marker(i, place.x + ((sideways[i] as number[])[j] as number), place.y, escaped(title));
  }
}

/** Returns heights at least a line of text apart, in the order of those wanted (ascending), moved down, or up from `low`. */
function apart(wanted: readonly number[], low: number): number[] {
  let free = Number.NEGATIVE_INFINITY;
  const heights = wanted.map((y) => {
    const height = Math.max(y, free);
    free = height + LINE_OF_TEXT;
    return height;
  });
  let lowest = Math.max(low, LINE_OF_TEXT * (heights.length - 1));
  for (let i = heights.length - 1; i >= 0; i--) {
    heights[i] = Math.min(heights[i] as number, lowest);
    lowest = (heights[i] as number) - LINE_OF_TEXT;
  }
  return heights;
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
  const heights = apart(
    ends.map(({ place }) => place.y),
    side.low,
  );
  const right = Math.max(...ends.map(({ place }) => place.x));
  const x = side.x + GAP;
  for (const [i, { line, place }] of ends.entries()) {
    const y = heights[i] as number;
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
