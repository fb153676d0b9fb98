import { describe, expect, test } from "vitest";
import { random } from "../../src/base/random.ts";
import { expandSlots } from "../../src/model/slots/slot-schedule.ts";
import { verifySlots } from "../../src/verify/slots/slot-schedule.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { judge } from "../support/schedule-oracle.ts";
import { built, slotCases } from "../support/slot-cases.ts";
import { slotMutant } from "../support/slot-mutants.ts";
import { expansionOf } from "../support/slot-oracle.ts";

const CASES = slotCases(90);
const MUTANTS_EACH = 25;

describe("verifySlots and the expansion, transfer by transfer", () => {
  test("find nothing wrong with correct schedules of all kinds", () => {
    for (const [number, plain] of CASES.entries()) {
      const schedule = built(plain);
      const name = `${plain.collective.kind} ${number}`;
      expect(verifySlots(schedule).violations, name).toEqual([]);
      expect(expansionOf(schedule).faults, name).toEqual([]);
      expect(verifySchedule(expandSlots(schedule)).violations, name).toEqual([]);
    }
  });

  test(`agree on ${CASES.length * MUTANTS_EACH} mutants`, () => {
    const seen = new Map<string, number>();
    const count = (key: string): void => void seen.set(key, (seen.get(key) ?? 0) + 1);
    for (const [number, plain] of CASES.entries()) {
      const draws = random(number, 32);
      for (let m = 0; m < MUTANTS_EACH; m++) {
        const { name, schedule } = slotMutant(plain, draws);
        const { faults, steps } = expansionOf(schedule);
        const right = faults.length === 0 && steps !== null && verifySchedule(steps).violationCount === 0;
        const { violations, violationCount } = verifySlots(schedule);
        const label = `schedule ${number}, mutant ${m}: ${name}; ${faults.join()}; ${violations[0]?.message}`;
        expect(violationCount === 0, label).toBe(right);
        if (steps !== null && faults.length === 0 && steps.startPs.length < 60) {
          expect(judge(steps).valid, label).toBe(right);
        }
        for (const { message } of violations) expect(message, label).not.toMatch(/undefined|NaN/);
        count(right ? "right" : faults.length > 0 ? "form" : "content");
        for (const kind of new Set(violations.map((v) => v.kind))) count(kind);
        for (const fault of new Set(faults)) count(`form: ${fault}`);
        // memory for so few decoded rows changes nothing
        const cacheBytes = draws.below(6) * 2 * plain.origin.length;
        expect(verifySlots(schedule, { cacheBytes }).violations, label).toEqual(violations);
      }
    }
    const kinds = ["right", "form", "content", "malformed", "too-fast", "absent-chunk"];
    for (const kind of [...kinds, "missing-chunk", "missing-contribution"]) {
      expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(50);
    }
    for (const fault of ["origins", "length", "twice", "range", "slots", "end", "port", "bits"]) {
      expect(seen.get(`form: ${fault}`) ?? 0, fault).toBeGreaterThan(20);
    }
  });
});
