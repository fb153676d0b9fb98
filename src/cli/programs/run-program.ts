import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { CancelledError, InputError, InternalError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { freeMemory } from "../../engine/memory.ts";
import { shareColumns } from "../../engine/pool/pool.ts";
import { type Execution, type ExecutionRequest, ended, executeProgram, planOf } from "../../execute/execute.ts";
import { joined } from "../../execute/judge.ts";
import { roomChunks } from "../../execute/machine.ts";
import { memoryOf } from "../../execute/memory.ts";
import { controlLength, type ThreadReport, type ThreadSetup } from "../../execute/thread.ts";
import type { Program } from "../../model/program/program.ts";
import { roundedSize } from "../../report/amounts.ts";

/** Threads that run ranks, at most; with more ranks, each runs several. */
export const MOST_THREADS = 64;

/** What a worker thread takes by itself. */
const THREAD_BYTES = 8 * 2 ** 20;

export interface RunRequest extends Omit<ExecutionRequest, "order"> {
  /** 1: on this thread, in an order that the seed decides. More: ranks run side by side, in whatever order comes about. */
  readonly threads: number;
}

/**
 * Returns what came of a program on real buffers. Rejects with InputError for a size that chunks do not divide, or whose buffers
 * do not fit in memory; with CancelledError once the signal is aborted.
 */
export async function runProgram(program: Program, request: RunRequest, signal: AbortSignal): Promise<Execution> {
  const plan = planOf(program, request.placement, request.sizeBytes, request.room);
  const threads = Math.max(1, Math.min(request.threads, MOST_THREADS, program.rankCount));
  checkMemory(plan.bytes + threads * (THREAD_BYTES + plan.bytesPerThread));
  if (threads === 1 || plan.faults.length > 0) return executeProgram(program, request);
  const { layout, wiring, room } = plan;
  const shared: Omit<ThreadSetup, "thread"> = {
    plan: { ...plan, program: shareColumns(program), layout: shareColumns(layout), wiring: shareColumns(wiring) },
    memory: memoryOf(program, layout, wiring, roomChunks(room), request.type, true),
    type: request.type,
    seed: request.seed,
    threads,
    control: new Int32Array(new SharedArrayBuffer(4 * controlLength(threads))),
  };
  const reports = await reportsOf(shared, signal);
  const judgements = reports.flatMap(({ judgement }) => (judgement === null ? [] : [judgement]));
  const sum = (of: (report: ThreadReport) => number): number =>
    reports.reduce((total, report) => total + of(report), 0);
  return ended(plan, {
    faults: reports.flatMap(({ faults }) => faults),
    waits: reports.flatMap(({ waits }) => waits),
    machine: { instructions: sum(({ instructions }) => instructions), bytes: sum(({ bytes }) => bytes) },
    ...(judgements.length === threads ? { judgement: joined(judgements) } : {}),
  });
}

function checkMemory(bytes: number): void {
  const free = freeMemory();
  if (free === null || bytes <= free) return;
  const [wanted, there] = [`buffers of ${roundedSize(bytes)}`, `the ${roundedSize(free)} of memory that is free`];
  throw new InputError("the size", `one whose buffers fit in ${there}`, inWords(wanted)).saying(
    `${wanted} do not fit in ${there}; a smaller ${optionName("sizeBytes")} may`,
  );
}

/** The compiled worker: above us in dist/, and the same file when this module runs from src/ (tests). */
function workerFile(): string {
  const files = ["../../run/threads/rank-worker.js", "../../../dist/run/threads/rank-worker.js"].map((p) =>
    fileURLToPath(new URL(p, import.meta.url)),
  );
  const found = files.find((file) => existsSync(file));
  if (found === undefined)
    throw new InternalError("dist/run/threads/rank-worker.js is missing: `npm run build:ts` makes it");
  return found;
}

/** Starts the threads and returns their reports; ends them all where one fails or the signal is aborted. */
async function reportsOf(shared: Omit<ThreadSetup, "thread">, signal: AbortSignal): Promise<ThreadReport[]> {
  const file = workerFile();
  const workers: Worker[] = [];
  try {
    return await new Promise((resolve, reject) => {
      const reports: ThreadReport[] = [];
      const cancel = (): void => reject(new CancelledError());
      if (signal.aborted) cancel();
      signal.addEventListener("abort", cancel, { once: true });
      for (let thread = 0; thread < shared.threads; thread++) {
        const worker = new Worker(file, { workerData: { ...shared, thread } satisfies ThreadSetup });
        workers.push(worker);
        worker.once("message", (report: ThreadReport) => {
          worker.removeAllListeners("exit");
          reports.push(report);
          if (reports.length === shared.threads) resolve(reports);
        });
        worker.once("error", reject);
        worker.once("exit", () => reject(new InternalError("a thread ended without a report")));
      }
    });
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}
