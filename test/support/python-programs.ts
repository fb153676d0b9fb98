import { describe, expect, it } from "vitest";
import { InputError } from "../../src/base/errors.ts";
import { roundCount, roundsOf } from "../../src/model/messages/rounds.ts";
import { stepsOf } from "../../src/model/steps/schedule.ts";
import { OP_COPY, type StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { make, ring, ringAllReduce, task } from "./hand-made-schedules.ts";
import { type LoweringCase, plainEngine, scheduleOf, titleOf } from "./lowering-cases.ts";
import { runPython, withoutPython } from "./python-run.ts";
import { unexpected } from "./refusals.ts";
import { ringSchedule } from "./ring-schedule.ts";
import { simpleSchedule } from "./simple-schedules.ts";

type Writer = (schedule: StepSchedule, name: string) => Iterable<string>;

const CASES: readonly LoweringCase[] = [
  ...(["allgather", "reducescatter", "allreduce", "broadcast", "reduce", "gather", "scatter", "alltoall"] as const).map(
    (collective) => ({ network: "mesh:2x2", collective, algorithm: "tacos", chunks: 2 }),
  ),
  { network: "ring:5", collective: "allreduce", algorithm: "ring", chunks: 3 },
  { network: "hypercube:3", collective: "alltoall", algorithm: "direct" },
  { network: "ring:5", collective: "allgather", algorithm: "forestcoll" },
  { network: "switch:5", collective: "allreduce", algorithm: "forestcoll" },
];

/** Returns random schedules that a program can be written of: one group that keeps to itself. */
function* randomSchedules(write: Writer): Generator<readonly [seed: number, StepSchedule]> {
  for (let seed = 0; seed < 40; seed++) {
    const schedule = simpleSchedule(seed);
    try {
      write(schedule, "some")[Symbol.iterator]().next();
      yield [seed, schedule];
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
    }
  }
}

/** Arguments and variables under which a program is to do the same as without. */
export interface Manner {
  readonly args: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

/** What programs of Python must do, written by `write` for a library whose stand-in needs `module`, in each of some manners. */
export function describePythonProgram(title: string, write: Writer, module: string, manners: readonly Manner[]): void {
  const reason = withoutPython(module);
  describe.skipIf(reason !== "")(`${title}, run${reason === "" ? "" : ` (${reason})`}`, () => {
    it.each(CASES.map((what) => [titleOf(what), what] as const))("%s is correct", async (_, what) => {
      const steps = stepsOf(await scheduleOf(await plainEngine(), what), 2);
      const rounds = roundCount(roundsOf(steps));
      for (const { args, variables } of manners) {
        const { out, failed } = runPython(write(steps, "some"), ["1", "7", "40", ...args], variables);
        expect([args, variables, failed]).toEqual([args, variables, ""]);
        expect(out.trim()).toBe(
          `${what.collective} among ${steps.collective.groupSize} ranks (${what.network}) in ${rounds} rounds: correct for [1, 7, 40] elements a block`,
        );
      }
    });

    it("random schedules, custom collectives among them, are correct", () => {
      const kinds = new Map<string, number>();
      for (const [seed, schedule] of randomSchedules(write)) {
        const { kind } = schedule.collective;
        if ((kinds.get(kind) ?? 0) === (kind === "custom" ? 2 : 1)) continue;
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
        const { args, variables } = manners[seed % manners.length];
        expect([seed, runPython(write(schedule, "some"), ["3", ...args], variables).failed]).toEqual([seed, ""]);
      }
      expect(kinds.get("custom")).toBe(2);
      expect(kinds.size).toBeGreaterThan(5);
    });

    it("says which rank is wrong where a contribution is overwritten", () => {
      const right = make(ring(3), task("allreduce", 3), ringAllReduce(3));
      expect(runPython(write(right, "some"), ["3"]).failed).toBe("");
      const wrong = { ...right, op: right.op.map((op, i) => (i === 4 ? OP_COPY : op)) };
      expect(runPython(write(wrong, "some"), ["3"]).failed).toMatch(
        /^rank [012] has wrong numbers for 3 elements a block$/,
      );
    });

    it("runs under hostile names", () => {
      const { topology, ...rest } = ringSchedule();
      const nodeNames = ["'); import nothing #", '"""\n\\', "{1/0}\u2028\u0000\ud800"];
      const hostile = { ...rest, topology: { ...topology, name: '"""\n{1/0}\\', nodeNames } };
      for (const name of ["class", "range", "RANKS", "8 x 8", "", '")\nimport nothing', "é", "a".repeat(300)])
        expect([name, runPython(write(hostile, name), ["2"]).failed]).toEqual([name, ""]);
    });
  });

  describe(`${title}, refused`, () => {
    it("for several groups, and for transfers beside the group", () => {
      const right = ringSchedule();
      const { collective } = right;
      const text = (schedule: StepSchedule): string => [...write(schedule, "some")].join("");
      const two = { ...right, collective: { ...collective, groupCount: 2 } };
      expect(() => text(two)).toThrow(unexpected("a schedule to be written in Python", "2 groups", "one"));
      const pair = { ...collective, groupSize: 2, groupMembers: Int32Array.of(0, 1) };
      expect(() => text({ ...right, collective: pair })).toThrow(
        unexpected("a schedule to be written in Python", "one at c", "--outsiders none"),
      );
    });
  });
}
