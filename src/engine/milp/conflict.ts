import { type Instance, modelOf, within } from "./instance.ts";
import type { MilpProblem } from "./milp.ts";
import { solveMilp } from "./milp-solve.ts";
import { withRows } from "./rows.ts";

export interface ConflictOptions {
  readonly timeLimitMs?: number;
  readonly stopped?: () => boolean;
  /** Told of rows that already leave no point: [rows] 1 for those. */
  readonly onFewer?: (flags: Float64Array) => void;
}

/**
 * Returns rows of an infeasible program that leave no point, none of which can be left out as far as time allowed to try;
 * empty where the program is not proved infeasible. Where the relaxation has no point, HiGHS's own search for a conflict
 * makes a start. Then blocks of rows, half as large each time, are taken away where the rest still leaves no point:
 * about k log2(n / k) solves for a conflict of k among n rows.
 */
export function conflictOf(instance: Instance, problem: MilpProblem, options: ConflictOptions = {}): Int32Array {
  const { timeLimitMs = Number.POSITIVE_INFINITY, stopped = () => false, onFewer } = options;
  const began = performance.now();
  const left = (): number => timeLimitMs - (performance.now() - began);
  const rowCount = problem.rows.lower.length;
  const leavesNothing = (rows: Int32Array): boolean => {
    const ms = left();
    if (ms <= 0 || stopped()) return false;
    const limits = Number.isFinite(ms) ? { timeLimitMs: ms } : {};
    if (solveMilp(instance, feasibility(problem, rows), limits, { stopped }).status !== "infeasible") return false;
    onFewer?.(flagsOf(rows, rowCount));
    return true;
  };
  const all = Int32Array.from({ length: rowCount }, (_, i) => i);
  if (!leavesNothing(all)) return new Int32Array(0);
  const guess = relaxedConflict(instance, problem, left());
  let kept = guess.length > 0 && leavesNothing(guess) ? guess : all;
  for (let block = Math.max(1, kept.length >> 1); ; block >>= 1) {
    for (let from = 0; from < kept.length; ) {
      const fewer = kept.filter((_, i) => i < from || i >= from + block);
      if (leavesNothing(fewer)) kept = fewer;
      else from += block;
    }
    if (block === 1) return kept;
  }
}

/** Returns the program of some rows without an objective. */
const feasibility = (problem: MilpProblem, rows: Int32Array): MilpProblem => ({
  objective: new Float64Array(problem.objective.length),
  lower: problem.lower,
  upper: problem.upper,
  integer: problem.integer,
  rows: withRows(problem.rows, rows),
});

function flagsOf(rows: Int32Array, count: number): Float64Array {
  const flags = new Float64Array(count);
  for (const row of rows) flags[row] = 1;
  return flags;
}

/** Returns HiGHS's irreducible conflict among the rows of the relaxation; empty where it has a point or HiGHS finds none. */
function relaxedConflict(instance: Instance, problem: MilpProblem, timeLimitMs: number): Int32Array {
  const { highs } = instance;
  const found = within(instance, () => {
    const model = highs.createModel(modelOf(highs, problem));
    try {
      model.options.set({ output_flag: false, iis_strategy: highs.constants.iis.strategyRowPriority });
      if (Number.isFinite(timeLimitMs)) model.options.set("iis_time_limit", Math.max(0, timeLimitMs / 1000));
      const { status, value } = model.raw.getIis();
      return status === -1 ? undefined : value?.rowIndex;
    } finally {
      model.dispose();
    }
  });
  return found === undefined ? new Int32Array(0) : Int32Array.from(found).sort();
}
