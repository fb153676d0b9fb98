import type { ExecutorOptions, Executors } from "./executors.ts";

/** What a worker is run with, wherever its tasks come from. */
export interface WorkerOptions {
  readonly version: string;
  /** The kernels that it is to use; null: those that sweeps ask for, else the first that load. */
  readonly backend: string | null;
  /** The first kernels that load here. */
  readonly kernels: string;
  readonly threads: number;
  /** Tasks at once. */
  readonly size: number;
  /** Most memory of the process of a task; null: no limit. */
  readonly memoryBytes: number | null;
  /** How long what runs may go on once the worker is to end. */
  readonly graceMs: number;
  /** Ends the worker: what runs is finished, and handed back where that takes too long. */
  readonly signal: AbortSignal;
  readonly open: (options: ExecutorOptions) => Promise<Executors>;
  note(line: string): void;
  /** Hears whenever a task began or ended. */
  progress(state: { readonly done: number; readonly running: number }): void;
}
