import type { MilpOptions, MilpProblem, MilpSolution } from "../contract/milp.ts";
import { type Board, isCancelled, postPoint, postProgress, postStarted } from "./board.ts";
import { loadInstance } from "./instance.ts";
import { solveMilp } from "./milp-solve.ts";

/** A mixed-integer program to solve, as it goes to another thread. */
export interface MilpJob {
  readonly problem: MilpProblem;
  readonly options: Omit<MilpOptions, "onProgress">;
}

/** What a job tells while it runs, and what it listens to, on the thread that runs it. */
export interface JobWatch {
  readonly board: Board;
  /** Called beside the board where the job's thread is the caller's. */
  readonly onProgress?: MilpOptions["onProgress"];
}

/** Returns the solution of a job that this thread runs; loads HiGHS first where that has not been done. */
export async function runMilpJob(
  { problem, options }: MilpJob,
  { board, onProgress }: JobWatch,
): Promise<MilpSolution> {
  const instance = await loadInstance();
  postStarted(board);
  const told: MilpOptions["onProgress"] = (progress) => {
    postProgress(board, progress);
    onProgress?.(progress);
  };
  const listening = { stopped: () => isCancelled(board), onPoint: (point: Float64Array) => postPoint(board, point) };
  return solveMilp(instance, problem, { ...options, onProgress: told }, listening);
}
