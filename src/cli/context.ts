import { jsonText } from "../base/visible.ts";
import { extrapolation } from "../model/topology/link-classes.ts";
import type { Topology } from "../model/topology/topology.ts";
import type { OptionId, Options } from "../request/option-table.ts";
import type { Progress } from "../request/progress.ts";
import type { CommandName } from "./protocol.ts";
import { finished, type Style } from "./reports/style.ts";
import { fitted, reportWidth } from "./reports/text.ts";
import type { Terminal } from "./terminal.ts";

/** As the file to write: standard output, which then has nothing else. */
export const STANDARD_OUTPUT = "-";

/** What a command has of the world. */
export interface Context {
  readonly verb: CommandName;
  readonly options: Options;
  /** --json: one JSON object on standard output. */
  readonly json: boolean;
  /** --quiet: no progress, no notes, and no report where a file was written; so with `-o -`, notes aside. */
  readonly quiet: boolean;
  readonly style: Style;
  /** Names that may be of files it reads: its arguments, and values of options. */
  readonly inputs: readonly string[];
  /** The size of the terminal that standard output is; null where it is none. */
  readonly terminal: Terminal | null;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Writes a file's text to standard output as it is; lines for people go through those below. Returns false once nobody reads it any more. */
  out(text: string): boolean;
  /** Remembers a text that is written to standard output if the work is interrupted from now on, in place of the one before. */
  keep(text: string): void;
  /** Remembers a folder that takes its name if the work is interrupted from now on, and what is then said; the one before goes. */
  keepFolder(from: string | null, to: string, said: string): void;
  /** Writes a line to standard error, unless --quiet. */
  note(line: string): void;
  /** Says how long the work takes to end by itself once it is interrupted; a second interruption ends it as any other's first. */
  grace(ms: number): void;
  /** The lines that were noted so far, with --quiet too: --json has them. */
  readonly warnings: readonly string[];
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

/** Returns the lines of a report as a text, none wider than the terminal or 120 columns where words allow. */
export function reportText({ terminal }: Context, lines: readonly string[]): string {
  const width = reportWidth(terminal);
  return `${lines.flatMap((line) => fitted(finished(line), width)).join("\n")}\n`;
}

/** Writes the lines of a report. */
export const outLines = (context: Context, lines: readonly string[]): boolean =>
  context.out(reportText(context, lines));

/** What every object of --json has, errors too; `ok`: the exit status is 0. */
export interface Envelope {
  /** What the rest is: "banyan/result@2". */
  readonly schema: string;
  /** Null where the command line names none. */
  readonly verb: string | null;
  readonly ok: boolean;
  readonly warnings: readonly string[];
}

/** Returns the envelope of a command's answer. */
export const envelopeOf = ({ verb, warnings }: Context, schema: string, ok = true): Envelope => ({
  schema,
  verb,
  ok,
  warnings,
});

/** Returns an answer as a JSON object: with --json its schema's fields beside those of the envelope; `ok`: the exit status is 0. */
export function answerText<Answer extends { readonly schema: string }>(
  context: Context,
  answer: Answer,
  { ok = true, indent = 2 }: { readonly ok?: boolean; readonly indent?: number } = {},
): string {
  const { schema, ...rest } = answer;
  return `${jsonText(context.json ? { ...envelopeOf(context, schema, ok), ...rest } : answer, indent)}\n`;
}

/** Writes an answer as the one JSON object of --json. */
export const outJson = <Answer extends { readonly schema: string }>(
  context: Context,
  answer: Answer,
  ok = true,
): boolean => context.out(answerText(context, answer, { ok }));

/** Says which sizes are beyond those that the network's figures were measured at. */
export function noteExtrapolation(context: Context, topology: Topology, sizesBytes: readonly number[]): void {
  const beyond = extrapolation(topology, sizesBytes);
  if (beyond !== null) context.note(beyond);
}

/** Notes which GPUs a description of a machine was taken to have, where nobody said it, and links that they lack. */
export function noteTaken(context: Context, { sources }: Topology): void {
  for (const source of sources) if (/^(GPUs taken as|NVLinks are missing)/.test(source)) context.note(source);
}

/** Options whose files are read. */
const READ: readonly OptionId[] = ["collective", "collectives", "sketch", "repair", "topology", "log", "with"];

/** Returns the names that may be of files which a command reads. */
export const inputsOf = (args: readonly string[], options: Options): string[] => [
  ...args,
  ...READ.flatMap((id) => {
    const value = options[id];
    return typeof value === "string" ? [value, ...value.split(",")] : Array.isArray(value) ? value.map(String) : [];
  }),
];
