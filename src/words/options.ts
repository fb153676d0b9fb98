/** Options as they were written, by the names of the command line: texts, and true for those without a value. */
export type Options = Readonly<Record<string, string | boolean | undefined>>;

/** How far the work is. Without `total` only the elapsed time is known. */
export interface Progress {
  readonly what: string;
  readonly done?: number;
  readonly total?: number;
  /** What is counted: "trials". */
  readonly unit?: string;
}
