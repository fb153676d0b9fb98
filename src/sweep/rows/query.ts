import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { Cell, Row } from "../../model/sweep/task.ts";
import { type Tally, tallyOf, type Valued } from "./aggregates.ts";
import { cellOf, compareCells } from "./cells.ts";
import type { Column } from "./columns.ts";
import { type Condition, unknownColumn } from "./expression.ts";

/** What is asked of rows: those that fulfil a condition, in an order, in groups, or crosswise. */

/** One key of an order. */
export interface SortKey {
  readonly column: string;
  readonly descending: boolean;
}

/** Returns the keys of "-us,size". Throws InputError. */
export function readSort(text: string, names: readonly string[], option: string): SortKey[] {
  return text.split(",").map((part) => {
    const key = part.trim();
    const descending = key.startsWith("-") && !names.includes(key);
    const column = descending ? key.slice(1) : key;
    if (!names.includes(column)) throw unknownColumn(optionName(option), column, names);
    return { column, descending };
  });
}

/** Returns the columns that a list names. Throws InputError. */
export function readColumns(text: string, columns: readonly Column[], option: string): Column[] {
  return text.split(",").map((part) => {
    const name = part.trim();
    const column = columns.find((one) => one.name === name);
    if (column === undefined)
      throw unknownColumn(
        optionName(option),
        name,
        columns.map((one) => one.name),
      );
    return column;
  });
}

/** Yields the rows that fulfil a condition; all without one. */
export function* filtered(rows: Iterable<Row>, condition: Condition | null): Generator<Row> {
  for (const row of rows) if (condition === null || condition(row) === true) yield row;
}

/** Returns which of two rows comes first; nothing comes last either way. */
const comparing =
  (keys: readonly SortKey[]) =>
  (a: Row, b: Row): number => {
    for (const { column, descending } of keys) {
      const [x, y] = [cellOf(a, column), cellOf(b, column)];
      const order = compareCells(x, y);
      if (order !== 0) return descending && x !== null && y !== null ? -order : order;
    }
    return 0;
  };

