import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { InputError } from "../../base/errors.ts";
import type { Row } from "../../model/sweep/task.ts";
import { type OptionId, optionValue, placeOf, refuseOptions, textOf } from "../../request/option-table.ts";
import type { OutputFile } from "../../run/export/world.ts";
import { readValues } from "../../sweep/rows/aggregates.ts";
import { cellOf } from "../../sweep/rows/cells.ts";
import { type Column, type Profile, profileOf, profiling } from "../../sweep/rows/columns.ts";
import { askSql, databaseToLines, withDatabaseFile } from "../../sweep/rows/database.ts";
import { readCell, readCondition } from "../../sweep/rows/expression.ts";
import {
  filtered,
  firstOf,
  grouped,
  type Pivot,
  pivoted,
  readColumns,
  readPivot,
  readSort,
  rowsOfPivot,
} from "../../sweep/rows/query.ts";
import { isDatabase, openRows, type RowSource, SWEEP } from "../../sweep/rows/source.ts";
import { placeInStore } from "../../sweep/store.ts";
import { taskBase, taskCommand, taskOfRow } from "../../sweep/task-command.ts";
import { answerText, type Context, outJson, outLines, outRows, STANDARD_OUTPUT } from "../context.ts";
import { outputFile } from "../files/output-file.ts";
import { pivotReport, rowsReport, type TaskBehind, tasksReport } from "../reports/results-report.ts";
import { labelled, writtenText } from "../reports/text.ts";
import { csvParts, type Ending, endingOf, fileParts, lineParts, withColumns } from "../results/output.ts";
import { barsPlot, heatPlot, linesPlot, paretoPlot } from "../results/plot.ts";

/** Most rows of the one JSON object of --json where --limit says nothing. */
const MOST_JSON = 10_000;
/** Rows of a table where there is no terminal, and tasks behind a cell. */
const FEW_ROWS = 20;
const FEW_TASKS = 10;
/** Lines around a table. */
const AROUND = 9;

/** What was asked, answered. */
interface Found {
  readonly columns: readonly Column[];
  /** Those of the columns that were asked for. */
  readonly chosen: readonly string[] | null;
  /** Rows that fulfil what was asked, as many as are to be had. */
  readonly rows: Iterable<Row>;
  readonly total: number | null;
  readonly pivot: Pivot | null;
  readonly tasks: readonly TaskBehind[] | null;
}

/** `banyan results PLACE`: what a sweep found, or has so far: rows, groups, tables crosswise, plots, and the task behind any cell. */
export async function run(context: Context, [place = ""]: readonly string[]): Promise<number> {
  const { options } = context;
  refuseTogether(context);
  const path = textOf(options, "output");
  const ending = path === undefined ? null : endingOf(path);
  if (ending === "svg" && options["plot"] === undefined && options["pivot"] === undefined)
    throw new InputError(placeOf("output"), "--plot or --pivot beside it").as("not-alone");
  if (options["plot"] !== undefined && ending !== "svg")
    throw new InputError(placeOf("plot"), "-o NAME.svg beside it").as("not-alone");
  const output = path === undefined ? null : outputFile(context, path, placeOf("output"));
  return await withSource(place, async (source) => {
    const code = await answer(
      context,
      source,
      place,
      output === null || ending === null ? null : { file: output, ending },
    );
    for (const note of source.notes()) context.note(note);
    return code;
  });
}

/** What does not go with each other: each of these is a question of its own. */
const QUESTIONS: readonly OptionId[] = ["sql", "cell", "pivot", "group"];

