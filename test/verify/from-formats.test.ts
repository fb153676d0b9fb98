import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { jointScheduleJsonParts, scheduleToJson } from "../../src/export/schedules/schedule-json.ts";
import { readAnySchedule } from "../../src/import/schedules/schedule-json.ts";
import { type JointSchedule, tenantSchedule } from "../../src/model/joint/joint-schedule.ts";
import type { StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { verifyJoint } from "../../src/verify/joint.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { fileCases } from "../support/formats-cases.ts";
import { readScheduleFile } from "../support/formats-file.ts";
import { isCorrect } from "../support/formats-judge.ts";
import { mutant } from "../support/mutants.ts";

const FILES = 100;
const MUTANTS = 6;

describe("the verifier and a judge written from FORMATS.md", () => {
  it(`agree on ${FILES} random files and ${FILES * MUTANTS} mutants of them`, async () => {
    const seed = fc.readConfigureGlobal().seed as number;
    const draws = random(seed, 0x0d6e);
    let [correct, wrong] = [0, 0];
    const agree = (origin: string, text: string, isRight: boolean): void => {
      expect({ origin, right: isCorrect(readScheduleFile(text)) }, text).toEqual({ origin, right: isRight });
      if (isRight) correct++;
      else wrong++;
    };
    for (const { origin, text } of await fileCases(FILES, seed)) {
      const schedule = readAnySchedule(text, "s.json") as StepSchedule | JointSchedule;
      for (let m = 0; m <= MUTANTS; m++) {
        if ("tenants" in schedule) {
          const at = draws.below(schedule.tenants.length);
          const { topology, routes, ...other } =
            m === 0 ? tenantSchedule(schedule, at) : mutant(tenantSchedule(schedule, at), draws);
          const changed = { ...schedule, tenants: schedule.tenants.with(at, other) };
          agree(origin, [...jointScheduleJsonParts(changed)].join(""), verifyJoint(changed).violationCount === 0);
        } else {
          const changed = m === 0 ? schedule : mutant(schedule, draws);
          agree(origin, scheduleToJson(changed), verifySchedule(changed).violationCount === 0);
        }
      }
    }
    expect(correct).toBeGreaterThan(FILES);
    expect(wrong).toBeGreaterThan(2 * FILES);
  });
});
