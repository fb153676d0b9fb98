import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ConflictOptions, conflictOf } from "../../../src/engine/milp/conflict.ts";
import { loadInstance } from "../../../src/engine/milp/instance.ts";
import type { MilpProblem } from "../../../src/engine/milp/milp.ts";
import { solveMilp } from "../../../src/engine/milp/milp-solve.ts";
import { withRows } from "../../../src/engine/milp/rows.ts";
import { bestByHand, knapsacks, milpOf, relaxed, smallPrograms } from "../../support/milp-problems.ts";

const { POSITIVE_INFINITY: inf, NEGATIVE_INFINITY: minusInf } = Number;
const instance = await loadInstance();
const conflict = (problem: MilpProblem, options?: ConflictOptions): number[] =>
  Array.from(conflictOf(instance, problem, options));
const only = (problem: MilpProblem, rows: readonly number[]): MilpProblem => ({
  ...problem,
  rows: withRows(problem.rows, Int32Array.from(rows)),
});

/** Expects the rows to leave no point by `hasPoint`, and any fewer of them to leave one. */
function expectIrreducible(
  problem: MilpProblem,
  rows: readonly number[],
  hasPoint: (problem: MilpProblem) => boolean,
): void {
  expect(hasPoint(only(problem, rows))).toBe(false);
  for (const row of rows) {
    const fewer = rows.filter((other) => other !== row);
    expect(hasPoint(only(problem, fewer))).toBe(true);
  }
}

describe("conflictOf", () => {
  it("names rows that leave no whole point, each of them needed, by trying all points", () => {
    fc.assert(
      fc.property(smallPrograms, (problem) => {
        const hasPoint = (program: MilpProblem): boolean => bestByHand(program) !== minusInf;
        const rows = conflict(problem);
        if (hasPoint(problem)) expect(rows).toEqual([]);
        else expectIrreducible(problem, rows, hasPoint);
      }),
      { numRuns: 100 },
    );
  });

  it("names rows that leave no point at all where no column is whole", () => {
    fc.assert(
      fc.property(smallPrograms, (small) => {
        const problem = relaxed(small);
        const hasPoint = (program: MilpProblem): boolean =>
          solveMilp(instance, { ...program, objective: program.objective.map(() => 0) }).status !== "infeasible";
        const rows = conflict(problem);
        if (hasPoint(problem)) expect(rows).toEqual([]);
        else expectIrreducible(problem, rows, hasPoint);
      }),
      { numRuns: 100 },
    );
  });

  it("finds two rows among many", () => {
    const problem = knapsacks(30, 40, 5);
    const few = Array.from({ length: 30 }, () => 1);
    const rows = [...denseRows(problem), [25, few, inf] as const];
    // 25 of 30 columns cannot fit into a third of any resource: that row and one other
    const found = conflict(milpOf(Array.from(problem.objective), rows));
    expect(found.length).toBe(2);
    expect(found[1]).toBe(40);
  });

  it("names bounds of columns that need no row by no row", () => {
    expect(conflict(milpOf([1], [[0, [1], 1]], { lower: [0.2], upper: [0.8] }))).toEqual([]);
  });

  it("gives nothing where time does not suffice or it is stopped", () => {
    const problem = milpOf([1], [[1, [2], 1]]);
    expect(conflict(problem)).toEqual([0]);
    expect(conflict(problem, { timeLimitMs: 0 })).toEqual([]);
    expect(conflict(problem, { stopped: () => true })).toEqual([]);
  });

  it("keeps what it has where it is stopped on its way", () => {
    const rows = Array.from({ length: 20 }, (_, i) => [i === 7 ? 1 : 0, [2], i === 7 ? 1 : 2] as const);
    const told: number[][] = [];
    let asked = 0;
    const onFewer = (flags: Float64Array): number => told.push(Array.from(flags));
    const found = conflict(milpOf([1], rows), { onFewer, stopped: () => ++asked > 2 });
    expect(found.length).toBeGreaterThan(1);
    expect(found).toContain(7);
    expect(told.at(-1)?.flatMap((flag, i) => (flag === 1 ? [i] : []))).toEqual(found);
  });
});

const denseRows = ({ rows, objective }: MilpProblem) =>
  Array.from(rows.lower, (lower, i) => {
    const values = new Array<number>(objective.length).fill(0);
    for (let at = rows.offset[i] as number; at < (rows.offset[i + 1] as number); at++)
      values[rows.column[at] as number] = rows.value[at] as number;
    return [lower, values, rows.upper[i] as number] as const;
  });
