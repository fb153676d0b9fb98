import { CancelledError, InternalError } from "../base/errors.ts";
import type { Job, Row, TaskStatus } from "../model/sweep/task.ts";
import type { SweepEngine } from "./engine.ts";
import type { Entry, Journal } from "./journal.ts";

/** A job with where it stands in its sweep. */
export interface Placed {
  readonly job: Job;
  readonly cells: Row;
}

/** How far a sweep is. */
export interface SweepProgress {
  /** Tasks that have an outcome, of those that were come upon so far. */
  readonly done: number;
  /** Of them those that had one before. */
  readonly before: number;
  readonly pending: number;
  readonly workers: number;
  readonly statuses: Readonly<Record<TaskStatus, number>>;
}

export interface Coordination {
  readonly engine: SweepEngine;
  readonly journal: Journal;
  /** Tasks that ended so are done again; those of other outcomes never. */
  readonly again: readonly TaskStatus[];
  readonly signal: AbortSignal;
  readonly onProgress: (progress: SweepProgress) => void;
  /** Hears of each outcome once it is written. */
  readonly onEnded?: (entry: Entry) => void;
}

/** Outcomes that another try may change. */
export const ANOTHER_TRY: readonly TaskStatus[] = ["timeout", "memory", "crashed"];
/** What is written reaches the disk at least so often. */
const FLUSH_MS = 1000;

/**
 * Does tasks that the journal has no outcome of, each once, and writes what came of them as it comes. Only as many as the engine
 * likes are at hand, so memory does not grow with their number. Rejects with CancelledError, and where engine or disk is lost:
 * what is in the journal stays.
 */
export async function coordinate(tasks: Iterable<Placed>, coordination: Coordination): Promise<SweepProgress> {
  const { engine, journal, again, signal, onProgress, onEnded } = coordination;
  const statuses: Record<TaskStatus, number> = {
    done: 0,
    refused: 0,
    infeasible: 0,
    timeout: 0,
    memory: 0,
    crashed: 0,
  };
  const cells = new Map<string, Row>();
  let before = 0;
  let done = 0;
  let unsettled: string[] = [];
  let flushed = performance.now();
  const progress = (): SweepProgress => ({ done, before, ...engine.state(), statuses: { ...statuses } });
  const settle = async (): Promise<void> => {
    if (unsettled.length === 0) return;
    journal.flush();
    const hashes = unsettled;
    unsettled = [];
    flushed = performance.now();
    await engine.settled(hashes);
  };
  const remaining = tasks[Symbol.iterator]();
  let isOver = false;
  /** Hands over what the engine has room for. */
  const refill = async (): Promise<void> => {
    const jobs: Job[] = [];
    while (!isOver && cells.size < engine.window) {
      const next = remaining.next();
      if (next.done === true) {
        isOver = true;
        break;
      }
      const { job, cells: own } = next.value;
      if (cells.has(job.hash)) continue;
      const known = journal.status(job.hash);
      if (known !== null && !again.includes(known)) {
        before++;
        done++;
        statuses[known]++;
        if (before % 10_000 === 0) onProgress(progress());
        continue;
      }
      cells.set(job.hash, own);
      jobs.push(job);
    }
    if (jobs.length > 0) await engine.submit(jobs);
  };
  try {
    await refill();
    while (cells.size > 0) {
      onProgress(progress());
      const ended = await unlessAborted(engine.ended(), signal);
      if (ended.length === 0) throw new InternalError("tasks were handed over that nobody has");
      const entries = ended.flatMap(({ hash, ...outcome }): Entry[] => {
        const own = cells.get(hash);
        // the first outcome of a task counts
        cells.delete(hash);
        return own === undefined ? [] : [{ task: hash, cells: own, ...outcome }];
      });
      journal.append(entries);
      for (const entry of entries) {
        done++;
        statuses[entry.status]++;
        onEnded?.(entry);
      }
      for (const { hash } of ended) unsettled.push(hash);
      await refill();
      if (performance.now() - flushed > FLUSH_MS) await settle();
    }
    onProgress(progress());
  } finally {
    // what came of tasks is on the disk, whatever ends this
    if (unsettled.length > 0) await settle().catch(() => undefined);
  }
  return progress();
}

/** Returns what a promise gives, unless the signal comes first: then rejects with CancelledError. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new CancelledError());
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
