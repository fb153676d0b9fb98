import type { MilpProblem, MilpSolution, MilpStatus } from "../contract/programs.ts";

/** What a search came to. */
export interface Found {
  readonly status: MilpStatus;
  /** A point that the program admits; undefined where none is known. */
  readonly point: Float64Array | undefined;
  readonly bound: number;
  readonly nodes: number;
  readonly ms: number;
}

/** Returns the solution that a search came to, its parts made to fit each other. */
export function solutionOf(problem: MilpProblem, { status, point, bound, nodes, ms }: Found): MilpSolution {
  const none = { primal: new Float64Array(0), objective: Number.NaN, nodes, ms };
  if (status === "infeasible") {
    // a start that the rows admit proves HiGHS wrong
    if (point !== undefined)
      return solutionOf(problem, { status: "failed", point, bound: Number.POSITIVE_INFINITY, nodes, ms });
    return { status, bound: Number.NEGATIVE_INFINITY, ...none };
  }
  if (status === "unbounded") return { status, bound: Number.POSITIVE_INFINITY, ...none };
  if (point === undefined) {
    // HiGHS claims a point that the rows do not admit
    const claimed = status === "optimal" || status === "enough";
    return { status: claimed ? "failed" : status, bound, ...none };
  }
  const objective = objectiveOf(problem, point);
  const least = Math.max(bound, objective);
  const proved = status === "enough" && least === objective;
  return { status: proved ? "optimal" : status, primal: point, objective, bound: least, nodes, ms };
}

/** Returns the best of the points that the program admits, the first among equals; undefined where it admits none. */
export function bestPoint(
  problem: MilpProblem,
  points: readonly (Float64Array | undefined)[],
): Float64Array | undefined {
  let best: Float64Array | undefined;
  for (const point of points) {
    if (point === undefined) continue;
    const rounded = roundedPoint(problem, point);
    if (!isPoint(problem, rounded)) continue;
    if (best === undefined || objectiveOf(problem, rounded) > objectiveOf(problem, best)) best = rounded;
  }
  return best;
}

/** By how much a sum may miss its bound, relative to the sizes of its terms and of the bound. */
const TOLERANCE = 1e-6;

/** Returns the point with its whole columns rounded and all columns within their bounds. */
export function roundedPoint({ integer, lower, upper }: MilpProblem, point: Float64Array): Float64Array {
  return point.map((value, j) => {
    const near = integer[j] === 1 ? Math.round(value) : value;
    return Math.min(Math.max(near, lower[j] as number), upper[j] as number) + 0;
  });
}

/** Returns whether whole columns are whole and columns and rows within their bounds, up to rounding errors of sums. O(entries). */
export function isPoint({ integer, lower, upper, rows }: MilpProblem, point: Float64Array): boolean {
  if (point.length !== lower.length) return false;
  for (let j = 0; j < point.length; j++) {
    const x = point[j] as number;
    if (!fits(x, Math.abs(x), lower[j] as number, upper[j] as number)) return false;
    if (integer[j] === 1 && !Number.isInteger(x)) return false;
  }
  for (let i = 0; i < rows.lower.length; i++) {
    let sum = 0;
    let size = 0;
    for (let at = rows.offset[i] as number; at < (rows.offset[i + 1] as number); at++) {
      const term = (rows.value[at] as number) * (point[rows.column[at] as number] as number);
      sum += term;
      size += Math.abs(term);
    }
    if (!fits(sum, size, rows.lower[i] as number, rows.upper[i] as number)) return false;
  }
  return true;
}

/** Returns whether a sum of terms of this total size lies within bounds; false for NaN. */
function fits(sum: number, size: number, lower: number, upper: number): boolean {
  return sum >= lower - slack(lower, size) && sum <= upper + slack(upper, size);
}

/** An infinite bound keeps its sign. */
const slack = (bound: number, size: number): number =>
  Number.isFinite(bound) ? TOLERANCE * Math.max(1, Math.abs(bound), size) : 0;

/** Returns the objective of a point, summed column by column. */
export function objectiveOf({ objective }: MilpProblem, point: Float64Array): number {
  let sum = 0;
  for (let j = 0; j < objective.length; j++) sum += (objective[j] as number) * (point[j] as number);
  return sum;
}
