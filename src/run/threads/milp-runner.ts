import { refuseStopped } from "../../base/stopping.ts";
import type { MilpOptions, MilpProblem, MilpRunner, MilpSolution, MilpStatus } from "../../engine/contract/programs.ts";
import { isStarted, latestPoint, latestProgress, newBoard, postCancel } from "../../engine/milp/board.ts";
import { bytesForMilp, MILP_BYTES, sizeOfMilp } from "../../engine/milp/instance.ts";
import type { MilpJob } from "../../engine/milp/job.ts";
import { bestPoint, solutionOf } from "../../engine/milp/outcome.ts";
import type { Engine } from "../../engine/types.ts";

const POLL_MS = 100;
/** The solver looks at clock and flags now and then only, seldom in large programs: after so long its thread is ended. */
const GRACE_MS = 400;
/** The same as a share of the limit, where that is less. */
const GRACE_SHARE = 0.02;

/** A job's end: its result, or null where its thread was ended first, with what the board said by then. */
interface Attended {
  readonly result: MilpSolution | null;
  readonly overdue: boolean;
  readonly point: Float64Array | undefined;
  readonly bound: number;
  readonly nodes: number;
  readonly ms: number;
}

/**
 * Returns where mixed-integer programs are solved: on the engine's pool, so that with threads the caller never waits, limits
 * of time hold within a second, and a solver that is cancelled or runs out of memory leaves its best point behind. On the
 * calling thread (a page that is not isolated, or no threads) the signal is heard before a solve only; limits of time hold at the solver's
 * next look at the clock.
 */
export function milpRunner(engine: Engine, signal: AbortSignal | undefined): MilpRunner {
  const maxBytes = Math.min(MILP_BYTES, engine.freeMemory() ?? MILP_BYTES);
  const fits = (problem: MilpProblem): boolean => bytesForMilp(sizeOfMilp(problem)) <= maxBytes;
  return {
    maxBytes,
    bytesFor: bytesForMilp,
    async solve(problem, { onProgress, ...options } = {}) {
      refuseStopped(signal);
      const ended = (status: MilpStatus, found: Omit<Attended, "result" | "overdue">) =>
        solutionOf(problem, { ...found, status, point: bestPoint(problem, [found.point, problem.start]) });
      if (!fits(problem))
        return ended("memory", { point: undefined, bound: Number.POSITIVE_INFINITY, nodes: 0, ms: 0 });
      const { result, overdue, ...found } = await attended(engine, signal, { problem, options }, onProgress);
      return result ?? ended(overdue ? "limit" : "memory", found);
    },
  };
}

/** Runs a job on the pool, handing on its progress, and ends its thread where it does not end in time. */
async function attended(
  engine: Engine,
  signal: AbortSignal | undefined,
  job: MilpJob,
  onProgress?: MilpOptions["onProgress"],
): Promise<Attended> {
  const { timeLimitMs = Number.POSITIVE_INFINITY } = job.options;
  const board = newBoard(job.problem.objective.length);
  const end = new AbortController();
  let ending: ReturnType<typeof setTimeout> | undefined;
  let startedMs: number | undefined;
  let overdue = false;
  let told = 0;
  const endSoon = (): void => {
    postCancel(board);
    ending ??= setTimeout(() => end.abort(), Math.min(GRACE_MS, GRACE_SHARE * timeLimitMs));
  };
  const look = (): void => {
    const latest = latestProgress(board);
    if (latest !== undefined && latest.times > told) {
      told = latest.times;
      onProgress?.(latest.progress);
    }
    if (!isStarted(board)) return;
    startedMs ??= performance.now();
    overdue ||= performance.now() - startedMs > timeLimitMs;
    if (overdue) endSoon();
  };
  const direct: MilpOptions["onProgress"] = (progress) => {
    told++;
    onProgress?.(progress);
  };
  const timer = setInterval(look, POLL_MS);
  signal?.addEventListener("abort", endSoon, { once: true });
  try {
    const result = await engine.pool().milp(job, { board, onProgress: direct }, end.signal);
    refuseStopped(signal);
    const { bound, nodes } = latestProgress(board)?.progress ?? { bound: Number.POSITIVE_INFINITY, nodes: 0 };
    const ms = performance.now() - (startedMs ?? performance.now());
    return { result, overdue, point: latestPoint(board), bound, nodes, ms };
  } finally {
    clearInterval(timer);
    clearTimeout(ending);
    signal?.removeEventListener("abort", endSoon);
  }
}
