import * as fc from "fast-check";
import { random } from "../../src/base/random.ts";
import type { LpRows, MilpProblem } from "../../src/engine/contract/programs.ts";
import { isPoint, objectiveOf } from "../../src/engine/milp/outcome.ts";

/** A row as [lower, dense coefficients, upper]. */
export type DenseRow = readonly [number, readonly number[], number];

/** Returns rows without their zeros. */
export function rowsOf(rows: readonly DenseRow[]): LpRows {
  const kept = rows.map(([, values]) => [...values.keys()].filter((j) => values[j] !== 0));
  const offset = new Int32Array(rows.length + 1);
  kept.forEach((columns, i) => {
    offset[i + 1] = (offset[i] as number) + columns.length;
  });
  return {
    lower: Float64Array.from(rows, ([lower]) => lower),
    upper: Float64Array.from(rows, ([, , upper]) => upper),
    offset,
    column: Int32Array.from(kept.flat()),
    value: Float64Array.from(rows.flatMap(([, values], i) => (kept[i] as number[]).map((j) => values[j] as number))),
  };
}

interface Columns {
  readonly lower?: readonly number[];
  readonly upper?: readonly number[];
  readonly integer?: readonly number[];
}

/** Returns a program of columns that are 0 or 1 unless said otherwise. */
export function milpOf(
  objective: readonly number[],
  rows: readonly DenseRow[],
  { lower, upper, integer }: Columns = {},
): MilpProblem {
  return {
    objective: Float64Array.from(objective),
    lower: Float64Array.from(objective, (_, j) => lower?.[j] ?? 0),
    upper: Float64Array.from(objective, (_, j) => upper?.[j] ?? 1),
    rows: rowsOf(rows),
    integer: Uint8Array.from(objective, (_, j) => integer?.[j] ?? 1),
  };
}

/** Returns the program without wholeness. */
export const relaxed = (problem: MilpProblem): MilpProblem => ({
  ...problem,
  integer: new Uint8Array(problem.integer.length),
});

/** Programs of up to 7 whole columns of up to 4 values and up to 5 rows; about a third have no point. */
export const smallPrograms: fc.Arbitrary<MilpProblem> = fc.integer({ min: 1, max: 7 }).chain((columns) => {
  const ofAll = (least: number, most: number) =>
    fc.array(fc.integer({ min: least, max: most }), { minLength: columns, maxLength: columns });
  const bound = fc.oneof(fc.integer({ min: -8, max: 8 }), fc.constant(Number.POSITIVE_INFINITY));
  const row = fc.tuple(bound, ofAll(-4, 4), bound).map(([a, values, b]): DenseRow => {
    const [low, high] = a === Number.POSITIVE_INFINITY ? [-a, b] : [Math.min(a, b), Math.max(a, b)];
    return [low, values, high];
  });
  return fc
    .tuple(ofAll(-9, 9), fc.array(row, { maxLength: 5 }), ofAll(-2, 0), ofAll(0, 1))
    .map(([objective, rows, lower, upper]) => milpOf(objective, rows, { lower, upper }));
});

/** Returns a knapsack of many resources, which takes long to solve from about 50 columns and 8 rows on. */
export function knapsacks(columns: number, resources: number, seed: number): MilpProblem {
  const { below } = random(seed);
  const objective = Array.from({ length: columns }, () => 10 + below(50));
  const rows = Array.from({ length: resources }, (): DenseRow => {
    const needs = Array.from({ length: columns }, () => 5 + below(40));
    return [Number.NEGATIVE_INFINITY, needs, Math.floor(needs.reduce((sum, need) => sum + need, 0) / 3)];
  });
  return milpOf(objective, rows);
}

/** Returns the greatest objective over all points of a program of bounded whole columns; -Infinity where there is none. */
export function bestByHand(problem: MilpProblem): number {
  let best = Number.NEGATIVE_INFINITY;
  const point = Float64Array.from(problem.lower);
  for (;;) {
    if (isPoint(problem, point)) best = Math.max(best, objectiveOf(problem, point));
    let j = 0;
    while (j < point.length && point[j] === problem.upper[j]) {
      point[j] = problem.lower[j] as number;
      j++;
    }
    if (j === point.length) return best;
    point[j] = (point[j] as number) + 1;
  }
}

/** Returns a program whose relaxation alone keeps the solver busy for many seconds: dense rows, all bounds tight. */
export function denseRelaxation(size: number): MilpProblem {
  const { below } = random(7);
  const objective = Array.from({ length: size }, () => 100 + below(50));
  const rows = Array.from({ length: size }, (): DenseRow => {
    const needs = Array.from({ length: size }, () => 1 + below(1000));
    return [Number.NEGATIVE_INFINITY, needs, Math.floor(needs.reduce((sum, need) => sum + need, 0) / 3)];
  });
  return milpOf(objective, rows, { upper: new Array(size).fill(1000) });
}
