import type { Job, Outcome } from "../model/sweep/task.ts";

/** Processes of this machine that do tasks one at a time each. A task that crashes or eats its memory takes its process only. */
export interface Executors {
  /** How many tasks are done at once. */
  readonly size: number;
  /** The kernels that the processes have: "native", "wasm" or "js". */
  readonly backend: string;
  /** Does a task. Resolves to "crashed", "timeout" or "memory" where it ends so; rejects with CancelledError only. */
  execute(job: Job, signal: AbortSignal): Promise<Outcome>;
  /** Ends the processes. */
  close(): Promise<void>;
}

/** What executors are opened with. */
export interface ExecutorOptions {
  readonly size: number;
  /** The backend that tasks are to be done by; null: the first that loads. */
  readonly backend: string | null;
  /** Threads of each process. */
  readonly threads: number;
  /** Where inputs are and schedules go: a folder or an address (`openStore`). */
  readonly store: string;
  /** Most memory of one process, where a task says no less; null: no limit. */
  readonly memoryBytes: number | null;
}
