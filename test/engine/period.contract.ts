import * as fc from "fast-check";
import { expect, it } from "vitest";
import { CancelledError, InputError, InternalError } from "../../src/base/errors.ts";
import type { Kernels, PeriodProblem } from "../../src/engine/contract/kernels.ts";
import { shareColumns } from "../../src/engine/pool/pool.ts";
import { brokenPeriodLaws, periodProblems } from "../support/period-problems.ts";
import { runs } from "../support/runs.ts";

/** Two trees of a line of three NPUs, the same edges twice. */
const LINE: PeriodProblem = {
  npuCount: 3,
  treeCount: 2,
  tail: Int32Array.of(0, 1),
  head: Int32Array.of(1, 2),
  serialPs: Float64Array.of(10, 10),
  latencyPs: Float64Array.of(5, 5),
  used: Uint8Array.of(1, 1, 1, 1),
  periodPs: 20,
  shakePs: 0,
  seed: 1,
  turn: 0,
};

/** What every backend's period kernel must do. */
export function periodContract(kernels: Kernels): void {
  it("sends up to the middle and down again, one tree behind the other", () => {
    const { entry, startPs } = kernels.period(LINE);
    expect([...entry]).toEqual([0, -1, 1, 0, -1, 1]);
    expect([...startPs]).toEqual([0, -1, 0, 20, -1, 20, 10, -1, 10, 30, -1, 30]);
  });

  it("answers for one NPU, and for no tree", () => {
    const none = { tail: new Int32Array(0), head: new Int32Array(0) };
    const figures = { serialPs: new Float64Array(0), latencyPs: new Float64Array(0), used: new Uint8Array(0) };
    const { entry, startPs } = kernels.period({ ...LINE, ...none, ...figures, npuCount: 1 });
    expect([[...entry], [...startPs]]).toEqual([
      [-1, -1],
      [-1, -1, -1, -1],
    ]);
    expect(kernels.period({ ...LINE, treeCount: 0, used: new Uint8Array(0) }).entry.length).toBe(0);
  });

  it("keeps the laws of timetables on random networks", () => {
    fc.assert(
      fc.property(periodProblems(), (problem) => {
        expect(brokenPeriodLaws(problem, kernels.period(problem))).toEqual([]);
      }),
      { numRuns: runs(300) },
    );
  });

  it.each([
    ["a tree that does not span", { used: Uint8Array.of(1, 1, 1, 0) }],
    ["a circle", { tail: Int32Array.of(0, 1), head: Int32Array.of(1, 0) }],
    ["more transfers than fit", { periodPs: 19 }],
    ["an NPU out of range", { head: Int32Array.of(1, 3) }],
    ["an edge to itself", { head: Int32Array.of(0, 2) }],
    ["an edge used twice", { used: Uint8Array.of(1, 1, 1, 2) }],
    ["half a picosecond", { serialPs: Float64Array.of(10, 0.5) }],
    ["a latency before the start", { latencyPs: Float64Array.of(-1, 5) }],
    ["a period of nothing", { periodPs: 0 }],
    ["columns of other lengths", { serialPs: Float64Array.of(10) }],
    ["a turn that is no whole number", { turn: 0.5 }],
    ["more NPUs than edges join, without trees", { npuCount: 4, treeCount: 0, used: new Uint8Array() }],
  ] as const)("refuses %s", (_, change) => {
    expect(() => kernels.period({ ...LINE, ...change })).toThrow(InternalError);
  });

  it("refuses times that are no longer exact", () => {
    const latencyPs = Float64Array.of(Number.MAX_SAFE_INTEGER, 5);
    expect(() => kernels.period({ ...LINE, latencyPs })).toThrow(InputError);
  });

  it("can be cancelled, and reads shared columns", () => {
    expect(() => kernels.period(LINE, new Int32Array(new SharedArrayBuffer(8)).fill(1))).toThrow(CancelledError);
    expect(kernels.period(shareColumns(LINE))).toEqual(kernels.period(LINE));
  });
}
