import { setTimeout as pause } from "node:timers/promises";
import { CancelledError } from "../../src/base/errors.ts";
import { contentHash, type Job, type Outcome } from "../../src/model/sweep/task.ts";
import type { ExecutorOptions, Executors } from "../../src/sweep/executors.ts";

/** What stands for processes that do tasks: rows that are made of the task's hash, after `ms`. */
export const fakeExecutors =
  (ms = 0, seen: (job: Job) => Outcome["status"] | undefined = () => undefined) =>
  async ({ size, backend }: ExecutorOptions): Promise<Executors> => ({
    size,
    backend: backend ?? "native",
    async execute(job, signal) {
      if (ms > 0) await pause(ms, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) throw new CancelledError();
      return fakeOutcome(job, seen(job));
    },
    async close() {},
  });

/** Returns what comes of a task where nobody does it. */
export const fakeOutcome = ({ hash }: Job, status: Outcome["status"] = "done"): Outcome => ({
  hash,
  status,
  why: status === "done" ? null : "as the test has it",
  rows: status === "done" ? [{ value: Number.parseInt(hash.slice(0, 8), 16) }] : [],
  schedule: null,
  measured: { seconds: 0, peakMiB: null, attempts: 1, worker: `${process.pid}` },
});

/** Returns tasks that differ in a seed. */
export const fakeJobs = (count: number, first = 0): Job[] =>
  Array.from({ length: count }, (_, i) => ({
    hash: contentHash(`task ${first + i}`),
    task: {
      verb: "synth",
      topology: "mesh:2x2",
      options: { collective: "allgather", seed: String(first + i) },
      inputs: {},
      keep: false,
    },
    budget: { timeMs: null, memoryBytes: null },
  }));
