import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Piscina } from "piscina";
import { CancelledError, InternalError } from "../../base/errors.ts";
import type { Backend, CancelFlag, Kernels } from "../contract/kernels.ts";
import type { MilpSolution } from "../contract/programs.ts";
import type { JobWatch, MilpJob } from "../milp/job.ts";
import { type Pool, type PoolResult, type PoolTask, shareColumns, type Work } from "./pool.ts";
import { fromFailure, inViews, type WorkerReply, type WorkerRequest, type WorkerResult } from "./request.ts";

/** What a worker is started with. */
export interface WorkerSetup {
  readonly backend: Backend;
  readonly module: WebAssembly.Module | undefined;
}

/** The compiled worker: beside us in dist/, and the same file when this module runs from src/ (tests). */
function workerFile(): string {
  const candidates = ["../../run/threads/worker.js", "../../../dist/run/threads/worker.js"];
  const files = candidates.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const found = files.find((file) => existsSync(file));
  if (found === undefined)
    throw new InternalError("dist/run/threads/worker.js is missing: `npm run build:ts` makes it");
  return found;
}

/**
 * Where Node can `require` a module like our worker, a thread that is ended in the middle of it ends the process (an assertion of
 * Node 20.20 fails); piscina takes `import` where it cannot.
 */
const LOADING = process.features.require_module ? { execArgv: ["--no-experimental-require-module"] } : {};

/** Returns a pool of worker threads that run these kernels. Nothing is started before the first task, or `prepare`. */
export function piscinaPool({ backend, module }: Kernels, threads: number): Pool {
  const workerData: WorkerSetup = { backend, module };
  let started: Piscina<WorkerRequest | null, WorkerReply> | undefined;
  let starting: Promise<unknown> | undefined;
  const start = (): Piscina<WorkerRequest | null, WorkerReply> => {
    // Loaded at once, so that a thread starts while the caller goes on without a turn of the event loop.
    const { Piscina } = createRequire(import.meta.url)("piscina") as typeof import("piscina");
    const options = {
      filename: workerFile(),
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: 1000,
      workerData,
      ...LOADING,
    };
    // Errors that belong to no task (the late answer to one that was given up, say) would end the process.
    return new Piscina(options).on("error", () => {});
  };
  let closed = false;
  const answered = async (request: WorkerRequest, signal: AbortSignal | null): Promise<WorkerReply> => {
    try {
      if (closed) throw new CancelledError();
      started ??= start();
      // A task that waits in the queue would start a second thread.
      await starting;
      return await started.run(request, { signal });
    } catch (error) {
      throw closed ? new CancelledError() : error;
    }
  };
  const sent = async (request: WorkerRequest, signal: AbortSignal | null = null): Promise<WorkerResult> => {
    const reply = await answered(request, signal);
    if ("failure" in reply) throw fromFailure(reply.failure);
    return inViews(reply.result);
  };
  return {
    threads,
    prepare() {
      if (closed) return;
      started ??= start();
      // What hinders a thread hinders its first task too, which says so.
      if (started.threads.length === 0) starting = started.run(null).catch(() => {});
    },
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
    work: async <A, R extends object>({ name }: Work<A, R>, argument: A) => (await sent({ work: name, argument })) as R,
    share: shareColumns,
    async close() {
      closed = true;
      await started?.destroy();
    },
  };
}

/** Returns whether an error of a thread's end says that it had no more memory. */
const ranOutOfMemory = (error: unknown): boolean =>
  (error as { readonly code?: unknown } | null)?.code === "ERR_WORKER_OUT_OF_MEMORY";
