import { describe, expect, it } from "vitest";
import { hasMergedSends, mergedCounts } from "../../../src/model/steps/step-schedule.ts";
import { line, make, row, task } from "../../support/hand-made-schedules.ts";
import { mergedSchedule } from "../../support/merged-schedules.ts";
import { rowsOf } from "../../support/schedule-rows.ts";
import { simpleSchedule } from "../../support/simple-schedules.ts";

describe("mergedCounts", () => {
  it("counts the rows that have route, start and end of each row", () => {
    let merged = 0;
    for (let seed = 0; seed < 100; seed++) {
      const schedule = mergedSchedule(seed);
      const rows = rowsOf(schedule);
      const alike = rows.map(
        (a) => rows.filter((b) => a.route === b.route && a.start === b.start && a.end === b.end).length,
      );
      const most = Math.max(0, ...alike);
      expect(hasMergedSends(schedule)).toBe(most > 1);
      expect(mergedCounts(schedule)).toEqual(most > 1 ? Int32Array.from(alike) : null);
      if (most > 1) merged++;
    }
    expect(merged).toBeGreaterThan(40);
  });

  it("is null where every transfer is by itself", () => {
    for (let seed = 0; seed < 20; seed++) expect(mergedCounts(simpleSchedule(seed))).toBe(null);
    expect(mergedCounts(make(line, task("broadcast", 3), []))).toBe(null);
    // equal starts alone make no message, nor do equal ends
    const rows = [row(0, 0, 0, 0, 2), row(1, 0, 0, 0, 3), row(2, 0, 1, 0, 2)];
    expect(mergedCounts(make(line, task("scatter", 3), rows))).toBe(null);
  });
});
