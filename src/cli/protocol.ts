import type { Options } from "../request/option-table.ts";
import type { Progress } from "../request/progress.ts";
import type { Terminal } from "./terminal.ts";

/** What the two threads of the command line say to each other: one talks to the terminal, the other works. */

/** The commands, in the order of the help. */
export const COMMAND_NAMES = [
  "topology",
  "bound",
  "synth",
  "verify",
  "simulate",
  "export",
  "run",
  "probe",
  "lab",
  "explain",
  "compare",
  "train",
  "plan",
  "calibrate",
  "search",
  "sweep",
  "worker",
  "results",
  "atlas",
  "serve",
  "list",
  "help",
  "completion",
] as const;
export type CommandName = (typeof COMMAND_NAMES)[number];

/** Returns the command that a command line names; null where it names none. */
export const verbIn = (argv: readonly string[]): CommandName | null =>
  COMMAND_NAMES.find((name) => name === argv.find((arg) => (COMMAND_NAMES as readonly string[]).includes(arg))) ?? null;

/** One command line, taken apart. */
export interface Job {
  readonly command: CommandName;
  readonly args: readonly string[];
  readonly options: Options;
  /** Standard output is a terminal that shows colours. */
  readonly colors: boolean;
  /** The size of the terminal that standard output is; null where it is none. */
  readonly terminal: Terminal | null;
}

/** What the working thread is started with. */
export interface WorkSetup {
  readonly command: CommandName;
  /** [3] shared: texts on their way to standard output; 1 once nobody reads it any more; what the thread may do. */
  readonly flow: Int32Array<SharedArrayBuffer>;
}
export const FLOW_PENDING = 0;
export const FLOW_CLOSED = 1;
export const FLOW_STATE = 2;
/** The thread may be ended; it may not, for it replaces a file; it is about to be, and replaces none any more. */
export const STATE_FREE = 0;
export const STATE_REPLACING = 1;
export const STATE_ENDING = 2;

/** To the working thread. */
export type Order = { readonly kind: "job"; readonly job: Job } | { readonly kind: "abort" };

/** From the working thread. */
export type Message =
  | { readonly kind: "out"; readonly text: string }
  /** What is to be written if the work is interrupted from now on. */
  | { readonly kind: "keep"; readonly text: string }
  /** A folder that is to be renamed if the work is interrupted from now on, and what is to be said then; the one before goes. */
  | { readonly kind: "keep folder"; readonly from: string | null; readonly to: string; readonly said: string }
  | { readonly kind: "note"; readonly text: string }
  /** How long the command takes to end by itself once it is interrupted. */
  | { readonly kind: "grace"; readonly ms: number }
  | { readonly kind: "progress"; readonly progress: Progress }
  /** A file that must not stay behind, until it is settled. */
  | { readonly kind: "temporary"; readonly path: string }
  | { readonly kind: "settled"; readonly path: string }
  | { readonly kind: "done"; readonly code: number }
  | { readonly kind: "failed"; readonly failure: Failure };

/** An error: its exit code and what it says. */
export interface Failure {
  /** input: the caller's fault; wrong: a schedule that is wrong; infeasible: no answer exists. */
  readonly kind: "input" | "wrong" | "infeasible" | "cancelled" | "memory" | "internal";
  readonly code: number;
  /** One sentence. */
  readonly message: string;
  /** Where it is wrong: an option, a file with its line; null where there is no place. */
  readonly place: string | null;
  /** input: what kind of mistake it is, the option (its property in the API), what would have been right, and what was given. */
  readonly mistake?: {
    readonly code: string;
    readonly option: string | null;
    readonly expected: string;
    readonly received: unknown;
  };
  /** The part of the input that is wrong, as lines. */
  readonly excerpt?: string;
  /** What shows that no answer exists. */
  readonly witness?: unknown;
  /** For --debug: where it came from. */
  readonly stack: string;
}
