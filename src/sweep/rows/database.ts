import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, mkdtempSync, openSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { Cell, Row } from "../../model/sweep/task.ts";
import { loadOptional } from "../optional-package.ts";
import { cellOf } from "./cells.ts";
import type { ColumnType } from "./columns.ts";

/** Rows in DuckDB: files that it writes and reads, and questions in SQL. The package is loaded when something needs it. */

/** The table that rows are in, and the view of their tasks. */
const TABLE = "results";
const TASKS = "tasks";

const duckDb = (what: string) => loadOptional("@duckdb/node-api", what, () => import("@duckdb/node-api"));

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Halves of characters, which no UTF-8 has. */
const HALVES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Text of a file is gathered to so many letters before it is written. */
const GATHERED = 2 ** 18;

/** Rows in a file of JSON lines whose keys are numbers, so that any names do, and what becomes a table's columns. */
interface Loaded {
  readonly file: string;
  readonly rows: number;
  readonly columns: readonly { readonly key: string; readonly name: string; readonly type: string }[];
}

/** A column while rows come. */
interface Seen {
  readonly key: string;
  readonly types: Set<Exclude<ColumnType, "mixed" | "none">>;
  whole: boolean;
}

/** Returns a name that no other has, capitals aside, as SQL has it. */
function freeName(name: string, taken: Set<string>): string {
  let free = name === "" ? "column" : name.replaceAll("\0", "");
  for (let i = 2; taken.has(free.toLowerCase()); i++) free = `${name}_${i}`;
  taken.add(free.toLowerCase());
  return free;
}

