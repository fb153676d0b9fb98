import type { Job, Outcome } from "../model/sweep/task.ts";

/** Where an engine's tasks are done, for the line of progress. */
export interface EngineState {
  /** Processes that do tasks now. */
  readonly workers: number;
  /** Tasks that were handed over and have not come back. */
  readonly pending: number;
}

/**
 * Does the tasks of one sweep: in processes of this machine, by a queue on a server, or by parts of a job array. An engine may do a
 * task twice (a worker died and nobody knows how far it was); who records outcomes takes the first of each hash.
 */
export interface SweepEngine {
  /** Tasks that it likes to have at once; more are not handed over until some came back. */
  readonly window: number;
  /** Hands tasks over. Those that it has already, from a coordinator before this one too, are not begun anew. Rejects where it cannot be reached. */
  submit(jobs: readonly Job[]): Promise<void>;
  /** Resolves to what has ended since, at least one; to none where nothing is pending. Rejects where the engine is lost. */
  ended(): Promise<readonly Outcome[]>;
  /** Says that outcomes are on disk: the engine may forget them. */
  settled(hashes: readonly string[]): Promise<void>;
  state(): EngineState;
  /** Takes back what has not begun, and ends what has. */
  cancel(): Promise<void>;
  /** Leaves: what has begun goes on where that makes sense (a queue), or ends. */
  close(): Promise<void>;
}
