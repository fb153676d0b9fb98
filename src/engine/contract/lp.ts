/** Rows of a linear program: lower[i] <= sum of value[j] * x[column[j]] over j in offset[i] .. offset[i + 1] <= upper[i]. */
export interface LpRows {
  /** [rows] -Infinity for none. */
  readonly lower: Float64Array;
  /** [rows] Infinity for none. */
  readonly upper: Float64Array;
  /** [rows + 1] */
  readonly offset: Int32Array;
  /** Each at most once in a row. */
  readonly column: Int32Array;
  readonly value: Float64Array;
}

/** A linear program: maximize the sum of objective[j] * x[j] within the bounds of columns and rows. */
export interface LpProblem {
  /** [columns] */
  readonly objective: Float64Array;
  /** [columns] -Infinity for none. */
  readonly lower: Float64Array;
  /** [columns] Infinity for none. */
  readonly upper: Float64Array;
  readonly rows: LpRows;
}

/** "memory": the solver has no room for the program or ran out of it. "failed": it gave up, for example over bad numbers. */
export type LpStatus = "optimal" | "infeasible" | "unbounded" | "memory" | "failed";

export interface LpSolution {
  readonly status: LpStatus;
  /** The other fields are meaningful where the status is "optimal"; they are doubles, so near an optimum, not exactly one. */
  readonly objective: number;
  /** [columns] */
  readonly primal: Float64Array;
  /** [rows] By how much the objective grows for one unit more on the row's binding side: >= 0 for `upper`, <= 0 for `lower`. */
  readonly dual: Float64Array;
}

/** A linear program that grows: each solve starts from the basis of the one before. */
export interface LpSession {
  addRows(rows: LpRows): void;
  solve(): LpSolution;
  /** Frees the solver's memory; the session is of no use afterwards. */
  close(): void;
}

/** Solves linear programs on the calling thread: the same bits for the same sequence of calls, in Node and in a browser. */
export interface LpSolver {
  open(problem: LpProblem): LpSession;
  solve(problem: LpProblem): LpSolution;
}
