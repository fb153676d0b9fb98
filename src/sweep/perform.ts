import { type Outcome, type SweepTask, type TaskBudget, taskHash } from "../model/sweep/task.ts";
import { ANOTHER_TRY, coordinate } from "./coordinator.ts";
import type { SweepEngine } from "./engine.ts";
import type { Journal } from "./journal.ts";

/** What does tasks, and remembers what came of them. */
export interface Performance {
  readonly engine: SweepEngine;
  readonly journal: Journal;
  /** Of Banyan. */
  readonly version: string;
  readonly budget: TaskBudget;
  readonly signal: AbortSignal;
}

/**
 * Returns what does tasks, each once for the journal, also if another process began them; `ended` hears of each as it ends. What ran out
 * of time or memory before, or crashed, is done again. Rejects with CancelledError, and where engine or disk is lost.
 */
export const performing =
  ({ engine, journal, version, budget, signal }: Performance) =>
  async (tasks: readonly SweepTask[], ended: (at: number, outcome: Omit<Outcome, "hash">) => void): Promise<void> => {
    const jobs = tasks.map((task) => ({ hash: taskHash(task, version), task, budget }));
    const waiting = new Map<string, number[]>();
    for (const [at, { hash }] of jobs.entries()) waiting.set(hash, [...(waiting.get(hash) ?? []), at]);
    const tell = (hash: string, outcome: Omit<Outcome, "hash">): void => {
      for (const at of waiting.get(hash) ?? []) ended(at, outcome);
      waiting.delete(hash);
    };
    await coordinate(
      jobs.map((job) => ({ job, cells: {} })),
      {
        ...{ engine, journal, again: ANOTHER_TRY, signal, onProgress: () => undefined },
        onEnded: ({ task, ...outcome }) => tell(task, outcome),
      },
    );
    for (const hash of [...waiting.keys()]) {
      const entry = journal.entry(hash);
      if (entry !== null) tell(hash, entry);
    }
  };
