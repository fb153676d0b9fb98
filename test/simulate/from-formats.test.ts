import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { readAnySchedule } from "../../src/import/joint-schedule-json.ts";
import type { JointSchedule } from "../../src/model/joint-schedule.ts";
import type { StepSchedule } from "../../src/model/step-schedule.ts";
import { switchingFor } from "../../src/pipeline.ts";
import { random } from "../../src/random.ts";
import { simulateReference } from "../../src/simulate/reference.ts";
import { simulateJoint, simulateSchedule } from "../../src/simulate/replay.ts";
import { type FileCase, fileCases, shuffled } from "../support/formats-cases.ts";
import { readScheduleFile } from "../support/formats-file.ts";
import { defaultSwitching, replayFile } from "../support/formats-replay.ts";

const FILES = 500;
const SWITCHINGS = ["cut-through", "store-and-forward"] as const;

type Steps = StepSchedule | JointSchedule;
const read = (text: string): Steps => readAnySchedule(text, "s.json") as Steps;
const isJoint = (steps: Steps): steps is JointSchedule => "tenants" in steps;

/** Returns what the simulator says, as the replay from FORMATS.md does. */
function simulated(steps: Steps, switching: (typeof SWITCHINGS)[number]) {
  const options = { switching, timeline: true };
  const { startPs, endPs, ps } = isJoint(steps) ? simulateJoint(steps, options) : simulateSchedule(steps, options);
  return { start: [...(startPs as Float64Array)], end: [...(endPs as Float64Array)], ps };
}

describe("the simulator and a replay written from FORMATS.md", () => {
  let cases: FileCase[] = [];
  beforeAll(async () => {
    cases = await fileCases(FILES, fc.readConfigureGlobal().seed as number);
  }, 120_000);

  it.each(SWITCHINGS)(`give every transfer of ${FILES} random files the same times, %s`, (switching) => {
    for (const { origin, text } of cases) {
      const { ps, ...times } = simulated(read(text), switching);
      const expected = replayFile(readScheduleFile(text), switching);
      expect({ origin, ...times }, text).toEqual({ origin, ...expected });
      expect(ps).toBe(Math.max(0, ...expected.end));
    }
  });

  it("agree in whole nanoseconds, by --reference", () => {
    for (const { origin, text } of cases) {
      const steps = read(text);
      if (isJoint(steps)) continue;
      const { startNs, endNs } = simulateReference(steps);
      const expected = replayFile(readScheduleFile(text), "reference");
      expect({ origin, start: [...startNs], end: [...endNs] }, text).toEqual({ origin, ...expected });
    }
  });

  it("take the same way of switching for the default", () => {
    const relays = cases.filter(({ text }) => {
      const expected = defaultSwitching(readScheduleFile(text));
      expect(switchingFor(read(text))).toBe(expected);
      return expected === "store-and-forward";
    });
    expect(relays.length).toBeGreaterThan(FILES / 20);
    expect(cases.length - relays.length).toBeGreaterThan(FILES / 4);
  });

  it("make of a file what synth said of it", () => {
    let said = 0;
    for (const { origin, text, simulatedPs } of cases) {
      if (simulatedPs === undefined) continue;
      said++;
      const { end } = replayFile(readScheduleFile(text));
      expect({ origin, ps: Math.max(0, ...end) }, text).toEqual({ origin, ps: simulatedPs });
    }
    expect(said).toBeGreaterThan(FILES / 4);
  });

  it("do not heed the order of the rows in a file", () => {
    const draws = random(fc.readConfigureGlobal().seed as number, 0x0d);
    for (const { origin, text } of cases) {
      const other = shuffled(text, draws);
      for (const switching of SWITCHINGS) {
        const times = simulated(read(other), switching);
        expect({ origin, ...times }, text).toEqual({ origin, ...simulated(read(text), switching) });
      }
    }
  });

  it("cover every kind of case", () => {
    const origins = new Set(cases.map(({ origin }) => origin.split(" ")[0]));
    expect(origins.size).toBeGreaterThan(12);
    const files = cases.map(({ text }) => readScheduleFile(text));
    const having = (test: (file: (typeof files)[number]) => boolean): number => files.filter(test).length;
    const shares = having(({ routes }) => routes.some(({ hops }) => hops.some(({ share }) => share[0] !== share[1])));
    const ties = having(({ rows }) => rows.some((row, i) => i > 0 && row.startPs === rows[i - 1]?.startPs));
    const sums = having(({ chunks }) => chunks.some((chunk) => chunk.sums));
    expect([shares, ties, sums].filter((count) => count > FILES / 10)).toHaveLength(3);
  });
});
