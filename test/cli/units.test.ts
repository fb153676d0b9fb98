import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { InfeasibleError } from "../../src/base/errors.ts";
import type { Context } from "../../src/cli/context.ts";
import { failureOf } from "../../src/cli/failure.ts";
import { outputFile } from "../../src/cli/files/output-file.ts";
import { progressDisplay, progressLine } from "../../src/cli/progress.ts";
import { finished, styleOf } from "../../src/cli/reports/style.ts";
import { aligned } from "../../src/cli/reports/text.ts";
import { showsColors } from "../../src/cli/terminal.ts";
import { grouped, percent, roundedSize, significant } from "../../src/report/amounts.ts";
import { degradations, wholeNumber } from "../../src/request/values.ts";
import { unexpected } from "../support/refusals.ts";

describe("wholeNumber", () => {
  it.each([
    ["8", 8],
    ["1e9", 1e9],
    ["0", 0],
  ])("reads %s", (text, value) => expect(wholeNumber(text, "--x", 0)).toBe(value));

  it.each(["", "-1", "1.5", "1e-3", "0x10", "1e99", "99999999999999999", " 1", "Infinity"])("refuses %j", (text) => {
    expect(() => wholeNumber(text, "--x", 0)).toThrow(
      /^--x is .*; it must be (?:a whole number, 0 or more|at least 0|less than 2\^53)$/,
    );
  });
});

describe("degradations", () => {
  it("cuts at the last equals sign", () => {
    expect(degradations("a-b=0.5, c=d>e=1e-1", "--degrade")).toEqual([
      ["a-b", 0.5],
      ["c=d>e", 0.1],
    ]);
  });
  it.each(["", "a", "a=", "=1", "a=b", "a=1,,b=1", "a=NaN", "a=0x1"])("refuses %j", (text) => {
    expect(() => degradations(text, "--degrade")).toThrow("--degrade is ");
  });
});

describe("words and numbers", () => {
  it("groups the digits of whole numbers as people of English do", () => {
    const numbers = [0, 7, 999, 1000, 12345, 123456, 1234567, 1073741824, -1, -1000, -123456];
    expect(numbers.map(grouped)).toEqual(numbers.map((number) => number.toLocaleString("en")));
  });
  it("rounds shares down, so that 100 % means all of it", () => {
    expect([1, 0.99999, 0.123456, 0.57, 0.00005, 0].map(percent)).toEqual([
      "100 %",
      "99.99 %",
      "12.34 %",
      "57 %",
      "<0.01 %",
      "0 %",
    ]);
  });
  it("shows four significant digits without exponents", () => {
    expect([0.056888, 1234567, 107.374, 50].map((value) => significant(value))).toEqual([
      "0.05689",
      "1234567",
      "107.4",
      "50",
    ]);
    expect([roundedSize(0.5), roundedSize(7456540), roundedSize(2 ** 30)]).toEqual(["0.5 B", "7.111 MiB", "1 GiB"]);
  });
  it("aligns columns and leaves no blanks at the end", () => {
    expect(
      aligned(
        [
          ["a", "1", "x y"],
          ["bb", "10", ""],
        ],
        ["left", "right"],
      ),
    ).toEqual(["a    1  x y", "bb  10"]);
  });
  it("shows colours on terminals only, and never with NO_COLOR", () => {
    expect(showsColors({ isTTY: true }, {})).toBe(true);
    expect(showsColors({ isTTY: false }, {})).toBe(false);
    expect(showsColors({ isTTY: true }, { NO_COLOR: "1" })).toBe(false);
    expect(showsColors({ isTTY: true }, { TERM: "dumb" })).toBe(false);
    const shown = [false, true].map((colors) => finished(styleOf(colors).good("x")));
    expect(shown).toEqual(["x", "\u001b[32mx\u001b[39m"]);
  });
  it("lets no name bring colours of its own, on a terminal with colours either", () => {
    const name = "\u001b[32mcorrect\u001b[39m\nx";
    const escaped = "\\u001b[32mcorrect\\u001b[39m\\nx";
    expect(finished(`${styleOf(true).bad(name)} ${name}`)).toBe(`\u001b[31m${escaped}\u001b[39m ${escaped}`);
  });
});

describe("failureOf", () => {
  it("takes message and exit code of our errors", () => {
    expect(failureOf(new InfeasibleError("no way"))).toMatchObject({ code: 3, kind: "infeasible", message: "no way" });
  });
  it("keeps any other error on one line, with exit code 1", () => {
    expect(failureOf(new TypeError("x is\nundefined"))).toMatchObject({
      code: 1,
      kind: "internal",
      message: "internal error: x is",
    });
  });
  it("says when memory ran out", () => {
    const error = (() => {
      try {
        return new Float64Array(2 ** 53 - 1);
      } catch (caught) {
        return caught;
      }
    })();
    expect(failureOf(error)).toMatchObject({
      code: 1,
      kind: "memory",
      message: expect.stringMatching(/^out of memory: /),
    });
  });
});

