import type { Model } from "highs";
import { InternalError } from "../../base/errors.ts";
import type { LpProblem, LpRows, LpSession, LpSolution, LpSolver, LpStatus } from "../contract/programs.ts";
import { type Instance, loadInstance, MODEL_STATUS, MOST_BYTES, matrixOf, modelOf, within } from "./instance.ts";

/**
 * HiGHS compiled to WebAssembly (npm highs): the dual simplex method, one thread, at most 2 GiB. Nothing is loaded before
 * the first call (about 0.2 s); all solvers then share one instance. An instance that ran out of memory is not used again.
 */

/** Measured with 3 entries a column: 1.87 GiB for 1.96 million columns and as many rows. */
const BYTES_PER_LINE = 400;
const BYTES_PER_ENTRY = 64;
/** HiGHS takes no tighter tolerance. */
const TOLERANCE = 1e-10;

export interface HighsLimits {
  /** Bytes that one program may take, by estimate; at most 2 GiB. */
  readonly maxBytes?: number;
}

/** Returns a solver; loads HiGHS where that has not been done, or where the loaded one ran out of memory. */
export async function openHighs({ maxBytes = MOST_BYTES }: HighsLimits = {}): Promise<LpSolver> {
  const instance = await loadInstance();
  const open = (problem: LpProblem): LpSession => session(instance, problem, Math.min(maxBytes, MOST_BYTES));
  return {
    open,
    solve: (problem) => {
      const opened = open(problem);
      try {
        return opened.solve();
      } finally {
        opened.close();
      }
    },
  };
}

const estimatedBytes = (lines: number, entries: number): number => BYTES_PER_LINE * lines + BYTES_PER_ENTRY * entries;

function session(instance: Instance, problem: LpProblem, maxBytes: number): LpSession {
  const columns = problem.objective.length;
  let rows = 0;
  let entries = 0;
  let full = false;
  let model: Model | undefined;

  const admit = (more: LpRows): boolean => {
    rows += more.lower.length;
    entries += more.column.length;
    full ||= estimatedBytes(columns + rows, entries) > maxBytes;
    return !full;
  };

  if (admit(problem.rows)) {
    within(instance, () => {
      model = instance.highs.createModel(modelOf(instance.highs, problem));
      model.options.set({
        output_flag: false,
        solver: "simplex",
        primal_feasibility_tolerance: TOLERANCE,
        dual_feasibility_tolerance: TOLERANCE,
      });
    });
  }
  return {
    addRows: (more) => {
      if (!admit(more)) return;
      within(instance, () => model?.addRows({ lower: more.lower, upper: more.upper, matrix: matrixOf(more, columns) }));
    },
    solve: () => {
      if (full) return unsolved("memory");
      const solved = within(instance, () => {
        if (model === undefined) throw new InternalError("a linear program that was not loaded");
        // HiGHS reports some failures as an error and some as a status
        const ran = model.raw.run();
        const status = ran.status < 0 ? "failed" : statusOf(model.getModelStatus());
        return status === "optimal" ? solutionOf(model) : unsolved(status);
      });
      return solved ?? unsolved("memory");
    },
    close: () => {
      if (!instance.aborted) model?.dispose();
      model = undefined;
    },
  };
}

const unsolved = (status: LpStatus): LpSolution => ({
  status,
  objective: Number.NaN,
  primal: new Float64Array(0),
  dual: new Float64Array(0),
});

/** Returns HiGHS's solution: its row duals are changes of the objective per unit of the row, as ours. */
function solutionOf(model: Model): LpSolution {
  const { colValue, rowDual } = model.getSolution();
  return { status: "optimal", objective: model.getObjectiveValue(), primal: colValue, dual: rowDual };
}

/** Returns our word for a model status. */
function statusOf(code: number): LpStatus {
  if (code === MODEL_STATUS.empty || code === MODEL_STATUS.optimal) return "optimal";
  if (code === MODEL_STATUS.infeasible) return "infeasible";
  return code === MODEL_STATUS.unbounded ? "unbounded" : "failed";
}