/** Writes rows to a file from which a table is made. O(cells); memory for a block. */
function load(rows: Iterable<Row>, file: string): Loaded {
  const columns = new Map<string, Seen>();
  const descriptor = openSync(file, "wx");
  let count = 0;
  try {
    let text = "";
    for (const row of rows) {
      const cells: string[] = [];
      for (const name of Object.keys(row)) {
        const cell = cellOf(row, name);
        let seen = columns.get(name);
        if (seen === undefined) {
          seen = { key: `c${columns.size}`, types: new Set(), whole: true };
          columns.set(name, seen);
        }
        if (cell === null) continue;
        seen.types.add(typeof cell === "number" ? "number" : typeof cell === "boolean" ? "boolean" : "text");
        if (typeof cell === "number" && !Number.isSafeInteger(cell)) seen.whole = false;
        cells.push(`"${seen.key}":${JSON.stringify(typeof cell === "string" ? cell.replace(HALVES, "\ufffd") : cell)}`);
      }
      text += `{${cells.join()}}\n`;
      count++;
      if (text.length > GATHERED) {
        writeSync(descriptor, text);
        text = "";
      }
    }
    writeSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
  const taken = new Set<string>();
  return {
    file,
    rows: count,
    columns: [...columns].map(([name, { key, types, whole }]) => ({
      key,
      name: freeName(name, taken),
      type: sqlType(types, whole),
    })),
  };
}

/** Returns the type that holds all cells of a column: texts where they are mixed, or where there are none. */
function sqlType(types: ReadonlySet<string>, whole: boolean): string {
  if (types.size !== 1) return "VARCHAR";
  if (types.has("boolean")) return "BOOLEAN";
  if (types.has("text")) return "VARCHAR";
  return whole ? "BIGINT" : "DOUBLE";
}

/** Makes the table of rows, and the view of their tasks. */
async function fill(connection: DuckDBConnection, { file, columns }: Loaded): Promise<void> {
  if (columns.length === 0) {
    await connection.run(`create table ${TABLE} (task varchar)`);
  } else {
    const types = columns.map(({ key, type }) => `${key}: '${type}'`).join(", ");
    const named = columns.map(({ key, name }) => `${key} as ${quoted(name)}`).join(", ");
    await connection.run(
      `create table ${TABLE} as select ${named} from read_json(${literal(file)}, format = 'newline_delimited', columns = {${types}}, maximum_object_size = 268435456)`,
    );
  }
  await connection.run(tasksView(columns.map(({ name }) => name)));
}

/** Returns the view of tasks: a row each, with the cells that are a task's and not a result's. */
function tasksView(names: readonly string[]): string {
  const has = (name: string): boolean => names.includes(name);
  if (!has("task")) return `create view ${TASKS} as select null as task where false`;
  const count = names.indexOf("count");
  const axes = count < 0 ? [] : names.slice(0, count).filter((name) => name !== "task");
  const own = [...axes, ...["count", "status", "why", "schedule"].filter(has)];
  const cells = own.map((name) => `, any_value(${quoted(name)}) as ${quoted(name)}`).join("");
  return `create view ${TASKS} as select task${cells}, count(*) as results from ${TABLE} group by task`;
}

/** Returns the error for what DuckDB says of a file: its first line. */
function refused(error: unknown, what: string, file: string): unknown {
  if (error instanceof InputError) return error;
  const message = ((error as Error).message ?? `${error}`).split("\n")[0] as string;
  if (/no space left|ENOSPC/i.test(message)) return new InputError(what, "a file on a disk with room", file);
  return new InputError(what, `a file that DuckDB can use (${message})`, file);
}

/** Returns what work returns on a database in a file (":memory:" in none), once that is closed. */
async function withDatabase<T>(
  file: string,
  what: string,
  work: (connection: DuckDBConnection) => Promise<T>,
  config: Record<string, string> = {},
): Promise<T> {
  const { DuckDBInstance } = await duckDb(what);
  const instance = await DuckDBInstance.create(file, config);
  try {
    const connection = await instance.connect();
    try {
      return await work(connection);
    } finally {
      connection.closeSync();
    }
  } finally {
    instance.closeSync();
  }
}

/** Returns what work returns that is given a folder, which is gone afterwards. */
async function withFolder<T>(place: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(place);
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a database is written as. */
export type DatabaseForm = "duckdb" | "parquet";

/** Writes rows to a file that is not there yet, of either form. */
async function write(rows: Iterable<Row>, file: string, form: DatabaseForm, folder: string): Promise<number> {
  const loaded = load(rows, join(folder, "rows.jsonl"));
  const what = `a ${form === "duckdb" ? "DuckDB" : "Parquet"} file`;
  if (form === "duckdb") await withDatabase(file, what, (connection) => fill(connection, loaded));
  else
    await withDatabase(":memory:", what, async (connection) => {
      await fill(connection, loaded);
      await connection.run(`copy ${TABLE} to ${literal(file)} (format parquet)`);
    });
  return loaded.rows;
}

/**
 * Writes rows to a database file with the table `results` and the view `tasks`, and returns how many. It is written beside its place,
 * flushed, and takes that at the end, so a reader sees the old one or the new one. Rows are taken once. Rejects with InputError.
 */
export const writeDuckDb = (rows: Iterable<Row>, file: string): Promise<number> => writeWhole(rows, file, "duckdb");

/** The same as a Parquet file, which has the table alone. */
export const writeParquet = (rows: Iterable<Row>, file: string): Promise<number> => writeWhole(rows, file, "parquet");

async function writeWhole(rows: Iterable<Row>, file: string, form: DatabaseForm): Promise<number> {
  const place = resolve(file);
  if (statSync(place, { throwIfNoEntry: false })?.isDirectory())
    throw new InputError("the database", "a file, not a folder,", file);
  if (statSync(dirname(place), { throwIfNoEntry: false }) === undefined)
    throw new InputError("the database", "a file in a folder that exists", file);
  const beside = join(dirname(place), `.${basename(place).slice(0, 40)}.${randomBytes(6).toString("hex")}.`);
  try {
    return await withFolder(beside, async (folder) => {
      const fresh = join(folder, "fresh");
      const count = await write(rows, fresh, form, folder);
      const descriptor = openSync(fresh, "r+");
      fsyncSync(descriptor);
      closeSync(descriptor);
      renameSync(fresh, place);
      return count;
    });
  } catch (error) {
    throw refused(error, "the database", file);
  }
}

/** Yields the bytes of a database of rows, which is made in a folder for files that do not stay. */
export async function withDatabaseFile<T>(
  rows: Iterable<Row>,
  form: DatabaseForm,
  work: (file: string) => T,
): Promise<T> {
  return await withFolder(join(tmpdir(), "banyan-"), async (folder) => {
    const file = join(folder, `rows.${form}`);
    await write(rows, file, form, folder).catch((error) => {
      throw refused(error, "the database", file);
    });
    return work(file);
  });
}

/** Returns a value of DuckDB as a cell: numbers that a double does not hold as their digits, what is neither as its text. */
function cellOfValue(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`;
  if (typeof value === "number") return Number.isFinite(value) ? value : `${value}`;
  if (typeof value === "string" || typeof value === "boolean") return value;
  return String(value);
}

/** Returns the rows of a question as they come, and their columns, of which those of one name are numbered. */
async function rowsOf(
  connection: DuckDBConnection,
  sql: string,
): Promise<{ readonly names: readonly string[]; readonly rows: AsyncIterable<Row> }> {
  const result = await connection.stream(sql);
  const taken = new Set<string>();
  const names = result.columnNames().map((name) => freeName(name, taken));
  async function* rows(): AsyncGenerator<Row> {
    for await (const chunk of result.yieldRows())
      for (const values of chunk) yield Object.fromEntries(names.map((name, i) => [name, cellOfValue(values[i])]));
  }
  return { names, rows: rows() };
}

/** Writes what a database file has as JSON lines, for all that reads these. Rejects with InputError. */
export async function databaseToLines(place: string, file: string): Promise<void> {
  const isParquet = place.toLowerCase().endsWith(".parquet");
  const descriptor = openSync(file, "wx");
  try {
    const work = async (connection: DuckDBConnection): Promise<void> => {
      const from = isParquet ? `read_parquet(${literal(resolve(place))})` : await tableIn(connection, place);
      let text = "";
      const { rows } = await rowsOf(connection, `select * from ${from}`);
      for await (const row of rows) {
        text += `${JSON.stringify(row)}\n`;
        if (text.length < GATHERED) continue;
        writeSync(descriptor, text);
        text = "";
      }
      writeSync(descriptor, text);
    };
    const what = `to read ${basename(place)}`;
    if (isParquet) await withDatabase(":memory:", what, work);
    else await withDatabase(place, what, work, { access_mode: "READ_ONLY" });
  } catch (error) {
    throw refused(error, "the place", place);
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the table of a database that has the rows: `results`, or the only one. */
async function tableIn(connection: DuckDBConnection, place: string): Promise<string> {
  const found = await connection.runAndReadAll(
    "select table_name from information_schema.tables where table_type = 'BASE TABLE'",
  );
  const names = found.getRows().map(([name]) => `${name}`);
  const only = names.includes(TABLE) ? TABLE : names.length === 1 ? names[0] : undefined;
  if (only === undefined)
    throw new InputError(
      "the place",
      `a database with a table ${TABLE}`,
      inWords(`${place} with ${names.length} others`),
    );
  return quoted(only);
}

/** What a question in SQL has for an answer. */
export interface Answer {
  readonly names: readonly string[];
  readonly rows: readonly Row[];
  /** There are more rows than were asked for. */
  readonly isCut: boolean;
}

/**
 * Asks a question in SQL of rows, which are the table `results` (their tasks: the view `tasks`). One statement that reads: it sees no
 * file and changes none. Rejects with InputError.
 */
export async function askSql(rows: Iterable<Row>, sql: string, limit: number): Promise<Answer> {
  await duckDb(`${optionName("sql")}`); // before any row is read
  return await withFolder(join(tmpdir(), "banyan-"), async (folder) => {
    const loaded = load(rows, join(folder, "rows.jsonl"));
    return await withDatabase(":memory:", `${optionName("sql")}`, async (connection) => {
      await fill(connection, loaded);
      await connection.run("set enable_external_access = false");
      await connection.run("set lock_configuration = true");
      return await answered(connection, sql, limit);
    });
  });
}

async function answered(connection: DuckDBConnection, sql: string, limit: number): Promise<Answer> {
  const { StatementType } = await duckDb(`${optionName("sql")}`);
  const place = optionName("sql");
  try {
    const statements = await connection.extractStatements(sql);
    if (statements.count !== 1) throw new InputError(place, "one statement", inWords(`${statements.count} of them`));
    const statement = await statements.prepare(0);
    const reads = [StatementType.SELECT, StatementType.EXPLAIN];
    if (!reads.includes(statement.statementType))
      throw new InputError(place, "a statement that reads, such as select", sql);
    const { names, rows } = await rowsOf(connection, sql);
    const taken: Row[] = [];
    for await (const row of rows) {
      if (taken.length === limit) return { names, rows: taken, isCut: true };
      taken.push(row);
    }
    return { names, rows: taken, isCut: false };
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(place, "SQL that DuckDB understands", sql).saying(`${place}: ${sentenceOf(error)}`);
  }
}

/** Returns what DuckDB says is wrong in one line, with where that is. */
function sentenceOf(error: unknown): string {
  const lines = `${(error as Error).message}`.replace(/^Failed to [a-z ]+: /, "").split("\n");
  const at = lines.findIndex((line) => /^LINE \d+: /.test(line));
  const [message = ""] = lines;
  const candidates = lines.slice(1).find((line) => /^Candidate/.test(line));
  const [, number, prefix] =
    at < 0 ? [] : [...(/^LINE (\d+): /.exec(lines[at] as string) ?? []), lines[at]?.match(/^LINE \d+: /)?.[0]];
  const column = at < 0 ? -1 : (lines[at + 1] ?? "").indexOf("^") - (prefix?.length ?? 0) + 1;
  const where = column > 0 ? ` (line ${number}, column ${column})` : "";
  return `${message}${where}${candidates === undefined ? "" : `; ${candidates}`}`;
}
