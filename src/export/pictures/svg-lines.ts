import { InputError } from "../../base/errors.ts";
import { framed, label, type Picture, type PictureOptions, short } from "./svg.ts";
import { axisOf, gridOf, type Measured } from "./svg-axes.ts";
import { type ComparedLine, drawnLines, namesOf } from "./svg-comparison.ts";

/** Lines of a plot of two columns, one for each value of a third. */
export interface LinePlot {
  readonly title: string;
  readonly x: Measured;
  readonly y: Measured;
  /** Where the values across are no numbers: their names in order, and x is the place among them. */
  readonly names: readonly string[] | null;
  readonly lines: readonly {
    readonly name: string;
    readonly points: readonly { readonly x: number; readonly y: number }[];
  }[];
}

const PLANE = { left: 78, top: 16, width: 720, height: 400 };
const INSET = 24;
const MOST_LINES = 36;
const MOST_NAMES = 24;

/**
 * Yields the parts of an SVG of lines; axes are logarithmic where values differ by more than 20 times, and powers of two for sizes. What
 * has no place on a logarithmic axis is left out. Throws InputError where there is nothing to draw, and for more than 36 lines.
 */
export const linesSvg = (plot: LinePlot, options: PictureOptions = {}): Generator<string> =>
  framed(linesPicture(plot), options);

function linesPicture({ title, x, y, names, lines }: LinePlot): Picture {
  const all = lines.flatMap(({ points }) => points);
  if (all.length === 0) throw new InputError("the points of a plot", "at least one");
  if (lines.length > MOST_LINES)
    throw new InputError("the lines of a plot", `at most ${MOST_LINES} lines`, lines.length);
  const across = axisOf(
    all.map((point) => point.x),
    x,
    { about: 12 },
  );
  const upward = axisOf(
    all.map((point) => point.y),
    y,
    { about: 8 },
  );
  const { left, top, width, height } = PLANE;
  const placeX = (value: number): number =>
    names === null
      ? left + width * across.place(value)
      : left + INSET + ((width - 2 * INSET) * (value + 0.5)) / names.length;
  const drawn: ComparedLine[] = lines.map(({ name, points }) => ({
    name,
    kind: "algorithm",
    points: [...points]
      .sort((a, b) => a.x - b.x)
      .map((point) => ({
        place: { x: placeX(point.x), y: top + height * (1 - upward.place(point.y)) },
        title: `${name}, ${names === null ? x.text(point.x) : names[point.x]}: ${y.text(point.y)}`,
        text: y.text(point.y),
      })),
  }));
  const isUpright = names?.some((name) => name.length * 6.2 > width / names.length) === true;
  const longest = names?.reduce((most, name) => Math.max(most, short(name, MOST_NAMES).length), 0) ?? 0;
  const below = names === null ? 46 : isUpright ? 34 + 5.8 * longest : 46;
  function* parts(): Generator<string> {
    yield* gridOf(PLANE, names === null ? across : null, upward);
    if (names !== null) yield* namesBelow(names, isUpright, placeX, x.name, below);
    yield* drawnLines(drawn, width);
    const ends = new Map(drawn.map(({ name, points }) => [name, points.at(-1)?.text ?? ""]));
    yield* namesOf(drawn, ends, { x: left + width, low: top + height });
  }
  const scales = [across, upward].filter(({ scale }) => scale !== "linear").map(({ name }) => name);
  const logs = names === null ? scales : scales.filter((name) => name !== x.name);
  const sentence = `${y.name} over ${x.name}${logs.length === 0 ? "" : `; logarithmic: ${logs.join(", ")}`}. Figures at the right are those of the last points.`;
  return {
    title,
    sentence,
    width: left + width + 240,
    height: Math.max(top + height + below, lines.length * 16),
    parts: parts(),
  };
}

function* namesBelow(
  names: readonly string[],
  isUpright: boolean,
  placeX: (value: number) => number,
  name: string,
  below: number,
): Generator<string> {
  const { left, top, width, height } = PLANE;
  const every = Math.max(1, Math.ceil((names.length * 13) / width));
  for (let i = 0; i < names.length; i += every) {
    const text = short(names[i] as string, MOST_NAMES);
    yield isUpright
      ? `${label(0, 0, text, "small", "end").replace("<text ", `<text transform="translate(${Math.round(placeX(i) + 4)} ${top + height + 8}) rotate(-90)" `)}`
      : label(placeX(i), top + height + 18, text, "small");
  }
  yield label(left + width / 2, top + height + below - 8, name, "small soft");
}
