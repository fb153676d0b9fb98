import { availableParallelism } from "node:os";
import { loadKernels } from "./kernels/load.ts";
import { freeMemory } from "./memory.ts";
import { inlinePool } from "./pool/inline.ts";
import { piscinaPool } from "./pool/piscina.ts";
import type { Pool } from "./pool/pool.ts";
import { type Engine, type EngineOptions, threadsOf } from "./types.ts";

/**
 * Returns the engine of this Node process: the fastest kernels that load and a pool of worker threads that starts with
 * its first task. `threads: 0` runs tasks on the calling thread. Throws an InputError when a forced backend cannot be had.
 */
export async function openEngine(options: EngineOptions = {}): Promise<Engine> {
  const threads = threadsOf(options, availableParallelism());
  const loaded = await loadKernels(options.backend);
  let pool: Pool | undefined;
  return {
    ...loaded,
    pool: () => {
      pool ??= threads === 0 ? inlinePool(loaded.kernels) : piscinaPool(loaded.kernels, threads);
      return pool;
    },
    freeMemory: () => freeMemory(),
    close: async () => pool?.close(),
  };
}
