import { CancelledError, InfeasibleError, InputError, InternalError } from "../../base/errors.ts";
import type { Failure } from "../protocol.ts";

/** Returns an error as the page shows it. */
export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof CancelledError) return { kind: "cancelled", place: null, message };
  if (error instanceof InputError) return { kind: "input", place: error.place, message };
  if (error instanceof InfeasibleError) return { kind: "infeasible", place: null, message };
  if (ranOutOfMemory(error)) {
    const advice =
      "this needs more memory than the browser gives a page; fewer chunks, fewer NPUs or the command line may do";
    return { kind: "memory", place: null, message: `${advice} (${message})` };
  }
  return { kind: "internal", place: null, message };
}

const ranOutOfMemory = (error: unknown): boolean =>
  error instanceof WebAssembly.RuntimeError ||
  (error instanceof RangeError && /alloc|memory|length|size/i.test(error.message)) ||
  (error instanceof InternalError && error.outOfMemory);
