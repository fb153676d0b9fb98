import { BUFFER_LETTERS, OPS, type Program, placeOfInstruction } from "../../model/program/program.ts";
import type { Wiring } from "./wiring.ts";

/** Collects what is wrong with a program; of errors and of warnings the first ones are kept. */
export interface Findings {
  /** Counts one; `message` runs only where it is kept. Without an instruction, the whole program is meant. */
  readonly error: (kind: string, message: () => string, instruction?: number) => void;
  readonly warning: (kind: string, message: () => string, instruction?: number) => void;
  readonly errors: readonly ProgramViolation[];
  readonly warnings: readonly ProgramViolation[];
  readonly errorCount: () => number;
  /** Takes over what another collection has, but for what is said here already. */
  readonly take: (other: Findings) => void;
}

/** Returns an empty collection that keeps `limit` errors and `limit` warnings. */
export function findings(program: Program, wiring: Wiring, limit: number): Findings {
  const errors: ProgramViolation[] = [];
  const warnings: ProgramViolation[] = [];
  let errorCount = 0;
  const add = (severity: "error" | "warning", kind: string, message: string, instruction?: number): void => {
    const list = severity === "error" ? errors : warnings;
    if (instruction === undefined) {
      list.push({ kind, severity, message });
      return;
    }
    const block = wiring.blockOf[instruction];
    const rank = wiring.rankOf[block];
    const line = program.line[instruction];
    list.push({ kind, severity, message, rank, block, instruction, ...(line > 0 ? { line } : {}) });
  };
  return {
    errors,
    warnings,
    errorCount: () => errorCount,
    error(kind, message, instruction) {
      if (errorCount++ < limit) add("error", kind, message(), instruction);
    },
    warning(kind, message, instruction) {
      if (warnings.length < limit) add("warning", kind, message(), instruction);
    },
    take(other) {
      const said = new Set([...errors, ...warnings].map(({ message }) => message));
      const fresh = other.errors.filter(({ message }) => !said.has(message));
      errorCount += other.errorCount() - (other.errors.length - fresh.length);
      errors.push(...fresh.slice(0, Math.max(0, limit - errors.length)));
      for (const warning of other.warnings)
        if (!said.has(warning.message) && warnings.length < limit) warnings.push(warning);
    },
  };
}

/** Returns an instruction as people find it, with its name: "gpu 3, thread block 2, step 5 (line 120): rrc". */
export function instructionWords(program: Program, wiring: Wiring, instruction: number): string {
  const block = wiring.blockOf[instruction];
  return `${placeOfInstruction(program, instruction, block, wiring.rankOf[block])}: ${OPS[program.op[instruction]]}`;
}

/** Returns a block as people find it. */
export function blockWords(program: Program, wiring: Wiring, block: number): string {
  const id = program.blockId[block];
  return `gpu ${wiring.rankOf[block]}, ${id < 0 ? "copies" : `thread block ${id}`}`;
}

/** Returns "o[5]" or "o[5..8)", "of gpu 3" added. */
export function chunkWords(rank: number, buffer: number, index: number, chunks = 1): string {
  const range = chunks === 1 ? `${index}` : `${index}..${index + chunks})`;
  return `${BUFFER_LETTERS[buffer]}[${range}${chunks === 1 ? "]" : ""} of gpu ${rank}`;
}

/** Returns "gpu 3", "gpus 3, 4, 5", at most eight of them by name. */
export function gpuWords(ranks: readonly number[]): string {
  if (ranks.length === 1) return `gpu ${ranks[0]}`;
  const more = ranks.length - 8;
  return `gpus ${ranks.slice(0, 8).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

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
