import { CancelledError, InfeasibleError, InputError, shown, WrongScheduleError } from "../base/errors.ts";
import { jsonText, visible, visibleLines } from "../base/visible.ts";
import type { Envelope } from "./context.ts";
import type { CommandName, Failure } from "./protocol.ts";

/** Returns an error as one sentence for people, with its exit code and what else it says. */
export function failureOf(error: unknown): Failure {
  const { message, stack, exitCode, excerpt } = (error instanceof Error ? error : new Error(String(error))) as Error & {
    readonly exitCode?: unknown;
    readonly excerpt?: unknown;
  };
  const failure = (kind: Failure["kind"], sentence: string, code: number): Failure => ({
    kind,
    code,
    message: visible(sentence.split("\n", 1)[0] as string),
    place: error instanceof InputError ? error.place : null,
    ...(error instanceof InputError ? { mistake: mistakeOf(error) } : {}),
    ...(typeof excerpt === "string" ? { excerpt: visibleLines(excerpt) } : {}),
    ...(error instanceof InfeasibleError ? { witness: plain(error.witness) } : {}),
    stack: visibleLines(stack ?? message),
  });
  if (typeof exitCode === "number") return failure(kindOf(error), message, exitCode);
  if (isOutOfMemory(error))
    return failure("memory", `out of memory: the network or the schedule is too large (${message})`, 1);
  return failure("internal", `internal error: ${message} (--debug shows where)`, 1);
}

/** Returns what an error of the caller's says, as data; values that are long or no data are shortened to texts. */
function mistakeOf({ mistake: code, option, expected, received }: InputError) {
  const isShort = typeof received === "number" || typeof received === "boolean" || received === undefined;
  return { code, option, expected: visible(expected), received: isShort ? (received ?? null) : shown(received) };
}

/** A command line that asks for nothing that can be done. */
export const refusedCommandLine = (
  message: string,
  place: string,
  mistake: NonNullable<Failure["mistake"]>,
): Failure => ({
  kind: "input",
  code: 2,
  message: visible(message),
  place,
  mistake,
  stack: visible(message),
});

/** Ended by a signal. */
export const interrupted = (code: number): Failure => ({
  kind: "cancelled",
  code,
  message: "interrupted",
  place: null,
  stack: "interrupted",
});

/** Returns the lines of a failure for people: the sentence, and the excerpt of the input where it has one. */
export const failureLines = ({ message, excerpt }: Failure): string =>
  excerpt === undefined ? message : `${message}\n${excerpt}`;

/** Returns what --json prints of a failure of a command, null where none is named: schema banyan/error@1. */
export function failureJson(
  { code, kind, message, place, mistake, excerpt, witness }: Failure,
  verb: CommandName | null,
): string {
  const error = {
    code,
    kind,
    message,
    place,
    ...(mistake === undefined ? {} : { mistake }),
    ...(excerpt === undefined ? {} : { excerpt }),
    ...(witness === undefined ? {} : { witness }),
  };
  const envelope: Envelope = { schema: "banyan/error@1", verb, ok: false, warnings: [] };
  return `${jsonText({ ...envelope, error }, 2)}\n`;
}

/** Returns a value as JSON has it; integers of any size become texts. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, part) => (typeof part === "bigint" ? String(part) : part)));

function kindOf(error: unknown): Failure["kind"] {
  if (error instanceof InputError) return "input";
  if (error instanceof InfeasibleError) return "infeasible";
  if (error instanceof CancelledError) return "cancelled";
  return error instanceof WrongScheduleError ? "wrong" : "internal";
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
