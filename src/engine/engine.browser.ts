import { loadKernels } from "./kernels/load.browser.ts";
import { inlinePool } from "./pool/inline.ts";
import type { Engine, EngineOptions } from "./types.ts";

/** Returns the engine of a browser tab or worker: WebAssembly or JavaScript kernels, tasks on the calling thread. */
export async function openEngine(options: EngineOptions = {}): Promise<Engine> {
  const loaded = await loadKernels(options.backend);
  const pool = inlinePool(loaded.kernels);
  return { ...loaded, pool: () => pool, freeMemory: () => null, close: () => pool.close() };
}
