import { CancelledError } from "../base/errors.ts";
import type { Job, Outcome } from "../model/sweep/task.ts";
import type { SweepEngine } from "./engine.ts";
import type { Executors } from "./executors.ts";

/** Tasks at hand for each process, so that none waits for the coordinator. */
const AHEAD = 4;

/** Returns the engine that does tasks in processes of this machine. */
export function localEngine(executors: Executors): SweepEngine {
  const stop = new AbortController();
  let pending = 0;
  let working = 0;
  let outcomes: Outcome[] = [];
  let failure: unknown;
  let heard: (() => void) | undefined;
  const tell = (): void => {
    heard?.();
    heard = undefined;
  };
  const start = async (job: Job): Promise<void> => {
    try {
      working++;
      const outcome = await executors.execute(job, stop.signal);
      outcomes.push(outcome);
    } catch (error) {
      if (!(error instanceof CancelledError && stop.signal.aborted)) failure ??= error;
    } finally {
      working--;
      pending--;
      tell();
    }
  };
  return {
    window: executors.size * AHEAD,
    submit: async (jobs) => {
      pending += jobs.length;
      for (const job of jobs) void start(job);
    },
    ended: async () => {
      while (outcomes.length === 0 && pending > 0 && failure === undefined)
        await new Promise<void>((resolve) => {
          heard = resolve;
        });
      if (outcomes.length === 0 && failure !== undefined) throw failure;
      const taken = outcomes;
      outcomes = [];
      return taken;
    },
    settled: async () => undefined,
    state: () => ({ workers: Math.min(executors.size, working), pending }),
    cancel: async () => stop.abort(),
    close: async () => {
      stop.abort();
      await executors.close();
    },
  };
}
