import { InputError } from "../base/errors.ts";
import type { Backend } from "./contract/kernels.ts";
import type { LoadedKernels } from "./kernels/choose.ts";
import type { Pool } from "./pool/pool.ts";

/** The machinery that synthesizers are handed: kernels, which backend they are, and a pool to run many calls. */
export interface Engine extends LoadedKernels {
  /** Returns the engine's one pool; nothing is started before its first task. */
  pool(): Pool;
  /** Returns the bytes of memory that can still be had; null where nobody says. */
  freeMemory(): number | null;
  /** Ends the pool's threads. */
  close(): Promise<void>;
}

export interface EngineOptions {
  /** Forces a backend; without it the first of native, wasm, js that loads. */
  readonly backend?: Backend | undefined;
  /** Kernel calls at the same time; every core without it, 0 for the calling thread. Results do not depend on it. */
  readonly threads?: number | undefined;
  /**
   * In a browser: starts a module worker that runs run/threads/worker.browser.ts; without it the package's own file is started, which
   * bundlers find. Threads need a page that is cross-origin isolated.
   */
  readonly startWorker?: (() => Worker) | undefined;
}

/** Returns how many threads an engine has, `cores` where the caller does not say. Throws InputError. */
export function threadsOf({ threads }: EngineOptions, cores: number): number {
  if (threads === undefined) return Math.max(1, cores);
  if (!Number.isSafeInteger(threads) || threads < 0) throw new InputError("threads", "an integer >= 0", threads);
  return threads;
}
