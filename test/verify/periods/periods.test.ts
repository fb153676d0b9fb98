import { beforeAll, describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { type PeriodSchedule, periodEndPs } from "../../../src/model/periods/period-schedule.ts";
import { stepsOfPeriods } from "../../../src/model/periods/period-steps.ts";
import { simulatePeriods } from "../../../src/simulate/periods/periods.ts";
import { simulateSchedule } from "../../../src/simulate/steps/replay.ts";
import { verifyPeriods } from "../../../src/verify/periods/periods.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { PERIOD_MUTATIONS, periodCases, periodMutant } from "../../support/period-cases.ts";
import { brokenPeriods, lastArrivalPs } from "../../support/period-oracle.ts";
import { runs } from "../../support/runs.ts";

const MUTANTS_EACH = 40;
let cases: readonly PeriodSchedule[];
beforeAll(async () => {
  cases = await periodCases(runs(60));
});

describe("verifyPeriods and rounds carried out one by one", () => {
  it("find nothing wrong with what the maker makes, nor do the judge and the replay of its transfers", () => {
    for (const [number, schedule] of cases.entries()) {
      expect(verifyPeriods(schedule).violations, `${number}`).toEqual([]);
      expect(brokenPeriods(schedule), `${number}`).toBeNull();
      const { ps, linkBusyPs, model } = simulatePeriods(schedule);
      expect([ps, periodEndPs(schedule)], `${number}`).toEqual([lastArrivalPs(schedule), ps]);
      const steps = stepsOfPeriods(schedule);
      expect(verifySchedule(steps).violations, `${number}`).toEqual([]);
      const replayed = simulateSchedule(steps, { switching: "cut-through" });
      expect(replayed.ps, `${number}`).toBeLessThanOrEqual(ps);
      expect([linkBusyPs, model], `${number}`).toEqual([replayed.linkBusyPs, replayed.model]);
    }
  });

  it("agree on mutants of every field", () => {
    const seen = new Map<string, number>();
    const count = (key: string): void => void seen.set(key, (seen.get(key) ?? 0) + 1);
    for (const [number, plain] of cases.entries()) {
      const draws = random(number, 52);
      for (let m = 0; m < MUTANTS_EACH; m++) {
        const { name, schedule } = periodMutant(plain, draws);
        const broken = brokenPeriods(schedule);
        const { violations, violationCount } = verifyPeriods(schedule);
        const label = `schedule ${number}, mutant ${m}: ${name}; ${broken}; ${violations[0]?.message}`;
        expect(violationCount === 0, label).toBe(broken === null);
        for (const { message } of violations) expect(message, label).not.toMatch(/undefined|NaN ps at|\n/);
        count(name);
        count(broken ?? "right");
        for (const kind of new Set(violations.map((v) => v.kind))) count(kind);
      }
    }
    for (const kind of [
      "right",
      "sums",
      "meets",
      "roots",
      "entry",
      "edges",
      "start",
      "period",
      "trees",
      "lengths",
      "collective",
    ])
      expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(3);
    for (const kind of ["malformed", "absent-chunk", "route-conflict", "not-a-tree"])
      expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(5);
    for (const name of Object.keys(PERIOD_MUTATIONS)) expect(seen.get(name) ?? 0, name).toBeGreaterThan(5);
  });
});
