import { CancelledError } from "../../base/errors.ts";
import type {
  Balance,
  BalanceProblem,
  CancelFlag,
  ConcurrentFlow,
  ConcurrentProblem,
  Kernels,
  MatchProblem,
  PackOutcome,
  PackProblem,
  PlaceProblem,
  Rate,
  RateProblem,
  RelayProblem,
  SpreadLogs,
  SpreadProblem,
  SweepProblem,
  Transfers,
} from "../contract/kernels.ts";
import type { MilpSolution } from "../contract/milp.ts";
import { STATUS, throwForStatus } from "../kernels/status.ts";
import type { JobWatch, MilpJob } from "../milp/job.ts";

/** One kernel call. */
export type PoolTask =
  | { readonly kind: "match"; readonly problem: MatchProblem }
  | { readonly kind: "spread"; readonly problem: SpreadProblem }
  | { readonly kind: "relay"; readonly problem: RelayProblem }
  | { readonly kind: "place"; readonly problem: PlaceProblem }
  | { readonly kind: "rate"; readonly problem: RateProblem }
  | { readonly kind: "pack"; readonly problem: PackProblem }
  | { readonly kind: "sweep"; readonly problem: SweepProblem }
  | { readonly kind: "balance"; readonly problem: BalanceProblem }
  | { readonly kind: "concurrent"; readonly problem: ConcurrentProblem };

/** What a task gives: null when a spread, relay, pack or balance problem had too little room; the starts of a place problem; the flows of a sweep. */
export type PoolResult<T extends PoolTask> = {
  readonly match: Transfers;
  readonly spread: SpreadLogs | null;
  readonly relay: Transfers | null;
  readonly place: Float64Array;
  readonly rate: Rate;
  readonly pack: PackOutcome | null;
  readonly sweep: Float64Array;
  readonly balance: Balance | null;
  readonly concurrent: ConcurrentFlow;
}[T["kind"]];

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
    return call(kernels, task, cancel) as PoolResult<T>;
  } catch (error) {
    // Columns that cannot be allocated are want of memory as well, and so are those of kernels in JavaScript.
    if (error instanceof RangeError && /allocation failed/i.test(error.message))
      throwForStatus(STATUS.outOfMemory, 0, 0);
    throw error;
  }
}

function call(kernels: Kernels, task: PoolTask, cancel: CancelFlag | undefined): PoolResult<PoolTask> {
  switch (task.kind) {
    case "match":
      return kernels.match(task.problem, cancel);
    case "spread":
      return kernels.spread(task.problem, cancel);
    case "relay":
      return kernels.relay(task.problem, cancel);
    case "place":
      return kernels.place(task.problem, cancel);
    case "pack":
      return kernels.pack(task.problem, cancel);
    case "rate":
      return kernels.rate(task.problem, cancel);
    case "sweep":
      return kernels.sweep(task.problem, cancel);
    case "balance":
      return kernels.balance(task.problem, cancel);
    case "concurrent":
      return kernels.concurrent(task.problem, cancel);
  }
}
