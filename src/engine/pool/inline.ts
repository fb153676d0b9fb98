import type { Kernels } from "../kernels/kernels.ts";
import { type Pool, runTask } from "./pool.ts";

/** Returns a pool on this thread: one task at a time, with a turn of the event loop before each. */
export function inlinePool(kernels: Kernels): Pool {
  let last: Promise<unknown> = Promise.resolve();
  return {
    threads: 1,
    run(task, cancel) {
      const turn = last.then(async () => {
        // Lets signals and timers in between two tasks.
        await new Promise((resolve) => setTimeout(resolve, 0));
        return runTask(kernels, task, cancel);
      });
      last = turn.catch(() => {});
      return turn;
    },
    share: (value) => value,
    close: async () => {},
  };
}
