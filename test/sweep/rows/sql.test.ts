import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Cell, Row } from "../../../src/model/sweep/task.ts";
import { readValues } from "../../../src/sweep/rows/aggregates.ts";
import { cellOf } from "../../../src/sweep/rows/cells.ts";
import { type Column, profileOf } from "../../../src/sweep/rows/columns.ts";
import { askSql, databaseToLines, writeDuckDb, writeParquet } from "../../../src/sweep/rows/database.ts";
import { readCondition } from "../../../src/sweep/rows/expression.ts";
import { filtered, grouped, pivoted, rowsOfPivot } from "../../../src/sweep/rows/query.ts";
import { openRows } from "../../../src/sweep/rows/source.ts";
import { sweepRows } from "../../support/sweep-rows.ts";

/** Our own answers against DuckDB's, which shares nothing with them; and its files, read by it and by others. */

const hasDuckDb = await import("@duckdb/node-api").then(
  () => true,
  () => false,
);
/** A reader of Parquet that has nothing of DuckDB in it; null where it is not installed (npm install --save-dev hyparquet). */
interface Hyparquet {
  asyncBufferFromFile(file: string): Promise<unknown>;
  parquetReadObjects(options: { readonly file: unknown }): Promise<Record<string, unknown>[]>;
}
const HYPARQUET = "hyparquet";
const hyparquet = await import(/* @vite-ignore */ HYPARQUET).then(
  (module: Hyparquet) => module,
  () => null,
);

