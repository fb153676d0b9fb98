import { beforeAll, describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { type PeriodSchedule, periodEndPs } from "../../../src/model/periods/period-schedule.ts";
import { stepsOfPeriods } from "../../../src/model/periods/period-steps.ts";
import type { RouteSet } from "../../../src/model/routes/routes.ts";
import { simulatePeriods } from "../../../src/simulate/periods/periods.ts";
import { simulateSchedule } from "../../../src/simulate/steps/replay.ts";
import { verifyPeriods } from "../../../src/verify/periods/periods.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { PERIOD_MUTATIONS, periodCases, periodMutant } from "../../support/period-cases.ts";
import { brokenPeriods, lastArrivalPs } from "../../support/period-oracle.ts";
import { plainPeriods } from "../../support/plain-periods.ts";
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

  it("name what is wrong with routes: shares that do not fit, NPUs on the way, and with the whole", () => {
    const plain = plainPeriods();
    const kinds = (schedule: PeriodSchedule) =>
      verifyPeriods(schedule).violations.map(({ kind, message }) => [kind, message]);
    const { routes } = plain;
    expect(kinds(plain)).toEqual([]);
    // the same links once more, as routes that nobody uses
    const twice: { -readonly [Key in keyof RouteSet]: RouteSet[Key] } = { ...routes };
    for (const key of ["source", "target", "links"] as const)
      twice[key] = Int32Array.of(...routes[key], ...routes[key]);
    for (const key of ["shareNum", "shareDen"] as const) twice[key] = new Float64Array(8).fill(1);
    twice.linkOffset = Int32Array.from({ length: 9 }, (_, i) => i);
    expect(kinds({ ...plain, routes: twice })[0]).toEqual([
      "link-conflict",
      "routes over link 0>1 take 2 times its capacity when they are used together",
    ]);
    const through = {
      ...routes,
      source: Int32Array.of(...routes.source, 0, 2),
      target: Int32Array.of(...routes.target, 2, 0),
      linkOffset: Int32Array.of(...routes.linkOffset, 6, 8),
      links: Int32Array.of(...routes.links, 0, 2, 3, 1),
      shareNum: new Float64Array(8).fill(1),
      shareDen: new Float64Array(8).fill(1),
    };
    expect(kinds({ ...plain, routes: through, there: Int32Array.of(0, 2, 4), back: Int32Array.of(1, 3, 5) })).toEqual([
      ["malformed", "edge 2 passes NPU 1, which would store what it forwards"],
      ["malformed", "edge 2 passes NPU 1, which would store what it forwards"],
    ]);
    expect(kinds({ ...plain, periodPs: 2 ** 53 - 1 })[0]?.[1]).toMatch(/may end after 2\^53 ps/);
    expect(() => verifyPeriods(plain, { limit: -1 })).toThrow(/limit/);
    expect(kinds({ ...plain, periodPs: 200_000 })[0]).toEqual([
      "route-conflict",
      "rank 0 sends up tree 0 on link 0>1 at 0 us, which meets what rank 0 sends down tree 1 on link 0>1 at 0.34 us: 0.1 us each, again every 0.2 us",
    ]);
  });
});
