import type { Instance } from "./instance.ts";
import type { MilpProblem } from "./milp.ts";
import { solveMilp } from "./milp-solve.ts";
import { withRows } from "./rows.ts";

/**
 * Returns rows of an infeasible program that leave no point, none of which can be left out (a deletion filter: each row is
 * taken away in turn and stays away where the rest is still infeasible); empty where the program is not proved infeasible.
 */
export function conflictOf(
  instance: Instance,
  problem: MilpProblem,
  timeLimitMs = Number.POSITIVE_INFINITY,
  stopped: () => boolean = () => false,
): Int32Array {
  const began = performance.now();
  const nothing: MilpProblem = { ...problem, objective: new Float64Array(problem.objective.length) };
  const left = (): number => timeLimitMs - (performance.now() - began);
  const infeasible = (rows: Int32Array): boolean =>
    left() > 0 &&
    !stopped() &&
    solveMilp(instance, { ...nothing, rows: withRows(problem.rows, rows) }, timed(left()), stopped).status ===
      "infeasible";
  let kept = Int32Array.from(problem.rows.lower.keys());
  if (!infeasible(kept)) return new Int32Array(0);
  for (const row of kept) {
    const fewer = kept.filter((other) => other !== row);
    if (infeasible(fewer)) kept = fewer;
  }
  return kept;
}

const timed = (ms: number) => (Number.isFinite(ms) ? { timeLimitMs: ms } : {});