function refuseTogether({ options }: Context): void {
  const asked = QUESTIONS.filter((id) => options[id] !== undefined);
  const [first, second] = asked;
  if (first !== undefined && second !== undefined) refuseOptions(options, [second], `nothing beside ${placeOf(first)}`);
  if (first === "sql")
    refuseOptions(options, ["where", "columns", "sort", "value", "plot", "x", "y", "colour"], "nothing beside --sql");
  if (first === "pivot" || first === "cell")
    refuseOptions(options, ["columns", "sort"], `nothing beside ${placeOf(first)}`);
  if (options["value"] !== undefined && first !== "pivot" && first !== "group")
    throw new InputError(placeOf("value"), "--group or --pivot beside it").as("not-alone");
  if (first === "group" && options["value"] === undefined)
    throw new InputError(placeOf("group"), "--value beside it, such as min(us)").as("not-alone");
  if (first === "pivot" && options["value"] === undefined)
    throw new InputError(placeOf("pivot"), "--value beside it, such as us or median(us)").as("not-alone");
}

/** Returns what work returns on the rows of a place; a database's are JSON lines for so long. */
async function withSource<T>(place: string, work: (source: RowSource) => Promise<T>): Promise<T> {
  if (!isDatabase(place) || !existsSync(place)) return await work(openRows(place));
  const folder = mkdtempSync(join(tmpdir(), "banyan-"));
  try {
    const file = join(folder, `${basename(place)}.jsonl`);
    await databaseToLines(place, file);
    return await work(openRows(file));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Where an answer goes. */
interface Destination {
  readonly file: OutputFile;
  readonly ending: Ending;
}

async function answer(context: Context, source: RowSource, place: string, out: Destination | null): Promise<number> {
  const { json, quiet } = context;
  const profile = profileOf(source.rows());
  const found = await find(context, source, profile, out?.ending ?? null);
  const bytes = out === null ? undefined : await writeOut(context, out, source, found, place, profile);
  if (json) outJson(context, reportOf(found, place, source, profile));
  else if (out === null) show(context, found, place, profile);
  else if (!quiet && out.file.path !== STANDARD_OUTPUT)
    outLines(context, [labelled("written", writtenText(out.file.path, bytes))]);
  return 0;
}

/** Returns how many rows are wanted; null: all. */
function limitOf({ options, json, terminal }: Context, ending: Ending | null): number | null {
  const said = optionValue(options, "limit");
  if (said !== undefined) return said;
  if (ending !== null) return null;
  if (json) return MOST_JSON;
  if (options["cell"] !== undefined) return FEW_TASKS;
  return terminal === null ? FEW_ROWS : Math.max(FEW_TASKS, terminal.rows - AROUND);
}

async function find(context: Context, source: RowSource, profile: Profile, ending: Ending | null): Promise<Found> {
  const { options } = context;
  const { columns } = profile;
  const limit = limitOf(context, ending);
  const sql = textOf(options, "sql");
  if (sql !== undefined) {
    const { names, rows, isCut } = await askSql(source.rows(), sql, limit ?? Number.POSITIVE_INFINITY);
    const own = profileOf(rows).columns;
    const ofName = (name: string): Column => own.find((column) => column.name === name) ?? nothingIn(name);
    return {
      columns: names.map(ofName),
      chosen: names,
      rows,
      total: isCut ? null : rows.length,
      pivot: null,
      tasks: null,
    };
  }
  const where = textOf(options, "where");
  const condition = where === undefined ? null : readCondition(where, columns, "where");
  const rows = { [Symbol.iterator]: () => filtered(source.rows(), condition) };
  const whole = { columns, chosen: null, rows, total: null, pivot: null, tasks: null };
  const pivot = textOf(options, "pivot");
  if (pivot !== undefined) {
    const { rows: down, columns: across } = readPivot(pivot, columns, "pivot");
    const values = readValues(textOf(options, "value") as string, columns, "value");
    if (values.length !== 1)
      throw new InputError(placeOf("value"), "one aggregate for --pivot", textOf(options, "value"));
    const table = pivoted(rows, down, across, values[0] as (typeof values)[number]);
    const flat = rowsOfPivot(table);
    return { ...whole, columns: profileOf(flat).columns, rows: flat, total: flat.length, pivot: table };
  }
  const cell = textOf(options, "cell");
  if (cell !== undefined) {
    const first = firstOf(filtered(rows, readCell(cell, columns, "cell")), [], limit ?? Number.POSITIVE_INFINITY);
    return { ...whole, rows: first.rows, total: first.total, tasks: tasksBehind(source, first.rows, profile) };
  }
  const group = textOf(options, "group");
  if (group !== undefined) {
    const values = readValues(textOf(options, "value") as string, columns, "value");
    const groups = grouped(rows, readColumns(group, columns, "group"), values, columns);
    const own = profileOf(groups).columns;
    return { ...chosenOf(context, own, groups, limit), columns: own, pivot: null, tasks: null };
  }
  const { add, profile: ofTaken } = profiling();
  const found = chosenOf(context, columns, ending === null ? passing(rows, add) : rows, limit, source);
  // what is the same in all rows is so in those that were asked for
  const shown = ending === null && found.total !== null && condition !== null ? ofTaken().columns : columns;
  return { ...found, columns: shown, pivot: null, tasks: null };
}

/** Returns a column of no rows. */
const nothingIn = (name: string): Column => ({ name, type: "none", whole: false, nulls: 0, constant: undefined });

/** Yields rows that somebody looks at. */
function* passing(rows: Iterable<Row>, look: (row: Row) => void): Generator<Row> {
  for (const row of rows) {
    look(row);
    yield row;
  }
}

/** Returns rows in the order, and with the columns, that were asked for. */
function chosenOf(
  { options }: Context,
  columns: readonly Column[],
  rows: Iterable<Row>,
  limit: number | null,
  source: RowSource | null = null,
): Pick<Found, "rows" | "total" | "chosen"> {
  const names = columns.map(({ name }) => name);
  const sort = textOf(options, "sort");
  const listed = textOf(options, "columns");
  const chosen = listed === undefined ? null : readColumns(listed, columns, "columns").map(({ name }) => name);
  const keys = sort === undefined ? usualOrder(source, columns) : readSort(sort, names, "sort");
  // all rows of a file go as they come, and need no room
  if (keys.length === 0 && limit === null) return { rows, total: null, chosen };
  return { ...firstOf(rows, keys, limit ?? Number.POSITIVE_INFINITY), chosen };
}

/** Returns the order of a journal's rows: by the cells of their tasks. Results have theirs. */
function usualOrder(source: RowSource | null, columns: readonly Column[]): { column: string; descending: boolean }[] {
  if (source?.isJournal !== true) return [];
  const end = columns.findIndex(({ name }) => name === "count" || name === "status");
  return columns
    .slice(0, Math.max(0, end))
    .flatMap(({ name }) => (name === "task" ? [] : [{ column: name, descending: false }]));
}

/** Returns the text of the sweep's own file; null where there is none. */
function sweepText({ folder }: RowSource): string | null {
  const file = folder === null ? null : join(folder, SWEEP);
  return file === null || !existsSync(file) ? null : readFileSync(file, "utf8");
}

/** Returns where schedules of a sweep are: what its own file says, else the folder `store` in its own. */
function storeOf({ folder }: RowSource, text: string | null): string | null {
  if (folder === null) return null;
  try {
    const { store } = JSON.parse(text ?? "{}") as { readonly store?: unknown };
    if (typeof store === "string") return store;
  } catch {
    // it says nothing, then
  }
  return join(folder, "store");
}

function tasksBehind(source: RowSource, rows: readonly Row[], { columns }: Profile): TaskBehind[] {
  const text = sweepText(source);
  const [base, store] = [taskBase(text), storeOf(source, text)];
  const names = columns.map(({ name }) => name);
  const textAt = (row: Row, name: string): string | null => {
    const cell = cellOf(row, name);
    return cell === null ? null : `${cell}`;
  };
  return rows.map((row) => {
    const sha256 = textAt(row, "schedule");
    // columns in the order of all rows, which a database may have put otherwise
    const ordered = Object.fromEntries(names.map((name) => [name, cellOf(row, name)]));
    return {
      task: textAt(row, "task"),
      status: textAt(row, "status"),
      why: textAt(row, "why"),
      command: taskCommand(taskOfRow(ordered, base)),
      schedule:
        sha256 === null || store === null || !/^[0-9a-f]{64}$/.test(sha256) ? sha256 : placeInStore(store, sha256),
      row,
    };
  });
}

async function writeOut(
  context: Context,
  { file, ending }: Destination,
  source: RowSource,
  found: Found,
  place: string,
  profile: Profile,
): Promise<number> {
  const { chosen, columns, rows } = found;
  const own = { [Symbol.iterator]: () => withColumns(rows, chosen) };
  switch (ending) {
    case "csv":
      return file.write(csvParts(chosen ?? columns.map(({ name }) => name), rows));
    case "jsonl":
      return file.write(lineParts(own));
    case "json":
      return file.write([answerText({ ...context, json: false }, reportOf(found, place, source, profile))]);
    case "svg":
      return file.write(plotOf(context, found, place));
    default:
      return await withDatabaseFile(own, ending, (made) => file.write(fileParts(made)));
  }
}

/** Returns the plot that was asked for. Throws InputError. */
function plotOf({ options }: Context, { columns, rows, pivot }: Found, place: string): Generator<string> {
  const kind = optionValue(options, "plot") ?? "heat";
  const name = basename(place).replace(/\.(?:sweep|jsonl|csv|parquet|duckdb)$/, "");
  if (kind === "heat") {
    if (pivot === null) throw new InputError(placeOf("plot"), "--pivot beside it").as("not-alone");
    return heatPlot(pivot, `${name}: ${pivot.value}`);
  }
  if (pivot !== null) throw new InputError(placeOf("plot"), "heat for --pivot", kind).as("not-together");
  const columnOf = (id: "x" | "y" | "colour"): Column | null => {
    const text = textOf(options, id);
    return text === undefined ? null : (readColumns(text, columns, id)[0] as Column);
  };
  const [x, y] = [columnOf("x"), columnOf("y")];
  if (x === null || y === null) throw new InputError(placeOf("plot"), "--x and --y beside it").as("not-alone");
  const of = { title: `${name}: ${y.name} by ${x.name}`, x, y, colour: columnOf("colour") };
  return { lines: linesPlot, bars: barsPlot, pareto: paretoPlot }[kind](rows, of);
}

/** Returns the answer as data. */
function reportOf(
  { columns, chosen, rows, total, pivot, tasks }: Found,
  place: string,
  source: RowSource,
  profile: Profile,
) {
  const shown = [...withColumns(rows, chosen)];
  const named =
    chosen === null ? columns : chosen.map((name) => columns.find((column) => column.name === name) ?? nothingIn(name));
  return {
    schema: "banyan/results@1" as const,
    place,
    finished: !source.isJournal,
    allRows: profile.rows,
    /** How many fulfil what was asked; null: more than are here, and nobody counted. */
    matching: total ?? (isCounted(rows) ? null : shown.length),
    columns: named.map(({ name, type, whole, nulls }) => ({ name, type, whole, nulls })),
    rows: shown,
    pivot,
    tasks: tasks?.map(({ row: _, ...task }) => task) ?? null,
  };
}

/** Rows that were taken from an answer that had more. */
const isCounted = (rows: Iterable<Row>): boolean => Array.isArray(rows);

/** Shows an answer to people. */
function show(context: Context, found: Found, place: string, profile: Profile): void {
  const { columns, chosen, pivot, tasks } = found;
  const name = basename(place);
  if (pivot !== null) {
    outRows(context, pivotReport(pivot, name, context));
    return;
  }
  const rows: readonly Row[] = [...found.rows];
  const total = found.total ?? rows.length;
  if (tasks !== null) {
    if (tasks.length === 0) throw new InputError(placeOf("cell"), "a cell with rows", textOf(context.options, "cell"));
    outLines(context, tasksReport(tasks, total, context));
    return;
  }
  const isPart = context.options["group"] === undefined && context.options["sql"] === undefined;
  outRows(context, rowsReport({ name, columns, chosen, rows, total, of: isPart ? profile.rows : total }, context));
  if (found.total === null) context.note("there are more rows: --limit");
}
