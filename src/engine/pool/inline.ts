import type { Kernels } from "../contract/kernels.ts";
import { runMilpJob } from "../milp/job.ts";
import { type Pool, runTask } from "./pool.ts";

/** Returns a pool on this thread: one task at a time, with a turn of the event loop before each. */
export function inlinePool(kernels: Kernels): Pool {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => T | Promise<T>): Promise<T> => {
    const turn = last.then(async () => {
      // Lets signals and timers in between two tasks.
      await new Promise((resolve) => setTimeout(resolve, 0));
      return work();
    });
    last = turn.catch(() => {});
    return turn;
  };
  return {
    threads: 1,
    run: (task, cancel) => inTurn(() => runTask(kernels, task, cancel)),
    milp: (job, watch, end) => inTurn(() => (end?.aborted ? null : runMilpJob(job, watch))),
    work: (work, argument) => inTurn(() => work.run(argument)),
    prepare: () => {},
    share: (value) => value,
    close: async () => {},
  };
}
