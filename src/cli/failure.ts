import { visible, visibleLines } from "../visible.ts";
import type { Failure } from "./protocol.ts";

/** Returns an error as one line for people, followed by its excerpt of the input where it has one, with its exit code. */
export function failureOf(error: unknown): Failure {
  const { message, stack, exitCode, excerpt } = (error instanceof Error ? error : new Error(String(error))) as Error & {
    readonly exitCode?: unknown;
    readonly excerpt?: unknown;
  };
  const failure = (line: string, code: number): Failure => ({
    line: visible(line.split("\n", 1)[0] as string) + (typeof excerpt === "string" ? `\n${visibleLines(excerpt)}` : ""),
    code,
    stack: visibleLines(stack ?? message),
  });
  if (typeof exitCode === "number") return failure(message, exitCode);
  if (isOutOfMemory(error)) return failure(`out of memory: the network or the schedule is too large (${message})`, 1);
  return failure(`internal error: ${message} (--debug shows where)`, 1);
}

function isOutOfMemory(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ERR_WORKER_OUT_OF_MEMORY" || code === "ERR_MEMORY_ALLOCATION_FAILED") return true;
  return (
    error instanceof RangeError &&
    /allocation failed|invalid (typed )?array( buffer)? length|invalid string length|maximum size exceeded/i.test(
      error.message,
    )
  );
}
