/** One broken rule of a program: of its semantics, or of a runtime that is to run it. */
export interface ProgramViolation {
  /** Short name of the rule, the same for all that break it. */
  readonly kind: string;
  /** "error": the runtime refuses the program, or it does not do what it should. "warning": it may. */
  readonly severity: "error" | "warning";
  /** One sentence with the place, the value and what is allowed. */
  readonly message: string;
  readonly rank?: number;
  /** Index of the block and of the instruction among all of the program. */
  readonly block?: number;
  readonly instruction?: number;
  /** Line of the file, where the program was read from one. */
  readonly line?: number;
}
