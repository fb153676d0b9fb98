import { jsonText } from "../base/visible.ts";
import type { Options } from "../request/option-table.ts";
import type { Progress } from "../request/progress.ts";
import { finished, type Style, type Terminal } from "./reports/style.ts";
import { fitted } from "./reports/text.ts";

/** What a command has of the world. */
export interface Context {
  readonly options: Options;
  /** --json: one JSON object on standard output. */
  readonly json: boolean;
  /** --quiet: no progress, no notes, and no report where a file was written. */
  readonly quiet: boolean;
  readonly style: Style;
  /** The size of the terminal that standard output is; null where it is none. */
  readonly terminal: Terminal | null;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Writes a file's text to standard output as it is; lines for people go through those below. Returns false once nobody reads it any more. */
  out(text: string): boolean;
  /** Remembers a text that is written to standard output if the work is interrupted from now on, in place of the one before. */
  keep(text: string): void;
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

/** Writes lines for people: one each, whatever names are in them. */
export const outRows = (context: Context, lines: readonly string[]): boolean =>
  context.out(`${lines.map(finished).join("\n")}\n`);

/** Writes the lines of a report, none wider than 120 columns where words allow. */
export const outLines = (context: Context, lines: readonly string[]): boolean =>
  context.out(`${lines.map(finished).flatMap(fitted).join("\n")}\n`);

/** Writes a value as the one JSON object of --json. */
export const outJson = (context: Context, value: unknown): boolean => context.out(`${jsonText(value, 2)}\n`);
