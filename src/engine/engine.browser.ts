import { loadKernels } from "./kernels/load.browser.ts";
import { inlinePool } from "./pool/inline.ts";
import type { Pool } from "./pool/pool.ts";
import { webWorkerPool } from "./pool/web-worker.ts";
import { type Engine, type EngineOptions, threadsOf } from "./types.ts";

/** What a module of WebAssembly can address; no browser tells what a page may still take. */
const MOST_BYTES = 2 ** 32;

/** Whether this page or worker can share memory with workers that it starts. */
const canShare = (): boolean =>
  globalThis.crossOriginIsolated === true && typeof SharedArrayBuffer === "function" && typeof Worker === "function";

/**
 * Returns the engine of a browser page or worker: WebAssembly or JavaScript kernels and a pool of Web Workers that starts with
 * its first task. Without cross-origin isolation, and with `threads: 0`, tasks run on the calling thread. Throws an InputError
 * when a forced backend cannot be had.
 */
export async function openEngine(options: EngineOptions = {}): Promise<Engine> {
  const threads = threadsOf(options, globalThis.navigator?.hardwareConcurrency ?? 1);
  const loaded = await loadKernels(options.backend);
  const { kernels } = loaded;
  let pool: Pool | undefined;
  return {
    ...loaded,
    pool: () => {
      pool ??= threads > 0 && canShare() ? webWorkerPool(kernels, threads, options.startWorker) : inlinePool(kernels);
      return pool;
    },
    freeMemory: () => MOST_BYTES,
    close: async () => pool?.close(),
  };
}
