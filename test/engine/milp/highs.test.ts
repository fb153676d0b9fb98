import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LpProblem, LpRows, LpSolution } from "../../../src/engine/contract/programs.ts";
import { openHighs } from "../../../src/engine/milp/highs.ts";
import { rowsOf } from "../../support/milp-problems.ts";
import { runs } from "../../support/runs.ts";

const { POSITIVE_INFINITY: inf, NEGATIVE_INFINITY: minusInf } = Number;
const solver = await openHighs();

const problem = (objective: readonly number[], rows: LpRows, upper = inf): LpProblem => ({
  objective: Float64Array.from(objective),
  lower: new Float64Array(objective.length),
  upper: new Float64Array(objective.length).fill(upper),
  rows,
});

// 30 chairs + 50 tables, of 40 hours of carpentry and 50 of finishing
const workshop = problem(
  [30, 50],
  rowsOf([
    [minusInf, [1, 2], 40],
    [minusInf, [2, 1], 50],
  ]),
);

describe("HiGHS", () => {
  it("solves a small program, with prices of the rows", () => {
    const { status, objective, primal, dual } = solver.solve(workshop);
    expect(status).toBe("optimal");
    expect(objective).toBeCloseTo(1100, 9);
    expect([...primal]).toEqual([20, 10]);
    expect(dual[0]).toBeCloseTo(70 / 3, 9);
    expect(dual[1]).toBeCloseTo(10 / 3, 9);
  });

  it("says when there is no solution or no end", () => {
    expect(solver.solve(problem([1], rowsOf([[2, [1], inf]]), 1)).status).toBe("infeasible");
    expect(solver.solve(problem([1], rowsOf([[1, [1], inf]]))).status).toBe("unbounded");
  });

  it("goes on from the last basis when rows are added", () => {
    const session = solver.open(workshop);
    expect(session.solve().objective).toBeCloseTo(1100, 9);
    session.addRows(rowsOf([[minusInf, [1, 1], 24]]));
    const { objective, dual } = session.solve();
    // 8 chairs and 16 tables
    expect(objective).toBeCloseTo(1040, 9);
    expect(dual.length).toBe(3);
    session.close();
  });

  it("gives the same bits again, whatever was solved in between", () => {
    const first = solver.solve(workshop);
    solver.solve(problem([1, 1, 1], rowsOf([[minusInf, [3, 2, 7], 1]])));
    expect(solver.solve(workshop)).toEqual(first);
  });

  it("refuses a program beyond its memory instead of trying it", async () => {
    const small = await openHighs({ maxBytes: 1000 });
    expect(small.solve(workshop).status).toBe("memory");
    const roomy = await openHighs({ maxBytes: 2000 });
    const session = roomy.open(workshop);
    expect(session.solve().status).toBe("optimal");
    session.addRows(rowsOf(Array.from({ length: 5 }, () => [minusInf, [1, 1], 24] as const)));
    expect(session.solve().status).toBe("memory");
    session.close();
    expect(solver.solve(workshop).status).toBe("optimal");
  });

  it("ends every random program with equal values of the primal and of the dual (strong duality)", () => {
    const draw = fc.integer({ min: 0, max: 9 });
    const programs = fc.integer({ min: 1, max: 5 }).chain((columns) =>
      fc.record({
        objective: fc.array(draw, { minLength: columns, maxLength: columns }),
        rows: fc.array(fc.tuple(fc.array(draw, { minLength: columns, maxLength: columns }), draw), { maxLength: 6 }),
      }),
    );
    fc.assert(
      fc.property(programs, ({ objective, rows }) => {
        const kept = rows.map(([values, upper]) => [minusInf, values, upper] as const);
        const solution: LpSolution = solver.solve(problem(objective, rowsOf(kept), 10));
        expect(solution.status).toBe("optimal");
        const { primal, dual } = solution;
        let bound = 0;
        kept.forEach(([, values, upper], i) => {
          const used = values.reduce((sum, value, j) => sum + value * (primal[j] as number), 0);
          expect(used).toBeLessThanOrEqual(upper + 1e-8);
          expect(dual[i]).toBeGreaterThanOrEqual(-1e-9);
          bound += upper * (dual[i] as number);
        });
        objective.forEach((value, j) => {
          const priced = kept.reduce((sum, [, values], i) => sum + (values[j] as number) * (dual[i] as number), 0);
          bound += 10 * Math.max(0, value - priced);
        });
        expect(bound).toBeCloseTo(solution.objective, 6);
      }),
      { numRuns: runs(200), seed: 1 },
    );
  });
});
