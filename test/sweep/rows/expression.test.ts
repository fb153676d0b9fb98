import { describe, expect, it } from "vitest";
import type { Row } from "../../../src/model/sweep/task.ts";
import { compareCells } from "../../../src/sweep/rows/cells.ts";
import { profileOf } from "../../../src/sweep/rows/columns.ts";
import { isLike, readCell, readCondition } from "../../../src/sweep/rows/expression.ts";

const ROWS: readonly Row[] = [
  { name: "mesh:4x4", us: 10, size: "1KiB", ok: true, why: null, "two words": 1 },
  { name: "torus:4x4", us: 200, size: "1MiB", ok: false, why: "it took more memory", "two words": 2 },
  { name: "L(K(4,4))", us: null, size: "64KiB", ok: null, why: 'it\'s "late"', constructor: 3 },
  { name: "0-rail0", us: 1e3, size: "x", ok: true, why: "100%_", limit_us: 2000 },
];
const { columns } = profileOf(ROWS);

/** Returns the places of the rows that a condition takes. */
const taken = (text: string): number[] => {
  const condition = readCondition(text, columns, "where");
  return ROWS.flatMap((row, i) => (condition(row) === true ? [i] : []));
};

describe("a condition", () => {
  it.each<[string, number[]]>([
    ["us < 100", [0]],
    ["us >= 10 and us <= 1e3", [0, 1, 3]],
    ["not us < 100", [1, 3]],
    ["us != 10", [1, 3]],
    ["us <> 10 or us is null", [1, 2, 3]],
    ["us is not null", [0, 1, 3]],
    ["name = mesh:4x4", [0]],
    ["name = 'L(K(4,4))'", [2]],
    ["name == 0-rail0", [3]],
    ["name in (mesh:4x4, 'torus:4x4')", [0, 1]],
    ["name not in (mesh:4x4, torus:4x4)", [2, 3]],
    ["name like '%4x4'", [0, 1]],
    ["name NOT LIKE '%4x4' AND (ok OR us IS NULL)", [2, 3]],
    ["why like '100%_'", [3]],
    ["why = 'it''s \"late\"'", [2]],
    ['why = "it\'s ""late"""', [2]],
    ["size >= 64KiB", [1, 2]],
    ["size = 1024", [0]],
    ["size = 1KiB", [0]],
    ["size != 1KiB", [1, 2, 3]],
    ["ok", [0, 3]],
    ["not ok", [1]],
    ["ok = false", [1]],
    ["[two words] > 1", [1]],
    ["constructor = 3", [2]],
    ["us < limit_us", [3]],
    ["us < 1 or us > 500 and name = 0-rail0", [3]],
    ["(us < 1 or us > 500) and name = mesh:4x4", []],
  ])("%s", (text, expected) => {
    expect(taken(text)).toEqual(expected);
  });

  it.each<[string, string]>([
    ["", "where ends where it needs the name of a column"],
    ["uss < 3", 'where, column 1 is "uss", not a column; did you mean "us"?'],
    ["us < ", "where ends where it needs a number, a text or a column"],
    ["us < abc", 'where, column 6 is "abc"; it must be a number or a size, as us has them'],
    ["ok = 3", "where, column 6 is 3; it must be true or false"],
    ["us = true", 'where, column 6 is "true"; it must be a number, as us has them'],
    ["us < 3 us", 'where, column 8 is "us"; it must be and, or, or the end'],
    ["us", "where ends where it needs a comparison behind us"],
    ["us = null", 'where, column 6 is "null"; it must be after "is"'],
    ["(us < 3", "where ends where it needs and, or, or a closing bracket"],
    ["us in 3", "where, column 7 is 3; it must be a list in brackets"],
    ["why like", "where ends where it needs a pattern"],
    ["why = 'abc", "where, column 7"],
    ["us ! 3", 'where, column 4 is "!"'],
    [`${"(".repeat(300)}us < 3`, "within at most 200 brackets"],
    [`${"not ".repeat(5000)}ok`, "within at most 200 brackets"],
  ])("refuses %s", (text, expected) => {
    expect(() => readCondition(text, columns, "where")).toThrow(expected);
  });

  it("with many stars takes no time", () => {
    const begin = performance.now();
    expect(isLike("a".repeat(5000), `${"%a".repeat(50)}b`)).toBe(false);
    expect(performance.now() - begin).toBeLessThan(1000);
    expect(isLike("a😀b", "a_b")).toBe(true);
    expect(isLike("ab", "a_b")).toBe(false);
  });
});

describe("a cell", () => {
  const asked = (text: string): number[] => {
    const condition = readCell(text, columns, "cell");
    return ROWS.flatMap((row, i) => (condition(row) === true ? [i] : []));
  };

  it("is named by its columns, with brackets and comparisons in the values", () => {
    expect(asked("name=L(K(4,4)), size=64KiB")).toEqual([2]);
    expect(asked("name = mesh:4x4,us=10")).toEqual([0]);
    expect(asked("why=null, name='mesh:4x4'")).toEqual([0]);
    expect(asked("size=1024")).toEqual([0]);
    expect(asked("size='1024'")).toEqual([]);
    expect(asked("ok=true, us=1000")).toEqual([3]);
  });

  it("says what it needs", () => {
    expect(() => asked("name")).toThrow("cell, column 1");
    expect(() => asked("us=10, nme=x")).toThrow('cell, column 8 is "nme", not a column; did you mean "name"?');
  });
});

it("orders cells as people do, whatever comes together", () => {
  const cells = [null, "node10", "1GiB", "node9", 3, true, "64KiB", -1, "node09", "é", false, "node"];
  const sorted = [...cells].sort(compareCells);
  expect(sorted).toEqual([false, true, -1, 3, "64KiB", "1GiB", "node", "node09", "node9", "node10", "é", null]);
  for (const a of cells)
    for (const b of cells) {
      expect(Math.sign(compareCells(a, b)) + Math.sign(compareCells(b, a))).toBe(0);
      for (const c of cells)
        if (compareCells(a, b) <= 0 && compareCells(b, c) <= 0) expect(compareCells(a, c)).toBeLessThanOrEqual(0);
    }
});
