import { InfeasibleError, InputError } from "../../src/base/errors.ts";
import type { Engine } from "../../src/engine/types.ts";
import type { SweepTask } from "../../src/model/sweep/task.ts";
import type { AtlasWorld } from "../../src/run/atlas/extend.ts";
import { runTask, type TaskWorld } from "../../src/run/sweep/run-task.ts";

/** Returns what does the tasks of an atlas one after the other, on an engine of this process. */
export const performHere =
  (engine: Engine, world: TaskWorld): AtlasWorld["perform"] =>
  async (tasks: readonly SweepTask[], ended) => {
    for (const [at, task] of tasks.entries()) {
      try {
        ended(at, { status: "done", why: null, ...(await runTask(engine, task, world)) });
      } catch (error) {
        if (!(error instanceof InputError || error instanceof InfeasibleError)) throw error;
        const status = error instanceof InfeasibleError ? "infeasible" : "refused";
        ended(at, { status, why: error.message, rows: [], schedule: null });
      }
    }
  };
