import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Piscina } from "piscina";
import { InternalError } from "../../errors.ts";
import type { Backend, CancelFlag } from "../kernels/kernels.ts";
import type { Board } from "../milp/board.ts";
import type { JobWatch, MilpJob } from "../milp/job.ts";
import type { MilpSolution } from "../milp/milp.ts";
import { type Failure, fromFailure } from "./failure.ts";
import type { Pool, PoolResult, PoolTask } from "./pool.ts";
import { shareColumns } from "./share.ts";

/** What a worker is started with. */
export interface WorkerSetup {
  readonly backend: Backend;
}

export type WorkerRequest =
  | { readonly task: PoolTask; readonly cancel: CancelFlag | undefined }
  | { readonly job: MilpJob; readonly board: Board };

export type WorkerResult = PoolResult<PoolTask> | MilpSolution;
export type WorkerReply = { readonly result: WorkerResult } | { readonly failure: Failure };

/** The compiled worker: beside us in dist/, and the same file when this module runs from src/ (tests). */
function workerFile(): string {
  const candidates = ["../../worker.js", "../../../dist/worker.js"];
  const files = candidates.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const found = files.find((file) => existsSync(file));
  if (found === undefined) throw new InternalError("dist/worker.js is missing: `npm run build:ts` makes it");
  return found;
}

/** Returns a pool of worker threads that run the same backend as this one. Nothing is started before the first task. */
export function piscinaPool(backend: Backend, threads: number): Pool {
  const workerData: WorkerSetup = { backend };
  let started: Promise<Piscina<WorkerRequest, WorkerReply>> | undefined;
  const start = async () => {
    const { Piscina } = await import("piscina");
    return new Piscina({ filename: workerFile(), minThreads: 0, maxThreads: threads, idleTimeout: 1000, workerData });
  };
  const sent = async (request: WorkerRequest, signal: AbortSignal | null = null): Promise<WorkerResult> => {
    started ??= start();
    const reply = await (await started).run(request, { signal });
    if ("failure" in reply) throw fromFailure(reply.failure);
    return reply.result;
  };
  return {
    threads,
    run: async <T extends PoolTask>(task: T, cancel?: CancelFlag) => (await sent({ task, cancel })) as PoolResult<T>,
    async milp(job: MilpJob, { board }: JobWatch, end?: AbortSignal) {
      if (end?.aborted) return null;
      try {
        return (await sent({ job, board }, end)) as MilpSolution;
      } catch (error) {
        if (end?.aborted || ranOutOfMemory(error)) return null;
        throw error;
      }
    },
    share: shareColumns,
    close: async () => (await started)?.destroy(),
  };
}

/** Returns whether an error of a thread's end says that it had no more memory. */
const ranOutOfMemory = (error: unknown): boolean =>
  (error as { readonly code?: unknown } | null)?.code === "ERR_WORKER_OUT_OF_MEMORY";
