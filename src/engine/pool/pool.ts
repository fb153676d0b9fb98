import { CancelledError } from "../../base/errors.ts";
import type { CancelFlag, Kernels, SweepProblem } from "../contract/kernels.ts";
import type { MilpSolution } from "../contract/programs.ts";
import { STATUS, throwForStatus } from "../kernels/status.ts";
import type { JobWatch, MilpJob } from "../milp/job.ts";

type PoolKernel = Exclude<keyof Kernels, "backend" | "module" | "arborescence" | "replay" | "judge">;

/** One kernel call. */
export type PoolTask = {
  [Kind in PoolKernel]: { readonly kind: Kind; readonly problem: Parameters<Kernels[Kind]>[0] };
}[PoolKernel];

/** What a task gives: what the kernel returns. */
export type PoolResult<T extends PoolTask> = ReturnType<Kernels[T["kind"]]>;

/** Work of the layers above, which threads know by its name; argument and result are plain data. */
export interface Work<A, R extends object> {
  readonly name: string;
  readonly run: (argument: A) => R;
}

/** Runs kernel calls, several at a time where there are threads. The results do not depend on how many there are. */
export interface Pool {
  /** Calls that run at the same time. */
  readonly threads: number;
  /** Rejects with the kernel's error; with CancelledError when `cancel` (a shared flag, see newCancelFlag) is set. */
  run<T extends PoolTask>(task: T, cancel?: CancelFlag): Promise<PoolResult<T>>;
  /**
   * Works on a mixed-integer program. Gives null where its thread ended before it did: because `end` aborted, which ends the
   * thread at once where there is another one, or for want of memory; what was found until then is on the board.
   */
  milp(job: MilpJob, watch: JobWatch, end?: AbortSignal): Promise<MilpSolution | null>;
  /** Does work of the layers above; rejects with its error. */
  work<A, R extends object>(work: Work<A, R>, argument: A): Promise<R>;
  /** Starts a thread, if none has been started yet, for tasks that come soon; returns at once. */
  prepare(): void;
  /** Returns a copy whose columns lie in shared memory, so that a task does not copy them; the value itself where tasks copy nothing. */
  share<T extends object>(value: T): T;
  /** Ends the threads; tasks that still run are abandoned, with CancelledError. */
  close(): Promise<void>;
}

/** Runs one task on kernels at hand. */
export function runTask<T extends PoolTask>(kernels: Kernels, task: T, cancel?: CancelFlag): PoolResult<T> {
  if (cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
  try {
    const kernel = kernels[task.kind] as (problem: T["problem"], cancel?: CancelFlag) => PoolResult<T>;
    return kernel(task.problem, cancel);
  } catch (error) {
    // Columns that cannot be allocated are want of memory as well, and so are those of kernels in JavaScript.
    if (error instanceof RangeError && /allocation failed/i.test(error.message))
      throwForStatus(STATUS.outOfMemory, 0, 0);
    throw error;
  }
}

/** Returns a flag, with room for progress, that other threads see; over ordinary memory where there is no shared one. */
export function newCancelFlag(): CancelFlag {
  return typeof SharedArrayBuffer === "undefined" ? new Int32Array(2) : new Int32Array(new SharedArrayBuffer(8));
}

/** Asks every kernel call that was given this flag to stop. */
export function cancel(flag: CancelFlag): void {
  Atomics.store(flag, 0, 1);
}

/** Returns a flag that is set when the signal aborts, and what takes the listener away again. */
export function cancelOn(signal: AbortSignal | undefined): { readonly flag: CancelFlag; readonly dispose: () => void } {
  const flag = newCancelFlag();
  const set = (): void => cancel(flag);
  if (signal?.aborted) set();
  signal?.addEventListener("abort", set, { once: true });
  return { flag, dispose: () => signal?.removeEventListener("abort", set) };
}

/** Parts for each thread, for some sinks take longer than others. */
const PARTS_PER_THREAD = 4;

/**
 * Returns what the sweep kernel returns, the flow into each sink, with the sinks spread over the pool's threads, which read
 * one copy of the network. Sinks do not depend on each other, so the answer is the same with any number of threads.
 */
export async function parallelSweep(pool: Pool, problem: SweepProblem, cancel?: CancelFlag): Promise<Float64Array> {
  const sinkCount = problem.sinks.length;
  const parts = Math.max(1, Math.min(sinkCount, pool.threads === 1 ? 1 : pool.threads * PARTS_PER_THREAD));
  const shared = pool.share(problem);
  const firstOf = (part: number): number => Math.floor((part * sinkCount) / parts);
  const flows = await Promise.all(
    Array.from({ length: parts }, (_, part) => {
      const sinks = shared.sinks.subarray(firstOf(part), firstOf(part + 1));
      return pool.run({ kind: "sweep", problem: { ...shared, sinks } }, cancel);
    }),
  );
  const all = new Float64Array(sinkCount);
  flows.forEach((flow, part) => {
    all.set(flow, firstOf(part));
  });
  return all;
}

type Column = Int32Array | Uint32Array | Float64Array | Uint8Array | Uint16Array;

function shareColumn<T extends Column>(column: T): T {
  if (column.buffer instanceof SharedArrayBuffer) return column;
  const Kind = column.constructor as new (buffer: SharedArrayBuffer) => T;
  const copy = new Kind(new SharedArrayBuffer(column.byteLength));
  copy.set(column);
  return copy;
}

/**
 * Returns a copy of a plain value whose typed arrays lie in shared memory; those that do already are kept. The value
 * itself where there is no shared memory (a page without cross-origin isolation).
 */
export function shareColumns<T>(value: T): T {
  if (typeof SharedArrayBuffer === "undefined" || typeof value !== "object" || value === null) return value;
  if (ArrayBuffer.isView(value)) return shareColumn(value as unknown as Column) as unknown as T;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shareColumns(part)])) as T;
}
