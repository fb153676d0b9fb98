import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bestPoint, isPoint, roundedPoint, solutionOf } from "../../../src/engine/milp/outcome.ts";
import { milpOf, smallPrograms } from "../../support/milp-problems.ts";

const { POSITIVE_INFINITY: inf, NEGATIVE_INFINITY: minusInf } = Number;
const problem = milpOf([2, 3], [[minusInf, [1, 1], 1]]);
const found = { nodes: 7, ms: 5 };

describe("solutionOf", () => {
  it("says optimal where what is enough meets the bound", () => {
    const point = Float64Array.of(0, 1);
    const of = (bound: number) => solutionOf(problem, { ...found, status: "enough", point, bound });
    expect(of(3)).toEqual({ status: "optimal", primal: point, objective: 3, bound: 3, ...found });
    expect(of(4)).toMatchObject({ status: "enough", objective: 3, bound: 4 });
  });

  it("never has a bound below its point", () => {
    const point = Float64Array.of(0, 1);
    expect(solutionOf(problem, { ...found, status: "limit", point, bound: 2.9999 }).bound).toBe(3);
  });

  it.each(["optimal", "enough"] as const)("calls %s without a point failed", (status) => {
    const { status: said, primal } = solutionOf(problem, { ...found, status, point: undefined, bound: 3 });
    expect([said, primal.length]).toEqual(["failed", 0]);
  });

  it("does not believe that there is no point where there is one", () => {
    const point = Float64Array.of(1, 0);
    const solution = solutionOf(problem, { ...found, status: "infeasible", point, bound: minusInf });
    expect(solution).toMatchObject({ status: "failed", primal: point, objective: 2, bound: inf });
  });
});

describe("bestPoint", () => {
  it("rounds, leaves out what breaks a row, and takes the best", () => {
    const points = [Float64Array.of(0.9999999, 0), undefined, Float64Array.of(1, 1), Float64Array.of(0, 1.0000001)];
    expect(bestPoint(problem, points)).toEqual(Float64Array.of(0, 1));
    expect(bestPoint(problem, points.slice(0, 3))).toEqual(Float64Array.of(1, 0));
    expect(bestPoint(problem, [Float64Array.of(1, 1)])).toBeUndefined();
    expect(bestPoint(problem, [new Float64Array(2).fill(Number.NaN)])).toBeUndefined();
  });
});

describe("isPoint", () => {
  it("agrees with sums in whole numbers", () => {
    fc.assert(
      fc.property(smallPrograms, fc.infiniteStream(fc.integer({ min: -3, max: 2 })), (program, stream) => {
        const point = Float64Array.from(program.objective, () => stream.next().value as number);
        const { lower, upper, rows } = program;
        const inside = point.every((x, j) => x >= (lower[j] as number) && x <= (upper[j] as number));
        const sums = Array.from(rows.lower, (_, i) => {
          let sum = 0;
          for (let at = rows.offset[i] as number; at < (rows.offset[i + 1] as number); at++)
            sum += (rows.value[at] as number) * (point[rows.column[at] as number] as number);
          return sum;
        });
        const held = sums.every((sum, i) => sum >= (rows.lower[i] as number) && sum <= (rows.upper[i] as number));
        expect(isPoint(program, point)).toBe(inside && held);
      }),
    );
  });

  it("wants whole columns whole, and every column", () => {
    expect(isPoint(problem, Float64Array.of(0.5, 0))).toBe(false);
    expect(isPoint(problem, Float64Array.of(1))).toBe(false);
    expect(roundedPoint(problem, Float64Array.of(-0.2, 7))).toEqual(Float64Array.of(0, 1));
  });

  it("forgives rounding errors of large terms only", () => {
    const large = milpOf([1, 1], [[0, [1e9, -1e9], 0]], { integer: [0, 0] });
    expect(isPoint(large, Float64Array.of(0.3, 0.3 + 1e-16))).toBe(true);
    expect(isPoint(large, Float64Array.of(0.3, 0.31))).toBe(false);
  });
});
