import { beforeAll, describe, expect, it } from "vitest";
import type { InputError } from "../../../src/base/errors.ts";
import { periodsToJson } from "../../../src/export/schedules/periods-json.ts";
import { bytesSource, readBys } from "../../../src/import/schedules/bys.ts";
import { readPeriods } from "../../../src/import/schedules/periods-json.ts";
import { readAnySchedule } from "../../../src/import/schedules/schedule-json.ts";
import { type PeriodSchedule, tickPsOf } from "../../../src/model/periods/period-schedule.ts";
import { verifyPeriods } from "../../../src/verify/periods/periods.ts";
import { joined } from "../../support/bys-files.ts";
import { periodCases } from "../../support/period-cases.ts";
import { plainPeriods } from "../../support/plain-periods.ts";
import { refusalFrom } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";

let cases: readonly PeriodSchedule[];
beforeAll(async () => {
  cases = [plainPeriods(), ...(await periodCases(runs(20)))];
});

/** Returns the place that a reader refuses. */
const refusedAt = (read: () => unknown): string | undefined => (refusalFrom(read) as InputError).place;

const COLUMNS = ["there", "back", "entry", "startPs", "periodPs"] as const;

describe("files of periods", () => {
  it("are read back as they were written, JSON and .bys", () => {
    for (const schedule of cases) {
      const text = periodsToJson(schedule, { note: "periods" });
      const bytes = joined(schedule);
      for (const read of [
        readPeriods(text, "p.json"),
        readAnySchedule(text, "p.json"),
        readBys(bytesSource(bytes), "p.bys"),
      ] as PeriodSchedule[]) {
        expect(periodsToJson(read, { note: "periods" })).toBe(text);
        for (const key of COLUMNS) expect(read[key]).toEqual(schedule[key]);
        expect(joined(read)).toEqual(bytes);
        expect(verifyPeriods(read).violations).toEqual([]);
      }
    }
  });

  it("keep starts of any length", () => {
    const plain = plainPeriods();
    const far = { ...plain, startPs: plain.startPs.map((ps) => (ps < 0 ? ps : ps + 2 ** 33 + 1)) };
    expect(tickPsOf(far)).toBe(1);
    expect(readBys(bytesSource(joined(far)), "p.bys")).toMatchObject({ startPs: far.startPs, entry: far.entry });
    expect(readPeriods(periodsToJson(far), "p.json").startPs).toEqual(far.startPs);
  });

  it("can be read by people", () => {
    const text = periodsToJson(plainPeriods());
    expect(text.slice(text.indexOf('  "periods"'))).toBe(`  "periods": {
    "periodPs": 240000,
    "tickPs": 20000,
    "there": [0,2],
    "back": [1,3],
    "trees": [
      { "edge": [0,-1,1],
        "up": [0,-1,0],
        "down": [6,-1,6] },
      { "edge": [-1,0,1],
        "up": [-1,11,5],
        "down": [-1,17,23] }
    ]
  }
}
`);
  });

  it.each([
    ['"periodPs": 240000', '"periodPs": 0', "periods.periodPs"],
    ['"tickPs": 20000', '"tickPs": 240001', "periods.tickPs"],
    ['"there": [0,2]', '"there": [0,4]', "periods.there[1]"],
    ['"back": [1,3]', '"back": [1]', "periods.back"],
    ['"edge": [0,-1,1]', '"edge": [0,-1,2]', "periods.trees[0].edge[2]"],
    ['"edge": [0,-1,1]', '"edge": [0,-1]', "periods.trees[0].edge"],
    ['"up": [0,-1,0]', '"up": [0,0,0]', "periods.trees[0].up[1]"],
    ['"down": [-1,17,23]', '"down": [-1,-1,23]', "periods.trees[1].down[1]"],
    ['"down": [-1,17,23]', '"down": [-1,17.5,23]', "periods.trees[1].down[1]"],
    ['"down": [-1,17,23]', '"down": [-1,17,900719925475]', "periods.trees[1].down[2]"],
    ['"trees": [', '"forest": [', "periods.trees"],
  ])("with %s changed to %s are refused at %s", (from, to, place) => {
    const text = periodsToJson(plainPeriods());
    expect(text).toContain(from);
    expect(refusedAt(() => readPeriods(text.replace(from, to), "p.json"))).toBe(`p.json: ${place}`);
  });

  it("of .bys are refused where a number of a tree is none", () => {
    const bad = plainPeriods();
    const bytes = joined(bad);
    // every bit of the file is under a checksum
    for (let at = 0; at < bytes.length; at += 7) {
      const changed = bytes.slice();
      changed[at] ^= 4;
      expect(refusalFrom(() => readBys(bytesSource(changed), "p.bys"))).toBeDefined();
    }
  });

  it("have no ports for edges that are elsewhere", () => {
    const plain = plainPeriods();
    const wrong = { ...plain, entry: Int32Array.of(1, -1, 1, -1, 0, 1) };
    expect(verifyPeriods(wrong).violations).toMatchObject([{ kind: "malformed", tree: 0, npu: 0 }]);
    expect(refusedAt(() => joined(wrong))).toBe("the edge of tree 0");
    expect(readPeriods(periodsToJson(wrong), "p.json").entry).toEqual(wrong.entry);
  });
});