describe("progress", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("tells how far, the rate and the time left", () => {
    const what = { what: "synthesizing all-gather", done: 12, total: 64, unit: "trials" };
    expect(progressLine(what, 6)).toBe("synthesizing all-gather  12 of 64 trials  6.0 s  2/s  about 26 s left");
    expect(progressLine({ ...what, done: 2 }, 90)).toBe(
      "synthesizing all-gather  2 of 64 trials  1 min 30 s  45 s each  about 46 min 30 s left",
    );
    expect(progressLine({ what: "verifying" }, 1)).toBe("verifying  1.0 s");
    expect(progressLine({ what: "x", done: 0, total: 9, unit: "y" }, 0)).toBe("x  0 of 9 y  0.0 s");
  });

  it("writes one line again on a terminal, no wider than it, and takes it away", () => {
    const written: string[] = [];
    const display = progressDisplay({ write: (text) => written.push(text), columns: 11 }, true);
    display.show({ what: "verifying" });
    vi.advanceTimersByTime(300);
    expect(written).toEqual([]);
    vi.advanceTimersByTime(300);
    expect(written.at(-1)).toBe("\r\u001b[2Kverifying ");
    display.close();
    expect(written.at(-1)).toBe("\r\u001b[2K");
    const lines = written.length;
    vi.advanceTimersByTime(1000);
    expect(written).toHaveLength(lines);
  });

  it("writes plain lines, one every few seconds, elsewhere", () => {
    const written: string[] = [];
    const display = progressDisplay({ write: (text) => written.push(text) }, false);
    display.show({ what: "verifying" });
    vi.advanceTimersByTime(21_000);
    display.close();
    expect(written).toHaveLength(4);
    expect(written[0]).toBe("verifying  5.0 s\n");
  });
});

describe("outputFile", () => {
  let folder: string;
  const temporary = new Set<string>();
  const context = {
    inputs: [] as readonly string[],
    uninterrupted: (work) => work(),
    temporary: {
      add: (path: string) => void temporary.add(path),
      remove: (path: string) => void temporary.delete(path),
    },
  } as Context;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "banyan-out-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("writes all parts, whatever their length, and leaves no other file", () => {
    const parts = ["a".repeat(3), "", "ü".repeat(700_000), "b".repeat(2_000_000), "end"];
    const bytes = outputFile(context, join(folder, "x"), "-o").write(parts);
    const text = readFileSync(join(folder, "x"), "utf8");
    expect([text === parts.join(""), bytes, readdirSync(folder), temporary.size]).toEqual([
      true,
      Buffer.byteLength(text),
      ["x"],
      0,
    ]);
  });

  it("keeps the old file and removes its own when the parts fail half-way", () => {
    const path = join(folder, "x");
    writeFileSync(path, "old");
    const output = outputFile(context, path, "-o");
    function* parts() {
      yield "x".repeat(3_000_000);
      throw new Error("half-way");
    }
    expect(() => output.write(parts())).toThrow("half-way");
    expect([readFileSync(path, "utf8"), readdirSync(folder), temporary.size]).toEqual(["old", ["x"], 0]);
  });

  it("writes bytes and texts in their order and says how far it is", () => {
    const parts = ["a", Uint8Array.of(0, 255, 10), "b", "c", new Uint8Array(2 ** 24 + 5), "end"];
    const heard: number[] = [];
    const bytes = outputFile(context, join(folder, "x"), "-o").write(parts, (done) => heard.push(done));
    const expected = Buffer.concat(parts.map((part) => Buffer.from(part)));
    expect(readFileSync(join(folder, "x")).equals(expected)).toBe(true);
    expect([bytes, heard]).toEqual([expected.length, [1, 4, 6, 2 ** 24 + 11, expected.length]]);
  });

  it("refuses what has no room on the disk", () => {
    const path = join(folder, "x");
    const output = outputFile(context, path, "-o");
    output.refuseWithoutRoom(1);
    expect(() => output.refuseWithoutRoom(2 ** 60)).toThrow(
      expect.objectContaining({
        mistake: "unexpected",
        place: "-o",
        expected: expect.stringContaining("1048576 TiB"),
        received: expect.stringMatching(/x where [\d.]+ [KMGT]iB are free$/),
      }),
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it("names a full disk", () => {
    if (!existsSync("/dev/full")) return;
    const output = outputFile(context, "/dev/full", "-o");
    expect(() => output.write(["x"])).toThrow(unexpected("-o", "/dev/full"));
  });
});
