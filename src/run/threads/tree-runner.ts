import { cancelOn, runTask } from "../../engine/pool/pool.ts";
import type { Engine } from "../../engine/types.ts";
import { rootCount } from "../../synthesize/forestcoll/packing.ts";
import type { TreeKernels } from "../../synthesize/tree-maker.ts";

/** From this many edges of trees on, packing runs on the pool, so that the calling thread stays free to cancel. */
const POOL_FROM = 200_000;

/** Repacking trees takes about as long as this counts, far longer than packing them. */
const REPAIRS_POOL_FROM = 1e6;

/** Links are filled up by trees that few roots have: some for each NPU, however many copies there are. */
const TREES_PER_NPU = 2;

/** Returns whether trees of so many copies have many edges, about. */
function isLarge(copies: Float64Array, npuCount: number): boolean {
  const trees = Math.min(
    copies.reduce((sum, own) => sum + own, 0),
    rootCount(copies) + TREES_PER_NPU * npuCount,
  );
  return trees * npuCount >= POOL_FROM;
}

/** Returns where the kernels of trees run. */
export function treeRunnerFor(
  engine: Engine,
  signal: AbortSignal | undefined,
): { readonly kernels: TreeKernels; readonly dispose: () => void } {
  const { flag, dispose } = cancelOn(signal);
  return {
    kernels: {
      rate: async (problem) => engine.kernels.rate(problem, flag),
      async pack(problem) {
        const task = { kind: "pack" as const, problem };
        const { copies, npuCount, repairs } = problem;
        return isLarge(copies, npuCount) || repairs * npuCount ** 2 >= REPAIRS_POOL_FROM
          ? engine.pool().run(task, flag)
          : runTask(engine.kernels, task, flag);
      },
      width: (copies, npuCount) => (isLarge(copies, npuCount) ? engine.pool().threads : 1),
    },
    dispose,
  };
}
