/** Options as they were written, by the names of the command line: texts, and true for those without a value. */
export type Options = Readonly<Record<string, string | boolean | undefined>>;

/** Options that say what a network's file leaves open. */
export const READING_OPTIONS = ["gpu", "assume", "nodes", "profileSize", "profileScale"] as const;
/** Options that say what a network is, beside its name. */
export const NETWORK_OPTIONS = ["without", "degrade", ...READING_OPTIONS] as const;

/** Options that say how a schedule of a collective is made; they mean nothing beside one that is there. */
export const MAKING_OPTIONS = [
  "size",
  "algorithm",
  "chunks",
  "root",
  "group",
  "outsiders",
  "seed",
  "trials",
  "policy",
  "switchDegree",
  "k",
  "eulerian",
  "offload",
] as const;

/** Returns the name of an option as the command line writes it: "--time-limit" for "timeLimit". */
export const flagOf = (option: string): string =>
  `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** How far the work is. Without `total` only the elapsed time is known. */
export interface Progress {
  readonly what: string;
  readonly done?: number;
  readonly total?: number;
  /** What is counted: "trials". */
  readonly unit?: string;
}
