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

/** A mixed-integer linear program: an LpProblem (maximized) some of whose columns must be whole. */
export interface MilpProblem extends LpProblem {
  /** [columns] 1: whole numbers only. */
  readonly integer: Uint8Array;
  /** [columns] A point to start from, NaN where nothing is known; the solver completes it, or goes without. */
  readonly start?: Float64Array;
}

export interface MilpOptions {
  /** Stops after so long; never without it. */
  readonly timeLimitMs?: number;
  /** Stops after this many nodes of the search tree; a limit that does not depend on the machine. */
  readonly nodeLimit?: number;
  /** Stops after this many iterations of the simplex method, as they are seen between relaxations; as independent of the machine. */
  readonly iterationLimit?: number;
  /** Stops once bound - objective is at most this; 0 without it. */
  readonly absoluteGap?: number;
  /** Stops at the first point with at least this objective. */
  readonly enough?: number;
  /** Told now and then how far the search is. */
  readonly onProgress?: (progress: MilpProgress) => void;
}

export interface MilpProgress {
  readonly ms: number;
  readonly nodes: number;
  /** Of the best point so far; NaN while there is none. */
  readonly objective: number;
  /** No point has more. */
  readonly bound: number;
}

/**
 * "optimal": proved, within the gap asked for. "enough": `enough` was reached. "limit": time or nodes ran out. "memory": the
 * solver has no room for the program or ran out of it. "failed": it gave up, for example over bad numbers.
 */
export type MilpStatus = "optimal" | "enough" | "infeasible" | "unbounded" | "limit" | "memory" | "failed";

export interface MilpSolution {
  readonly status: MilpStatus;
  /** [columns] The best point found, whole columns rounded to whole numbers; empty where none was found. */
  readonly primal: Float64Array;
  /** Of that point; NaN where there is none. */
  readonly objective: number;
  /** No point has more (a double, so nearly a proof); Infinity where nothing is known, -Infinity where infeasible. */
  readonly bound: number;
  readonly nodes: number;
  readonly ms: number;
  /** Of the simplex method, all relaxations together; absent where the solver did not live to tell. */
  readonly iterations?: number;
}

/** Size of a program. */
export interface MilpSize {
  readonly columns: number;
  readonly rows: number;
  readonly entries: number;
}

/**
 * Solves mixed-integer programs away from the calling thread where there are other threads. A solve rejects with
 * CancelledError once the caller's signal aborts.
 */
export interface MilpRunner {
  /** Bytes that one program may take, by `bytesFor`. */
  readonly maxBytes: number;
  /** Returns the bytes that a program of this size needs, by measurement; cheap, so asked before a program is built. */
  bytesFor(size: MilpSize): number;
  solve(problem: MilpProblem, options?: MilpOptions): Promise<MilpSolution>;
}
