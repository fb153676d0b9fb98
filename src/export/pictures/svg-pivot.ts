import { InputError } from "../../base/errors.ts";
import { roundTicks, shareColour, ticksOf, valueAt } from "../../picture/scales.ts";
import { at, escaped, framed, label, type Picture, type PictureOptions, short } from "./svg.ts";
import { isWide, type Measured, rangeOf } from "./svg-axes.ts";

/** An aggregate crosswise, as it is drawn. */
export interface PivotMap {
  readonly title: string;
  readonly rowName: string;
  readonly columnName: string;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  /** [row][column]; null: there is nothing. */
  readonly values: readonly (readonly (number | null)[])[];
  readonly measured: Measured;
}

const MOST = 400;
const CELL_HEIGHT = 24;
const LONGEST = 30;
/** Cells below this width have no figures in them. */
const LEAST_FIGURE = 26;
const WIDEST = 1000;
const TALLEST = 1600;
const LEGEND = 110;

/** Returns whether a colour is so bright that dark letters stand out on it. */
function isBright(colour: string): boolean {
  const [r, g, b] = [1, 3, 5].map((i) => (Number.parseInt(colour.slice(i, i + 2), 16) / 255) ** 2.2) as [
    number,
    number,
    number,
  ];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18;
}

/**
 * Yields the parts of an SVG of a pivot: a cell for each row and column, coloured by its value (dark is less), which stands in it where
 * there is room, with the scale of colours beside it: of logarithms where values differ by more than 20 times. Throws InputError for none, and for
 * more than 400 rows or columns.
 */
export const pivotSvg = (map: PivotMap, options: PictureOptions = {}): Generator<string> =>
  framed(pivotPicture(map), options);

function pivotPicture({ title, rowName, columnName, rows, columns, values, measured }: PivotMap): Picture {
  if (rows.length === 0 || columns.length === 0) throw new InputError("the cells of a plot", "at least one");
  if (rows.length > MOST || columns.length > MOST)
    throw new InputError(
      "the cells of a plot",
      `at most ${MOST} rows and columns`,
      `${rows.length} x ${columns.length}`,
    );
  const known = values.flat().filter((value) => value !== null);
  const [low, high] = rangeOf(known);
  const isLog = isWide(known);
  const place = (value: number): number =>
    isLog ? Math.log(value / low) / Math.log(high / low) : high === low ? 0.5 : (value - low) / (high - low);
  const names = {
    rows: rows.map((name) => short(name, LONGEST)),
    columns: columns.map((name) => short(name, LONGEST)),
  };
  const longest = (texts: readonly string[], least = 1): number =>
    texts.reduce((most, text) => Math.max(most, text.length), least);
  const figures = values.map((line) => line.map((value) => (value === null ? "" : measured.text(value))));
  const figureWidth = 6.4 * longest(figures.flat()) + 12;
  const size = Math.max(figureWidth, Math.min(60, 360 / columns.length));
  const width = size * columns.length <= WIDEST ? size : Math.max(2, Math.min(14, WIDEST / columns.length));
  const height = rows.length * CELL_HEIGHT <= TALLEST ? CELL_HEIGHT : Math.max(2, Math.min(14, TALLEST / rows.length));
  const hasFigures = width >= Math.max(LEAST_FIGURE, figureWidth) && height >= 14;
  const isUpright = longest(names.columns) * 6.8 > width - 6;
  const left = 14 + 6.6 * longest(names.rows, 4) + 18;
  const top = (isUpright ? 12 + 6.4 * longest(names.columns) : 20) + 20;
  const [wide, tall] = [width * columns.length, height * rows.length];
  const everyRow = Math.max(1, Math.ceil(13 / height));
  const everyColumn = Math.max(1, Math.ceil(13 / width));
  const gap = Math.min(width, height) > 8 ? 1 : 0;
  function* parts(): Generator<string> {
    yield label(left + wide / 2, 8, columnName, "small soft");
    yield `<text class="small soft" text-anchor="middle" transform="translate(6 ${at(top + tall / 2)}) rotate(-90)">${escaped(rowName)}</text>`;
    for (let i = 0; i < columns.length; i += isUpright ? everyColumn : 1) {
      const middle = left + (i + 0.5) * width;
      yield isUpright
        ? `<text class="small" transform="translate(${at(middle + 4)} ${at(top - 6)}) rotate(-90)">${escaped(names.columns[i] as string)}</text>`
        : label(middle, top - 8, names.columns[i] as string, "small");
    }
    for (let i = 0; i < rows.length; i += everyRow)
      yield label(left - 6, top + (i + 0.5) * height + 4, names.rows[i] as string, "small", "end");
    for (const [i, line] of values.entries()) {
      for (const [j, value] of line.entries()) {
        const [x, y] = [left + j * width, top + i * height];
        const said = escaped(
          `${rows[i]}, ${columns[j]}: ${value === null ? "nothing" : `${measured.name} ${figures[i]?.[j]}`}`,
        );
        const box = `x="${at(x)}" y="${at(y)}" width="${at(width - gap)}" height="${at(height - gap)}"`;
        if (value === null) {
          yield `<rect ${box} class="panel"><title>${said}</title></rect>`;
          continue;
        }
        const colour = shareColour(place(value));
        yield `<rect ${box} fill="${colour}"><title>${said}</title></rect>`;
        if (hasFigures)
          yield `<text x="${at(x + (width - gap) / 2)}" y="${at(y + height / 2 + 4)}" text-anchor="middle" style="fill:${isBright(colour) ? "#10141a" : "#ffffff"};font-size:11px;pointer-events:none">${escaped(figures[i]?.[j] ?? "")}</text>`;
      }
    }
    if (known.length > 0) yield* legend(left + wide + 24, top);
  }
  function* legend(x: number, y: number): Generator<string> {
    const length = Math.max(90, Math.min(tall, 220));
    const steps = 40;
    yield label(x, y - 8, measured.name, "small soft", "start");
    for (let i = 0; i < steps; i++)
      yield `<rect x="${at(x)}" y="${at(y + (length * (steps - 1 - i)) / steps)}" width="14" height="${at(length / steps + 0.5)}" fill="${shareColour(i / (steps - 1))}"/>`;
    const ticks =
      high === low
        ? [low]
        : isLog
          ? ticksOf("log10", Math.log10(low), Math.log10(high), 5).map((one) => valueAt("log10", one))
          : roundTicks(low, high, 5);
    for (const tick of ticks)
      yield label(x + 20, y + length * (1 - place(tick)) + 4, measured.text(tick), "small", "start");
  }
  const none = rows.length * columns.length - known.length;
  const sentence = `${measured.name}, ${rows.length} x ${columns.length} cells; dark is less${isLog ? ", by logarithms" : ""}.${none === 0 ? "" : ` Pale: nothing, ${none} cells.`}`;
  return { title, sentence, width: left + wide + LEGEND, height: top + Math.max(tall, 90), parts: parts() };
}
