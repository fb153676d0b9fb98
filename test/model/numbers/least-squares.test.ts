import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  leastSquares,
  nonNegativeLeastSquares,
  ownLength,
  residual,
  squares,
} from "../../../src/model/numbers/least-squares.ts";
import { runs } from "../../support/runs.ts";

const entry = fc.integer({ min: -20, max: 20 });
const problem = fc.integer({ min: 1, max: 4 }).chain((unknowns) =>
  fc.integer({ min: unknowns, max: 9 }).chain((rows) => {
    const column = fc.array(entry, { minLength: rows, maxLength: rows }).map((values) => Float64Array.from(values));
    return fc.tuple(fc.array(column, { minLength: unknowns, maxLength: unknowns }), column);
  }),
);
const errorOf = (columns: readonly Float64Array[], b: Float64Array, x: Float64Array): number =>
  squares(residual(columns, b, x));

/** All sets of unknowns that may differ from 0, solved without bounds: the best that is not negative. */
function byTrying(columns: readonly Float64Array[], b: Float64Array): number {
  let best = squares(b);
  for (let set = 1; set < 2 ** columns.length; set++) {
    const chosen = columns.filter((_, j) => (set >> j) & 1);
    const x = leastSquares(chosen, b);
    if (x.every((value) => value >= -1e-9)) best = Math.min(best, errorOf(chosen, b, x));
  }
  return best;
}

describe("least squares", () => {
  it("leaves a residual at right angles to every column", () => {
    fc.assert(
      fc.property(problem, ([columns, b]) => {
        const rest = residual(columns, b, leastSquares(columns, b));
        for (const column of columns)
          expect(column.reduce((sum, value, i) => sum + value * rest[i], 0)).toBeCloseTo(0, 5);
      }),
    );
  });

  it("is as good without negative unknowns as the best of all sets of unknowns", () => {
    fc.assert(
      fc.property(problem, ([columns, b]) => {
        const x = nonNegativeLeastSquares(columns, b);
        expect(x.every((value) => value >= 0)).toBe(true);
        const best = byTrying(columns, b);
        expect(errorOf(columns, b, x)).toBeLessThanOrEqual(best * (1 + 1e-9) + 1e-6);
        expect(errorOf(columns, b, x)).toBeGreaterThanOrEqual(best * (1 - 1e-9) - 1e-6);
      }),
      { numRuns: runs(500) },
    );
  });

  it("finds what made the data", () => {
    const columns = [Float64Array.of(1, 1, 1), Float64Array.of(0, 1, 5)];
    expect([...leastSquares(columns, Float64Array.of(2, 5, 17))].map((value) => Math.round(value * 1e9) / 1e9)).toEqual(
      [2, 3],
    );
  });

  it("tells what a column says that the others do not", () => {
    const [one, two] = [Float64Array.of(3, 0), Float64Array.of(3, 4)];
    expect(ownLength([one, two], 1)).toBeCloseTo(4);
    expect(ownLength([one, two, Float64Array.of(0, 1)], 0)).toBe(0);
  });
});
