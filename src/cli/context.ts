import type { Options, Progress } from "../words/options.ts";
import type { Style } from "./style.ts";
import { fitted } from "./text.ts";

/** What a command has of the world. */
export interface Context {
  readonly options: Options;
  /** --json: one JSON object on standard output. */
  readonly json: boolean;
  /** --quiet: no progress, no notes, and no report where a file was written. */
  readonly quiet: boolean;
  readonly style: Style;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Writes to standard output. Returns false once nobody reads it any more. */
  out(text: string): boolean;
  /** Writes a line to standard error, unless --quiet. */
  note(line: string): void;
  /** Shows how far the work is, on standard error, unless --quiet. */
  progress(progress: Progress): void;
  /** Returns what work returns that must not be cut in two. Throws CancelledError, without it, after an interruption. */
  uninterrupted<T>(work: () => T): T;
  /** Remembers files that an interruption must remove. */
  readonly temporary: { add(path: string): void; remove(path: string): void };
}

/** A command: exit code 0, or 1 where a check failed. Throws InputError and its kin. */
export type Run = (context: Context, args: readonly string[]) => Promise<number>;

/** Writes the lines of a report, none wider than 120 columns where words allow. */
export function outLines(context: Context, lines: readonly string[]): void {
  context.out(`${lines.flatMap(fitted).join("\n")}\n`);
}

/** Writes a value as the one JSON object of --json. */
export function outJson(context: Context, value: unknown): void {
  context.out(`${JSON.stringify(value, null, 2)}\n`);
}
