import { InputError } from "../base/errors.ts";
import type { EngineOptions } from "./types.ts";

/** Returns how many threads an engine has, `cores` where the caller does not say. Throws InputError. */
export function threadsOf({ threads }: EngineOptions, cores: number): number {
  if (threads === undefined) return Math.max(1, cores);
  if (!Number.isSafeInteger(threads) || threads < 0) throw new InputError("threads", "an integer >= 0", threads);
  return threads;
}
