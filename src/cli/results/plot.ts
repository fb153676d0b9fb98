import { InputError, inWords } from "../../base/errors.ts";
import type { Measured } from "../../export/pictures/svg-axes.ts";
import { barsSvg } from "../../export/pictures/svg-bars.ts";
import { linesSvg } from "../../export/pictures/svg-lines.ts";
import { paretoSvg } from "../../export/pictures/svg-pareto.ts";
import { pivotSvg } from "../../export/pictures/svg-pivot.ts";
import type { Cell, Row } from "../../model/sweep/task.ts";
import { figureText } from "../../report/column-text.ts";
import { placeOf } from "../../request/option-table.ts";
import { lessIsBetter } from "../../sweep/rows/aggregates.ts";
import { amountOf, cellOf, compareCells } from "../../sweep/rows/cells.ts";
import type { Column } from "../../sweep/rows/columns.ts";
import { headingOf, type Pivot } from "../../sweep/rows/query.ts";

/** Plots of rows: what is across, upwards, and told apart. */

/** What a plot is of. */
export interface PlotOf {
  readonly title: string;
  readonly x: Column;
  readonly y: Column;
  readonly colour: Column | null;
}

const measuredOf = (name: string): Measured => ({
  name,
  isSize: /(?:^|_)(?:size|bytes)$/i.test(name),
  text: figureText(name),
});

const numberOf = (cell: Cell): number | null =>
  typeof cell === "number" ? cell : typeof cell === "string" ? amountOf(cell) : null;

/** Returns the heat map of a pivot. Throws InputError where its values are no numbers. */
export function heatPlot(pivot: Pivot, title: string): Generator<string> {
  const { rows, columns, cells, rowNames, columnNames, value } = pivot;
  const column = value.replace(/^(?:min|max|mean|median|sum|best)_/, "");
  const values = cells.map((line) => line.map((cell) => (typeof cell === "number" ? cell : null)));
  if (values.every((line) => line.every((cell) => cell === null)))
    throw new InputError(placeOf("value"), "an aggregate of numbers", value);
  return pivotSvg({
    title,
    rowName: rowNames.join(", "),
    columnName: columnNames.join(", "),
    rows: rows.map(headingOf),
    columns: columns.map(headingOf),
    values,
    measured: { ...measuredOf(column), name: value },
  });
}

/** Values of x and the best y of each, for every value of the colour. */
type Series = Map<string, Map<Cell, number>>;

function seriesOf(rows: Iterable<Row>, { x, y, colour }: PlotOf): Series {
  const least = lessIsBetter(y.name);
  const found: Series = new Map();
  for (const row of rows) {
    const [across, value] = [cellOf(row, x.name), numberOf(cellOf(row, y.name))];
    if (across === null || value === null) continue;
    const name = colour === null ? y.name : `${cellOf(row, colour.name) ?? "-"}`;
    const line = found.get(name) ?? new Map<Cell, number>();
    found.set(name, line);
    const before = line.get(across);
    if (before === undefined || (least ? value < before : value > before)) line.set(across, value);
  }
  if (found.size === 0)
    throw new InputError(placeOf("plot"), "columns of numbers", inWords(`rows without ${x.name} and ${y.name} together`));
  return found;
}

/** Returns the texts of a set in the order of cells. */
const ordered = <T extends Cell>(values: Iterable<T>): T[] => [...new Set(values)].sort(compareCells);

/** Returns lines of y over x, the best where several rows have the same x. */
export function linesPlot(rows: Iterable<Row>, of: PlotOf): Generator<string> {
  const series = seriesOf(rows, of);
  const across = ordered([...series.values()].flatMap((line) => [...line.keys()]));
  const isNumeric = across.every((cell) => numberOf(cell) !== null);
  const lines = ordered(series.keys()).map((name) => ({
    name,
    points: [...(series.get(name) ?? [])].map(([cell, y]) => ({
      x: isNumeric ? (numberOf(cell) as number) : across.indexOf(cell),
      y,
    })),
  }));
  const names = isNumeric ? null : across.map((cell) => `${cell}`);
  return linesSvg({ title: of.title, x: measuredOf(of.x.name), y: measuredOf(of.y.name), names, lines });
}

/** Returns bars of y for each x, side by side for each colour. */
export function barsPlot(rows: Iterable<Row>, of: PlotOf): Generator<string> {
  const found = seriesOf(rows, of);
  const series = ordered(found.keys());
  const groups = ordered([...found.values()].flatMap((line) => [...line.keys()])).map((cell) => ({
    name: `${cell}`,
    values: series.map((name) => found.get(name)?.get(cell) ?? null),
  }));
  return barsSvg({
    title: of.title,
    groupName: of.x.name,
    series: of.colour === null ? [""] : series,
    groups,
    measured: measuredOf(of.y.name),
  });
}

/** What a point is called without --colour. */
const NAMES = ["network", "topology", "algorithm", "made_by", "task"] as const;

/** Returns every row as a point of x and y, with those that no other beats. */
export function paretoPlot(rows: Iterable<Row>, of: PlotOf): Generator<string> {
  const points: { name: string; x: number; y: number }[] = [];
  for (const row of rows) {
    const [x, y] = [numberOf(cellOf(row, of.x.name)), numberOf(cellOf(row, of.y.name))];
    if (x === null || y === null) continue;
    const column = of.colour?.name ?? NAMES.find((name) => cellOf(row, name) !== null);
    points.push({ name: column === undefined ? "" : `${cellOf(row, column) ?? "-"}`, x, y });
  }
  if (points.length === 0)
    throw new InputError(placeOf("plot"), "columns of numbers", inWords(`rows without ${of.x.name} and ${of.y.name} together`));
  const weighed = ({ name }: Column) => ({ ...measuredOf(name), lessIsBetter: lessIsBetter(name) });
  return paretoSvg({ title: of.title, x: weighed(of.x), y: weighed(of.y), points });
}
