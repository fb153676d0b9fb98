import type { MilpProblem, MilpSolution, MilpStatus } from "../contract/milp.ts";
import { isPoint, objectiveOf, roundedPoint } from "./point.ts";

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
