import type { LpProblem } from "./lp.ts";

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
  /** Stops after so many nodes of the search tree; a limit that does not depend on the machine. */
  readonly nodeLimit?: number;
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