/** The first rows, and how many there are in all. */
export interface First {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** Returns the first `limit` rows of an order, those that are equal in it as they came; of no more than twice as many is kept a trace. */
export function firstOf(rows: Iterable<Row>, keys: readonly SortKey[], limit: number): First {
  let total = 0;
  const kept: { readonly row: Row; readonly at: number }[] = [];
  const order = comparing(keys);
  const compare = (a: { row: Row; at: number }, b: { row: Row; at: number }): number =>
    order(a.row, b.row) || a.at - b.at;
  for (const row of rows) {
    const at = total++;
    if (keys.length === 0) {
      if (kept.length < limit) kept.push({ row, at });
      continue;
    }
    kept.push({ row, at });
    if (kept.length >= 2 * limit + 1024) {
      kept.sort(compare);
      kept.length = limit;
    }
  }
  if (keys.length > 0) kept.sort(compare);
  return { rows: kept.slice(0, limit).map(({ row }) => row), total };
}

/** Returns a text that is the same for the same cells only. */
const keyOf = (cells: readonly Cell[]): string => JSON.stringify(cells);

/** More groups than this are no summary. */
const MOST_GROUPS = 1_000_000;

function groupOf<T>(groups: Map<string, T>, key: string, option: string, made: () => T): T {
  const known = groups.get(key);
  if (known !== undefined) return known;
  if (groups.size >= MOST_GROUPS)
    throw new InputError(
      optionName(option),
      `columns with at most ${MOST_GROUPS} combinations`,
      inWords("more of them"),
    );
  const group = made();
  groups.set(key, group);
  return group;
}

/** What the row of a best value says beside it. */
const BESIDE = ["network", "algorithm", "made_by", "task"] as const;

/** Returns the cells of an aggregate: itself and, of a best one, the row that has it. */
function resultCells({ name, aggregate }: Valued, tally: Tally, beside: readonly string[]): Record<string, Cell> {
  const cells: Record<string, Cell> = { [name]: tally.value() };
  if (aggregate !== "best") return cells;
  const row = tally.row();
  for (const column of beside)
    cells[column === "task" ? "best_task" : `best_${column}`] = row === null ? null : cellOf(row, column);
  return cells;
}

/** Returns a row for each combination of the columns, with aggregates of its rows, in the order of the columns. O(rows + groups log groups). */
export function grouped(
  rows: Iterable<Row>,
  by: readonly Column[],
  values: readonly Valued[],
  all: readonly Column[],
): Row[] {
  const groups = new Map<string, { readonly cells: readonly Cell[]; readonly tallies: readonly Tally[] }>();
  const names = by.map(({ name }) => name);
  for (const row of rows) {
    const cells = names.map((name) => cellOf(row, name));
    const group = groupOf(groups, keyOf(cells), "group", () => ({ cells, tallies: values.map(tallyOf) }));
    for (const tally of group.tallies) tally.add(row);
  }
  const sorted = [...groups.values()].sort((a, b) => compareLists(a.cells, b.cells));
  const has = (one: string): boolean => all.some(({ name }) => name === one) && !names.includes(one);
  const beside = BESIDE.filter(
    (one) => has(one) && !(one === "made_by" && all.some(({ name }) => name === "algorithm")),
  );
  return sorted.map(({ cells, tallies }) => ({
    ...Object.fromEntries(names.map((name, i) => [name, cells[i] as Cell])),
    ...Object.assign({}, ...values.map((value, i) => resultCells(value, tallies[i] as Tally, beside))),
  }));
}

function compareLists(a: readonly Cell[], b: readonly Cell[]): number {
  for (let i = 0; i < a.length; i++) {
    const order = compareCells(a[i] as Cell, b[i] as Cell);
    if (order !== 0) return order;
  }
  return 0;
}

/** An aggregate crosswise: rows and columns of cells, and both margins over all that is in them. */
export interface Pivot {
  readonly rowNames: readonly string[];
  readonly columnNames: readonly string[];
  readonly value: string;
  /** The cells that say which row, or which column, it is. */
  readonly rows: readonly (readonly Cell[])[];
  readonly columns: readonly (readonly Cell[])[];
  /** [row][column]; null: no rows, or nothing in them. */
  readonly cells: readonly (readonly Cell[])[];
  readonly rowMargin: readonly Cell[];
  readonly columnMargin: readonly Cell[];
  readonly all: Cell;
}

/** More cells than this are looked at by nobody. */
const MOST_CELLS = 4_000_000;

/** Returns "topology,without x size" taken apart. Throws InputError. */
export function readPivot(
  text: string,
  columns: readonly Column[],
  option: string,
): { readonly rows: Column[]; readonly columns: Column[] } {
  const parts = text.split(/\s[x×]\s/u);
  if (parts.length !== 2) throw new InputError(optionName(option), 'ROWS x COLUMNS, as in "topology x size"', text);
  const [rows, across] = parts.map((part) => readColumns(part, columns, option)) as [Column[], Column[]];
  return { rows, columns: across };
}

/** Returns an aggregate crosswise. O(rows + cells). */
export function pivoted(rows: Iterable<Row>, down: readonly Column[], across: readonly Column[], value: Valued): Pivot {
  interface Line {
    readonly cells: readonly Cell[];
    readonly margin: Tally;
    readonly at: number;
  }
  const [lines, stacks] = [new Map<string, Line>(), new Map<string, Line>()];
  const tallies = new Map<string, Tally>();
  const all = tallyOf(value);
  for (const row of rows) {
    const lineOf = (known: Map<string, Line>, by: readonly Column[]): Line => {
      const cells = by.map(({ name }) => cellOf(row, name));
      return groupOf(known, keyOf(cells), "pivot", () => ({ cells, margin: tallyOf(value), at: known.size }));
    };
    const [line, stack] = [lineOf(lines, down), lineOf(stacks, across)];
    const tally = groupOf(tallies, `${line.at} ${stack.at}`, "pivot", () => tallyOf(value));
    for (const one of [tally, line.margin, stack.margin, all]) one.add(row);
  }
  if (lines.size * stacks.size > MOST_CELLS)
    throw new InputError(
      optionName("pivot"),
      `at most ${MOST_CELLS} cells`,
      inWords(`${lines.size} rows of ${stacks.size}`),
    );
  const sorted = (known: Map<string, Line>): Line[] =>
    [...known.values()].sort((a, b) => compareLists(a.cells, b.cells));
  const [ordered, upright] = [sorted(lines), sorted(stacks)];
  return {
    rowNames: down.map(({ name }) => name),
    columnNames: across.map(({ name }) => name),
    value: value.name,
    rows: ordered.map(({ cells }) => cells),
    columns: upright.map(({ cells }) => cells),
    cells: ordered.map((line) => upright.map((stack) => tallies.get(`${line.at} ${stack.at}`)?.value() ?? null)),
    rowMargin: ordered.map(({ margin }) => margin.value()),
    columnMargin: upright.map(({ margin }) => margin.value()),
    all: all.value(),
  };
}

/** Returns cells that say which row or column of a pivot it is, as one text. */
export const headingOf = (cells: readonly Cell[]): string => cells.map((cell) => cell ?? "-").join(", ");

/** Returns a pivot as flat rows: one for each of its rows with a column for each of its columns and "all", and one of margins. */
export function rowsOfPivot({ rowNames, rows, columns, cells, rowMargin, columnMargin, all }: Pivot): Row[] {
  const taken = new Set([...rowNames, "all"]);
  const headings = columns.map((cells) => {
    let heading = headingOf(cells);
    for (let i = 2; taken.has(heading); i++) heading = `${headingOf(cells)} (${i})`;
    taken.add(heading);
    return heading;
  });
  const line = (names: readonly Cell[], values: readonly Cell[], margin: Cell): Row => ({
    ...Object.fromEntries(rowNames.map((name, i) => [name, names[i] as Cell])),
    ...Object.fromEntries(headings.map((heading, i) => [heading, values[i] as Cell])),
    all: margin,
  });
  return [
    ...rows.map((names, i) => line(names, cells[i] as Cell[], rowMargin[i] as Cell)),
    line(
      rowNames.map((_, i) => (i === 0 ? "all" : null)),
      columnMargin,
      all,
    ),
  ];
}
