import { cancelOn } from "./engine/pool/cancel.ts";
import { runTask } from "./engine/pool/pool.ts";
import type { Engine } from "./engine/types.ts";
import type { TreeKernels } from "./synthesize/tree-maker.ts";

/** From so many edges of trees on, packing runs on the pool, so that the calling thread stays free to cancel. */
const POOL_FROM = 200_000;

/** Returns where the kernels of trees run. */
export function treeRunnerFor(
  engine: Engine,
  signal: AbortSignal | undefined,
): { readonly kernels: TreeKernels; readonly dispose: () => void } {
  const { flag, dispose } = cancelOn(signal);
  return {
    kernels: {
      rate: async (problem) => engine.kernels.rate(problem, flag),
      arborescence: async (problem) => engine.kernels.arborescence(problem, flag),
      async pack(problem) {
        const roots = problem.copies.reduce((count, copies) => count + (copies > 0 ? 1 : 0), 0);
        const task = { kind: "pack" as const, problem };
        return roots * problem.npuCount < POOL_FROM
          ? runTask(engine.kernels, task, flag)
          : engine.pool().run(task, flag);
      },
    },
    dispose,
  };
}
