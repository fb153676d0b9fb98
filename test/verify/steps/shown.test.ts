import { describe, expect, it } from "vitest";
import { CancelledError, InternalError } from "../../../src/base/errors.ts";
import { random } from "../../../src/base/random.ts";
import type { Kernels } from "../../../src/engine/contract/kernels.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { StepsProblem } from "../../../src/model/replay/steps-problem.ts";
import { goesWithPrevious, inRowOrder, type StepSchedule } from "../../../src/model/steps/step-schedule.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { isShown } from "../../../src/verify/steps/shown.ts";
import { availableKernels } from "../../support/backends.ts";
import { doubling } from "../../support/hand-made-schedules.ts";
import { mergedSchedule } from "../../support/merged-schedules.ts";
import { synthesizeWith, wholeCollective } from "../../support/synthesis.ts";

const all = await availableKernels();
const fastest = all[0] as Kernels;
const compiled = all.filter(({ backend }) => backend !== "js");

/** More rows than a block has at least, so that threads have blocks of their own. */
const large = await Promise.all(
  (["allgather", "reducescatter"] as const).map(async (kind) => {
    const topology = presetTopology("mesh:20x20@50,75GB/s");
    const collective = wholeCollective(topology, kind, 2 ** 30);
    const { schedule } = await synthesizeWith(fastest, { topology, collective, policy: "oldest" });
    return { kind, schedule: inRowOrder(schedule) };
  }),
);

const CHANGES = [
  (rows: StepSchedule, at: number) => rows.chunk.fill((rows.chunk[at] + 1) % 400, at, at + 1),
  (rows: StepSchedule, at: number) => rows.endPs.fill(rows.endPs[at] - 1, at, at + 1),
  (rows: StepSchedule, at: number) => rows.endPs.fill(rows.endPs[at] + 1, at, at + 1),
  (rows: StepSchedule, at: number) => rows.op.fill(1 - rows.op[at], at, at + 1),
  (rows: StepSchedule, at: number) => rows.route.fill((rows.route[at] + 1) % 1520, at, at + 1),
  (rows: StepSchedule, at: number) => rows.chunk.fill(400, at, at + 1),
] as const;

describe.each(compiled.map((kernels) => [kernels.backend, kernels] as const))("the judge in %s", (_, kernels) => {
  const judgeOn = (threads: number) => (problem: StepsProblem) => kernels.judge({ ...problem, threads });

  it.each(large)("shows that many transfers are right, and of one changed says what TypeScript says: $kind", (one) => {
    expect(one.schedule.chunk.length).toBeGreaterThan(2 * 65_536);
    for (const threads of [1, 2, 5]) expect(isShown(one.schedule, judgeOn(threads))).toBe(true);
    const draws = random(7, one.kind.length);
    for (const change of CHANGES) {
      for (let k = 0; k < 3; k++) {
        const { chunk, route, startPs, endPs, op } = one.schedule;
        const rows = {
          ...one.schedule,
          ...{ chunk: chunk.slice(), route: route.slice(), startPs, endPs: endPs.slice(), op: op.slice() },
        };
        change(rows, draws.below(chunk.length));
        const right = verifySchedule(rows, { limit: 1 }).violationCount === 0;
        expect(isShown(rows, judgeOn(1 + k))).toBe(right);
        expect(verifySchedule(rows, { limit: 1, judge: judgeOn(2) })).toEqual(verifySchedule(rows, { limit: 1 }));
      }
    }
  });

  it("does not show what it cannot tell by numbers, and TypeScript says that it is right", () => {
    const schedule = doubling(2);
    expect(isShown(schedule, judgeOn(1))).toBe(false);
    expect(verifySchedule(schedule, { judge: judgeOn(1) }).violations).toEqual([]);
  });

  it("shows merged sends, and not one that takes a picosecond", () => {
    let merged = 0;
    for (let seed = 0; seed < 60; seed++) {
      const schedule = mergedSchedule(seed);
      const { route, startPs, endPs, collective } = schedule;
      const row = route.findIndex((_, i) => goesWithPrevious(schedule, i));
      if (row < 0 || collective.reduces) continue;
      merged++;
      expect(isShown(schedule, judgeOn(1))).toBe(true);
      const shorter = endPs.map((end, i) =>
        route[i] === route[row] && startPs[i] === startPs[row] ? startPs[i] + 1 : end,
      );
      expect(isShown({ ...schedule, endPs: shorter }, judgeOn(1))).toBe(false);
    }
    expect(merged).toBeGreaterThan(10);
  });

  it("stops when it is asked to, and refuses what no caller may hand it", () => {
    const [{ schedule }] = large as [(typeof large)[number]];
    let problem: StepsProblem | null = null;
    isShown(schedule, (asked) => {
      problem = asked;
      return true;
    });
    const whole = { ...(problem as unknown as StepsProblem), threads: 1 };
    expect(() => kernels.judge(whole, Int32Array.of(1))).toThrow(CancelledError);
    const bad = [
      { threads: 0 },
      { npuCount: 0 },
      { reduces: 2 },
      { op: whole.op.subarray(1) },
      { cost: whole.cost.map(() => 2) },
      { capacity: whole.capacity.map(() => 0) },
      { routeSource: whole.routeSource.map(() => 400) },
      { from: { ...whole.from, setOf: whole.from.setOf.map(() => 400) } },
      { to: { ...whole.to, members: whole.to.members.map(() => -1) } },
    ];
    for (const part of bad) expect(() => kernels.judge({ ...whole, ...part })).toThrow(InternalError);
  });
});
