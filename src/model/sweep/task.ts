import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** What a task of a sweep does: a command whose answer is one row, or with `search` one for each network that it finds. */
export const TASK_VERBS = ["synth", "bound", "search", "train"] as const;
export type TaskVerb = (typeof TASK_VERBS)[number];

/**
 * One thing to be done, said in texts as on the command line, so that any process of the same version can do it, anywhere, and
 * makes the same of it.
 */
export interface SweepTask {
  readonly verb: TaskVerb;
  /** Preset, construction, or the name of an input; "" where the verb takes none. */
  readonly topology: string;
  /** Model (`train`), or the name of an input; absent for other verbs. */
  readonly model?: string;
  /** Options by their identity in the table of options, as texts; true for those without a value. */
  readonly options: Readonly<Record<string, string | true>>;
  /** Files that these texts name: the SHA-256 (hex) of their content, by which a store has them. */
  readonly inputs: Readonly<Record<string, string>>;
  /** Options by which networks are priced, in the unit of the sweep's author; absent without prices. */
  readonly prices?: Readonly<Record<string, number>>;
  /** The schedule is kept in the store. */
  readonly keep: boolean;
}

/** What one task may take; null: no limit. */
export interface TaskBudget {
  readonly timeMs: number | null;
  readonly memoryBytes: number | null;
}

/** A task under its hash. */
export interface Job {
  readonly hash: string;
  readonly task: SweepTask;
  readonly budget: TaskBudget;
}

/** How a task ended. Of these "done", "refused" and "infeasible" are the same wherever and whenever it is done. */
export const TASK_STATUSES = ["done", "refused", "infeasible", "timeout", "memory", "crashed"] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

export type Cell = number | string | boolean | null;
export type Row = Readonly<Record<string, Cell>>;

/** What came of a task. */
export interface Outcome {
  readonly hash: string;
  readonly status: TaskStatus;
  /** One sentence where it is not done. */
  readonly why: string | null;
  /** Results, the same wherever it was done: none where it was not done, one for most verbs, one for each network of a `search`. */
  readonly rows: readonly Row[];
  /** SHA-256 (hex) of the schedule in the store, and its bytes; null: none is kept. */
  readonly schedule: { readonly sha256: string; readonly bytes: number } | null;
  /** What differs from run to run. */
  readonly measured: {
    readonly seconds: number;
    readonly peakMiB: number | null;
    /** How often it was begun. */
    readonly attempts: number;
    /** Host and process. */
    readonly worker: string;
  };
}

/** Returns a value as JSON with keys in order, so that equal values are equal texts. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join()}}`;
}

/** Returns the SHA-256 of bytes, or of a text in UTF-8, as 64 hexadecimal digits. */
export const contentHash = (content: Uint8Array | string): string =>
  bytesToHex(sha256(typeof content === "string" ? utf8ToBytes(content) : content));

/** Returns the hash of a task, as `version` of Banyan does it: what is equal by it is done once. */
export const taskHash = (task: SweepTask, version: string): string => contentHash(canonicalJson({ version, task }));
