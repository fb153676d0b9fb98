import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MilpOptions, MilpProblem, MilpProgress } from "../../../src/engine/contract/programs.ts";
import { openHighs } from "../../../src/engine/milp/highs.ts";
import { loadInstance } from "../../../src/engine/milp/instance.ts";
import { solveMilp } from "../../../src/engine/milp/job.ts";
import { isPoint, objectiveOf } from "../../../src/engine/milp/outcome.ts";
import { bestByHand, knapsacks, milpOf, relaxed, smallPrograms } from "../../support/milp-problems.ts";
import { runs, seen } from "../../support/runs.ts";

const { POSITIVE_INFINITY: inf, NEGATIVE_INFINITY: minusInf } = Number;
const instance = await loadInstance();
const lp = await openHighs();
const solve = (problem: MilpProblem, options?: MilpOptions, stopped?: () => boolean) =>
  solveMilp(instance, problem, options, stopped && { stopped });

const SMALL = knapsacks(30, 5, 1);
const OF_SMALL = solve(SMALL);

describe("solveMilp", () => {
  it("finds what trying all points finds, and the bound is met", () => {
    fc.assert(
      fc.property(smallPrograms, (problem) => {
        const best = bestByHand(problem);
        const { status, objective, primal, bound } = solve(problem);
        if (best === minusInf) {
          expect([status, bound, primal.length]).toEqual(["infeasible", minusInf, 0]);
          return;
        }
        expect([status, objective]).toEqual(["optimal", best]);
        expect(bound).toBeCloseTo(best, 6);
        expect(isPoint(problem, primal)).toBe(true);
        expect(objectiveOf(problem, primal)).toBe(objective);
      }),
      { numRuns: runs(150) },
    );
  });

  it("agrees with the solver of linear programs where no column is whole", () => {
    fc.assert(
      fc.property(smallPrograms, (small) => {
        const problem = relaxed(small);
        const expected = lp.solve(problem);
        const { status, objective, bound } = solve(problem);
        expect(status).toBe(expected.status);
        if (status !== "optimal") return;
        expect(objective).toBeCloseTo(expected.objective, 5);
        expect(bound).toBe(objective);
      }),
      { numRuns: runs(200) },
    );
  });

  it("mixes whole and other columns", () => {
    // x whole, y not: x + y <= 3.5, x <= 2.7
    const problem = milpOf([2, 1], [[minusInf, [1, 1], 3.5]], { upper: [2.7, inf], integer: [1, 0] });
    const { status, primal, objective } = solve(problem);
    expect([status, Array.from(primal), objective]).toEqual(["optimal", [2, 1.5], 5.5]);
  });

  it("says that there is no point, or no end", () => {
    expect(solve(milpOf([1], [[1, [2], 1]]))).toMatchObject({ status: "infeasible", bound: minusInf });
    expect(solve(milpOf([1], [[0, [1], inf]], { upper: [inf] }))).toMatchObject({ status: "unbounded", bound: inf });
    const halves = milpOf([1, 0], [[1, [0, 2], 1]], { upper: [inf, 1] });
    expect(solve(halves)).toMatchObject({ status: "infeasible" });
  });

  it("takes programs without rows, and without columns", () => {
    expect(solve(milpOf([3, -1], []))).toMatchObject({ status: "optimal", objective: 3, bound: 3 });
    expect(solve(milpOf([], []))).toMatchObject({ status: "optimal", objective: 0 });
  });

  it.each([
    ["bounds that cross", milpOf([1], [], { lower: [2], upper: [1] }), "infeasible"],
    ["a number that is none", milpOf([Number.NaN], [[0, [1], 1]]), "failed"],
    ["a coefficient beyond all measure", milpOf([1], [[0, [1e20], 1]]), "failed"],
  ])("does not crash over %s", (_, problem, status) => {
    expect(solve(problem).status).toBe(status);
  });

  it("stops at nodes, and keeps the point and the bound", () => {
    const problem = SMALL;
    const whole = OF_SMALL;
    expect(whole.status).toBe("optimal");
    const cut = solve(problem, { nodeLimit: 1 });
    expect(cut.status).toBe("limit");
    expect(isPoint(problem, cut.primal)).toBe(true);
    expect(cut.objective).toBeLessThanOrEqual(whole.objective);
    expect(cut.bound).toBeGreaterThanOrEqual(whole.objective);
    expect(cut.nodes).toBeLessThan(whole.nodes);
  });

  it("counts iterations, and stops behind so many at the same point each time", () => {
    const whole = solve(SMALL);
    expect(whole.iterations).toBeGreaterThan(100);
    const iterationLimit = Math.floor((whole.iterations as number) / 2);
    const { ms: _, ...cut } = solve(SMALL, { iterationLimit });
    expect(cut.status).toBe("limit");
    expect(cut.iterations).toBeLessThan(whole.iterations as number);
    expect(cut.bound).toBeGreaterThanOrEqual(whole.objective);
    const { ms: __, ...again } = solve(SMALL, { iterationLimit });
    expect(again).toEqual(cut);
  });

  it("stops before it has a point, and says so", () => {
    const { status, primal, objective, bound } = solve(knapsacks(30, 5, 1), { nodeLimit: 0 });
    expect([status, primal.length, objective, bound]).toEqual(["limit", 0, Number.NaN, inf]);
    expect(solve(knapsacks(30, 5, 1), { timeLimitMs: 0 }).status).toBe("limit");
  });

  it("stops at an objective that is enough", () => {
    const problem = SMALL;
    const best = OF_SMALL;
    const some = solve(problem, { enough: best.objective * 0.8 });
    expect(some.status).toBe("enough");
    expect(some.objective).toBeGreaterThanOrEqual(best.objective * 0.8);
    expect(some.nodes).toBeLessThan(best.nodes);
    expect(solve(problem, { enough: best.objective + 1 })).toMatchObject({
      status: "optimal",
      objective: best.objective,
    });
  });

  it("stops within a gap", () => {
    const problem = SMALL;
    const best = OF_SMALL;
    const { status, objective, bound, nodes } = solve(problem, { absoluteGap: 20 });
    expect(status).toBe("optimal");
    expect(bound - objective).toBeLessThanOrEqual(20);
    expect(nodes).toBeLessThan(best.nodes);
  });

  it("starts from a point, whole or in part", () => {
    const problem = SMALL;
    const { primal, objective } = OF_SMALL;
    expect(solve({ ...problem, start: primal }, { nodeLimit: 0 })).toMatchObject({ status: "limit", objective });
    const part = primal.map((value, j) => (j < 25 ? value : Number.NaN));
    expect(solve({ ...problem, start: part }, { nodeLimit: 0 })).toMatchObject({ status: "limit", objective });
    const none = new Float64Array(30).fill(Number.NaN);
    expect(solve({ ...problem, start: none })).toMatchObject({ status: "optimal", objective });
  });

  it("does without a start that breaks rows", () => {
    const problem = SMALL;
    const { objective } = OF_SMALL;
    const all = new Float64Array(30).fill(1);
    expect(solve({ ...problem, start: all })).toMatchObject({ status: "optimal", objective });
    const most = all.map((value, j) => (j < 20 ? value : Number.NaN));
    expect(solve({ ...problem, start: most })).toMatchObject({ status: "optimal", objective });
  });

  it("stops when it is told to", () => {
    let asked = 0;
    const { status } = solve(knapsacks(60, 8, 2), {}, () => ++asked > 100);
    expect(status).toBe("limit");
    expect(asked).toBeGreaterThan(seen(100));
  });

  it("gives the same bits again", () => {
    const problem = knapsacks(30, 6, 3);
    const { ms: _, ...first } = solve(problem);
    const { ms: __, ...second } = solve(problem);
    expect(second).toEqual(first);
  });

  it("tells progress that closes in", () => {
    const told: MilpProgress[] = [];
    const { objective } = solve(knapsacks(50, 8, 4), {
      onProgress: (progress) => told.push(progress),
      nodeLimit: 300,
    });
    expect(told.length).toBeGreaterThan(0);
    for (const progress of told) expect(progress.bound).toBeGreaterThanOrEqual(objective - 1e-6);
    for (const progress of told)
      if (!Number.isNaN(progress.objective)) expect(progress.objective).toBeLessThanOrEqual(objective + 1e-6);
    expect(told.map(({ ms }) => ms)).toEqual(told.map(({ ms }) => ms).sort((a, b) => a - b));
  });
});
