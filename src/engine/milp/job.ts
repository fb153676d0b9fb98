import { type Board, isCancelled, postPoint, postProgress, postStarted } from "./board.ts";
import { conflictOf } from "./conflict.ts";
import { loadInstance } from "./instance.ts";
import type { MilpOptions, MilpProblem, MilpSolution } from "./milp.ts";
import { solveMilp } from "./milp-solve.ts";

/** Work on a mixed-integer program, as it goes to another thread. */
export type MilpJob =
  | { readonly kind: "solve"; readonly problem: MilpProblem; readonly options: Omit<MilpOptions, "onProgress"> }
  | { readonly kind: "conflict"; readonly problem: MilpProblem; readonly options: Pick<MilpOptions, "timeLimitMs"> };

export type MilpResult<T extends MilpJob> = { readonly solve: MilpSolution; readonly conflict: Int32Array }[T["kind"]];

/** What a job tells while it runs, and what it listens to, on the thread that runs it. */
export interface JobWatch {
  readonly board: Board;
  /** Called beside the board where the job's thread is the caller's. */
  readonly onProgress?: MilpOptions["onProgress"];
}

/** Returns the result of a job that this thread runs; loads HiGHS first where that has not been done. */
export async function runMilpJob<T extends MilpJob>(job: T, { board, onProgress }: JobWatch): Promise<MilpResult<T>> {
  const instance = await loadInstance();
  postStarted(board);
  const { problem, options } = job;
  const stopped = (): boolean => isCancelled(board);
  const keep = (point: Float64Array): void => postPoint(board, point);
  if (job.kind === "conflict") {
    return conflictOf(instance, problem, { ...options, stopped, onFewer: keep }) as MilpResult<T>;
  }
  const told: MilpOptions["onProgress"] = (progress) => {
    postProgress(board, progress);
    onProgress?.(progress);
  };
  return solveMilp(instance, problem, { ...options, onProgress: told }, { stopped, onPoint: keep }) as MilpResult<T>;
}