const folder = mkdtempSync(join(tmpdir(), "sql-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const rounded = (cell: Cell): Cell => (typeof cell === "number" ? Number(cell.toPrecision(12)) : cell);

/** Returns rows as texts in one order, whatever order they come in; figures with 12 digits. */
const asSet = (rows: Iterable<Row>, names: readonly string[]): string[] =>
  [...rows].map((row) => JSON.stringify(names.map((name) => rounded(cellOf(row, name))))).sort();

describe.skipIf(!hasDuckDb)("answers like those of SQL", () => {
  const rows = sweepRows(1500, 7);
  const { columns } = profileOf(rows);
  const named = (name: string): Column => columns.find((column) => column.name === name) as Column;

  it.each<[string, string?]>([
    ["us < 50"],
    ["us >= 12.5 and us <= 60"],
    ["not us < 50"],
    ["not (us < 50 or kept)", "not (us < 50 or kept)"],
    ["us is null or price > 25"],
    ["collective = allgather and algorithm != ring", "collective = 'allgather' and algorithm != 'ring'"],
    ["topology = 'a \"b\" <c> é漢'"],
    ["topology > mesh", "topology > 'mesh'"],
    ["without in ('0-1', '3>4') and not kept", "without in ('0-1', '3>4') and not kept"],
    ["without not in ('0-1')", "without not in ('0-1')"],
    ["why like '%60_s'"],
    ["why not like '%61_s' and topology not like 'm%'"],
    ["why is not null and count in (1, 3)"],
    ["us < price"],
    ["us < algbw_GBps or algbw_GBps is null and of_limit > 0.5"],
    ["not (us < algbw_GBps and kept)"],
  ])("where %s", async (text, sql = text) => {
    const ours = [...filtered(rows, readCondition(text, columns, "where"))];
    const theirs = await askSql(rows, `select * from results where ${sql}`, 1e6);
    const names = columns.map(({ name }) => name);
    expect(ours.length).toBeGreaterThan(0);
    expect(ours.length).toBeLessThan(rows.length);
    expect(asSet(theirs.rows, names)).toEqual(asSet(ours, names));
  });

  it.each([
    ["topology,size", "min(us),max(us),count()"],
    ["without", "mean(us),sum(price),count(us)"],
    ["algorithm,kept", "median(us),median(of_limit),max(topology)"],
    ["status", "mean(us),median(us),min(us),sum(us),count()"],
  ])("group by %s: %s", async (by, values) => {
    const group = by.split(",").map(named);
    const wanted = readValues(values, columns, "value");
    const ours = grouped(rows, group, wanted, columns);
    const select = wanted.map(({ aggregate, column, name }) =>
      column === null ? `count(*) as "${name}"` : `${aggregate}("${column.name}") as "${name}"`,
    );
    const theirs = await askSql(rows, `select ${by}, ${select.join()} from results group by ${by}`, 1e6);
    const names = [...by.split(","), ...wanted.map(({ name }) => name)];
    expect(ours.length).toBeGreaterThan(1);
    expect(asSet(theirs.rows, names)).toEqual(asSet(ours, names));
  });

  it("best, with the row that has it", async () => {
    const ours = grouped(rows, [named("topology")], readValues("best(us),best(of_limit)", columns, "value"), columns);
    const sql = "select topology, min(us) as best_us, max(of_limit) as best_of_limit from results group by topology";
    const names = ["topology", "best_us", "best_of_limit"];
    expect(asSet((await askSql(rows, sql, 1e6)).rows, names)).toEqual(asSet(ours, names));
    for (const { topology, best_task } of ours)
      expect(rows.some((row) => row["task"] === best_task && row["topology"] === topology)).toBe(true);
  });

  it("crosswise, with both margins", async () => {
    const value = readValues("mean(us)", columns, "value")[0] as ReturnType<typeof readValues>[number];
    const ours = rowsOfPivot(pivoted(rows, [named("topology")], [named("size")], value));
    const sizes = ["1KiB", "64KiB", "1MiB", "1GiB"];
    const select = sizes.map((size) => `avg(us) filter (where size = '${size}') as "${size}"`).join();
    const sql = `select coalesce(topology, 'all') as topology, ${select}, avg(us) as "all" from results group by rollup (topology)`;
    const names = ["topology", ...sizes, "all"];
    expect(asSet((await askSql(rows, sql, 1e6)).rows, names)).toEqual(asSet(ours, names));
    expect(ours.map((row) => Object.keys(row))[0]).toEqual(names);
  });

  it("asks for one statement that reads, and sees no file", async () => {
    const ask = (sql: string) => askSql(rows.slice(0, 10), sql, 100);
    await expect(ask("select 1; select 2")).rejects.toThrow("one statement");
    await expect(ask("drop table results")).rejects.toThrow("a statement that reads");
    await expect(ask("copy results to '/tmp/x.csv'")).rejects.toThrow("file system operations are disabled");
    await expect(ask("select * from read_csv('/etc/passwd')")).rejects.toThrow("file system operations are disabled");
    await expect(ask("select nope from results")).rejects.toThrow(
      'sql: Binder Error: Referenced column "nope" not found in FROM clause! (line 1, column 8)',
    );
    const { rows: tasks } = await ask("select count(*) as n, max(results) as most from tasks");
    expect(tasks).toEqual([{ n: 5, most: 2 }]);
    expect((await ask("select us as a, us as a from results where false")).names).toEqual(["a", "a_2"]);
    expect((await ask("select 9007199254740993 as n")).rows).toEqual([{ n: "9007199254740993" }]);
    expect((await askSql(rows, "select * from results", 3)).isCut).toBe(true);
  });
});

describe.skipIf(!hasDuckDb)("files of databases", () => {
  const odd: Row[] = [
    {
      task: "t",
      A: 1,
      a: "other capitals",
      "": 0.5,
      "q\"uo'te; drop table results": true,
      mixed: 1,
      "\ud800": "\ud800",
      none: null,
    },
    { task: "t", A: 2 ** 53 - 1, a: "\0nul\u202e 😀 漢", mixed: "x", big: 1e300 },
    { task: "u", __proto__x: -0.1, mixed: true },
  ];

  it.each([
    ["duckdb", writeDuckDb],
    ["parquet", writeParquet],
  ] as const)("%s has what was written, whatever it is called", async (ending, write) => {
    const file = join(folder, `odd.${ending}`);
    expect(await write(odd, file)).toBe(3);
    const lines = join(folder, `odd-${ending}.jsonl`);
    await databaseToLines(file, lines);
    const back = [...openRows(lines).rows()];
    expect(back.map((row) => [row["task"], row["A"], row["a_2"], row["column"], row["mixed"], row["big"]])).toEqual([
      ["t", 1, "other capitals", 0.5, "1", null],
      ["t", 2 ** 53 - 1, "\0nul\u202e 😀 漢", null, "x", 1e300],
      ["u", null, null, null, "true", null],
    ]);
    expect(back[0]?.["q\"uo'te; drop table results"]).toBe(true);
    expect(readdirSync(folder).filter((name) => name.startsWith(".odd"))).toEqual([]);
  });

  it.skipIf(hyparquet === null)("as Parquet is read by another reader", async () => {
    const { asyncBufferFromFile, parquetReadObjects } = hyparquet as Hyparquet;
    const rows = sweepRows(300, 4);
    const file = join(folder, "other.parquet");
    await writeParquet(rows, file);
    const names = profileOf(rows).columns.map(({ name }) => name);
    const plain = (await parquetReadObjects({ file: await asyncBufferFromFile(file) })).map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, (typeof value === "bigint" ? Number(value) : value) as Cell]),
      ),
    );
    expect(plain).toEqual(rows.map((row) => Object.fromEntries(names.map((name) => [name, cellOf(row, name)]))));
  });

  it("are replaced whole, or not at all", async () => {
    const file = join(folder, "whole.duckdb");
    await writeDuckDb(sweepRows(10, 1), file);
    function* failing(): Generator<Row> {
      yield { task: "a" };
      throw new Error("the disk is on fire");
    }
    await expect(writeDuckDb(failing(), file)).rejects.toThrow("the disk is on fire");
    const lines = join(folder, "whole.jsonl");
    await databaseToLines(file, lines);
    expect([...openRows(lines).rows()]).toHaveLength(10);
    await writeDuckDb([], file);
    await expect(writeDuckDb([], join(folder, "nowhere", "x.duckdb"))).rejects.toThrow(
      "a file in a folder that exists",
    );
    await expect(writeDuckDb([], folder)).rejects.toThrow("a file, not a folder");
    expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
  });

  it("that are none are refused in a sentence", async () => {
    const file = join(folder, "text.parquet");
    writeFileSync(file, "no such thing");
    await expect(databaseToLines(file, join(folder, "text.jsonl"))).rejects.toThrow("a file that DuckDB can use");
    expect(existsSync(file)).toBe(true);
  });
});
