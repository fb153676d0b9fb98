import { describe, expect, it } from "vitest";
import { InputError } from "../../src/base/errors.ts";
import { toUs } from "../../src/model/numbers/units.ts";
import type { Program } from "../../src/model/program/program.ts";
import type { Schedule } from "../../src/model/slots/slot-schedule.ts";
import { stepsOf } from "../../src/model/steps/schedule.ts";
import type { StepSchedule } from "../../src/model/steps/step-schedule.ts";
import type { ProgramOptions } from "../../src/request/from-texts.ts";
import { differencesOf } from "../../src/run/programs/differences.ts";
import { lowered } from "../../src/run/programs/programs.ts";
import { switchingFor } from "../../src/simulate/simulate.ts";
import { simulateSchedule } from "../../src/simulate/steps/replay.ts";
import { plainEngine, STEP_CASES, scheduleOf, titleOf } from "../support/lowering-cases.ts";
import { quick } from "../support/runs.ts";

/** Programs that send a schedule's transfers one by one; how many of them, in percent, take its time with nothing added. */
const TARGETS: readonly (readonly [ProgramOptions, number])[] = [
  [{ runtime: "msccl", placement: "in", joining: "apart", order: "planned" }, 80],
  [{ runtime: "msccl", placement: "in", joining: "apart", order: "simulated" }, 75],
  [{ runtime: "mpi", order: "planned", parts: 1024 }, 80],
  [{ runtime: "mscclpp", placement: "in", instances: 1 }, 60],
];

/** Returns a schedule's program; null where it cannot be made. */
function programOf(schedule: StepSchedule, target: ProgramOptions): Program | null {
  try {
    return lowered(schedule, target);
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}

describe("programs of schedules of transfers", async () => {
  const engine = await plainEngine();
  const cases = quick([...STEP_CASES], ({ network }) => network !== "torus:4x4");
  const schedules: [string, StepSchedule][] = [];
  for (const what of cases) schedules.push([titleOf(what), stepsOf((await scheduleOf(engine, what)) as Schedule)]);
  await engine.close();

  it.each(TARGETS)(
    "%o: differ by what is counted; %d in 100 of those that send its messages by nothing else",
    (target, least) => {
      const met = { equal: 0, instructions: 0, pieces: 0 };
      for (const [title, schedule] of schedules) {
        const { ps } = simulateSchedule(schedule, { switching: switchingFor(schedule) });
        const program = programOf(schedule, target);
        if (program === null) continue;
        const why = differencesOf(program, schedule, {}, toUs(ps));
        expect(why?.fromPs, title).toBe(ps);
        expect(
          why?.differences.reduce((sum, one) => sum + one.ps, ps),
          title,
        ).toBe(why?.ps);
        const first = why?.differences[0];
        if (first?.cause === "pieces") met.pieces++;
        else if (first?.ps === 0) met.equal++;
        else met.instructions++;
      }
      expect(met.pieces).toBeLessThan(schedules.length / 4);
      expect(met.equal / (met.equal + met.instructions)).toBeGreaterThanOrEqual(least / 100);
    },
  );
});
