import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { csvParts } from "../../../src/cli/results/output.ts";
import type { Row } from "../../../src/model/sweep/task.ts";
import { profileOf } from "../../../src/sweep/rows/columns.ts";
import { firstOf } from "../../../src/sweep/rows/query.ts";
import { openRows } from "../../../src/sweep/rows/source.ts";
import { sweepRows } from "../../support/sweep-rows.ts";

const folder = mkdtempSync(join(tmpdir(), "rows-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the rows of a file with that content, and what is noted of it. */
function read(name: string, content: string): { rows: Row[]; notes: string[] } {
  const file = join(folder, name);
  writeFileSync(file, content);
  const source = openRows(file);
  return { rows: [...source.rows()], notes: source.notes() };
}

describe("rows of JSON lines", () => {
  it("are read whatever is in them", () => {
    const { rows, notes } = read(
      "a.jsonl",
      '\ufeff{"a":1,"é 漢":"\\u0000"}\r\n\n{"b":[1,{"c":2}],"a":null}\n{"a":true}',
    );
    expect(rows).toEqual([{ a: 1, "é 漢": "\0" }, { b: '[1,{"c":2}]', a: null }, { a: true }]);
    expect(notes).toEqual([]);
    const long = "x".repeat(3 * 2 ** 20);
    expect(read("long.jsonl", `{"a":"${long}"}\n{"a":2}\n`).rows).toEqual([{ a: long }, { a: 2 }]);
    expect(read("empty.jsonl", "").rows).toEqual([]);
  });

  it("without the end of the last are those before it, with a note", () => {
    const whole = '{"a":1}\n{"a":"漢字 \\"x\\""}';
    for (let length = 9; length < Buffer.from(whole).length; length++) {
      const file = join(folder, "cut.jsonl");
      writeFileSync(file, Buffer.from(whole).subarray(0, length));
      const source = openRows(file);
      expect([...source.rows()]).toEqual([{ a: 1 }]);
      expect(source.notes()).toEqual([`the last line of ${file} is cut off, and left out`]);
    }
  });

  it("that are none are refused with their line", () => {
    expect(() => read("bad.jsonl", '{"a":1}\n{"a":\n{"a":2}\n')).toThrow(`${join(folder, "bad.jsonl")} line 2: `);
    expect(() => read("bad.jsonl", "[1]\n")).toThrow("bad.jsonl line 1");
    expect(() => openRows(join(folder, "none"))).toThrow("that exists");
    writeFileSync(join(folder, "x.jsnl"), "");
    expect(() => openRows(join(folder, "x.jsnl"))).toThrow('did you mean ".jsonl"?');
  });

  it("beyond what a double holds are rounded, with a note", () => {
    const { rows, notes } = read("big.jsonl", '{"a":9007199254740993,"b":"9007199254740993","c":9007199254740992}\n');
    expect(rows).toEqual([{ a: 2 ** 53, b: "9007199254740993", c: 2 ** 53 }]);
    expect(notes).toEqual([expect.stringMatching(/^1 whole numbers .* beyond 2\^53/)]);
  });
});

describe("a sweep's folder", () => {
  const sweep = join(folder, "x.sweep");
  const entry = (task: string, rows: unknown[], schedule: unknown = null): string =>
    `${JSON.stringify({ task, cells: { topology: task, count: 2 }, status: rows.length > 0 ? "done" : "timeout", why: null, rows, schedule, measured: {} })}\n`;

  it("is its journal while it goes on, and then its results", () => {
    mkdirSync(sweep);
    expect(() => openRows(sweep)).toThrow("results.jsonl or outcomes.jsonl");
    const journal = entry("b", [{ us: 1 }, { us: 2 }], { sha256: "f", bytes: 1 }) + entry("a", []);
    writeFileSync(join(sweep, "outcomes.jsonl"), `${journal}{"task":"c","cells":{`);
    const source = openRows(sweep);
    expect(source.isJournal).toBe(true);
    const before = { topology: "b", count: 2, status: "done", why: null };
    expect([...source.rows()]).toEqual([
      { task: "b", ...before, us: 1, schedule: "f" },
      { task: "b", ...before, us: 2, schedule: "f" },
      { task: "a", topology: "a", count: 2, status: "timeout", why: null, schedule: null },
    ]);
    expect(source.notes()).toHaveLength(2);
    writeFileSync(join(sweep, "results.jsonl"), '{"task":"a"}\n');
    const later = Date.now() / 1000 + 10;
    utimesSync(join(sweep, "results.jsonl"), later, later);
    expect([...openRows(sweep).rows()]).toEqual([{ task: "a" }]);
    utimesSync(join(sweep, "outcomes.jsonl"), later + 1, later + 1);
    expect(openRows(sweep).isJournal).toBe(true);
  });
});

it("a CSV file of ours is read as what was written", () => {
  const rows = sweepRows(200, 3).map((row, i) => ({
    ...row,
    odd: ["=1+1", "a,b;c\n", "'x", "007", " ", "1e400"][i % 6] as string,
  }));
  const { columns } = profileOf(rows);
  const names = columns.map(({ name }) => name);
  const back = read("a.csv", [...csvParts(names, rows)].join("")).rows;
  const full = rows.map((row) => Object.fromEntries(names.map((name) => [name, (row as Row)[name] ?? null])));
  // line breaks of texts are written as their escapes
  expect(back).toEqual(full.map((row) => ({ ...row, odd: (row["odd"] as string).replace("\n", "\\n") })));
});

it("the first rows of an order are those of sorting all", () => {
  const rows = sweepRows(5000, 11);
  const keys = [
    { column: "us", descending: true },
    { column: "size", descending: false },
  ];
  const all = firstOf(rows, keys, Number.POSITIVE_INFINITY).rows;
  expect(all).toHaveLength(5000);
  expect(firstOf(rows, keys, 17)).toEqual({ rows: all.slice(0, 17), total: 5000 });
  expect(all[0]?.["us"]).toBe(Math.max(...rows.map((row) => (row["us"] as number) ?? 0)));
  expect(all.at(-1)?.["us"] ?? null).toBe(null);
});
