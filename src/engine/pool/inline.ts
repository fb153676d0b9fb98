import { turn } from "../../base/stopping.ts";
import type { Kernels } from "../contract/kernels.ts";
import { runMilpJob } from "../milp/job.ts";
import { type Pool, runTask } from "./pool.ts";

/** Returns a pool on this thread: one task at a time, with a turn of the event loop before each. */
export function inlinePool(kernels: Kernels): Pool {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => T | Promise<T>): Promise<T> => {
    const result = last.then(async () => {
      await turn();
      return work();
    });
    last = result.catch(() => {});
    return result;
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
