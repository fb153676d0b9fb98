import { type Program, placeOfInstruction } from "../../model/program/program.ts";
import type { ProgramViolation } from "../program/words.ts";

/** Violations of one kind that are kept: what breaks a rule everywhere is no news after so many. */
const MOST_OF_A_KIND = 100;

export type Where = Pick<ProgramViolation, "rank" | "block" | "instruction" | "line">;

/** Collects broken limits. */
export interface LimitReport {
  error(kind: string, message: string, where?: Where): void;
  warning(kind: string, message: string, where?: Where): void;
  readonly violations: readonly ProgramViolation[];
}

/** Returns a report that keeps the first hundred violations of each kind. */
export function limitReport(): LimitReport {
  const violations: ProgramViolation[] = [];
  const counts = new Map<string, number>();
  const add = (severity: ProgramViolation["severity"], kind: string, message: string, where: Where = {}): void => {
    const count = counts.get(kind) ?? 0;
    counts.set(kind, count + 1);
    if (count < MOST_OF_A_KIND) violations.push({ kind, severity, message, ...where });
  };
  return {
    violations,
    error: (kind, message, where) => add("error", kind, message, where),
    warning: (kind, message, where) => add("warning", kind, message, where),
  };
}

/** Returns how people find a block: "gpu 3, thread block 2 (line 12)". */
export function placeOfBlock(program: Program, block: number, rank: number): string {
  const line = program.blockLine[block];
  return `gpu ${rank}, thread block ${program.blockId[block]}${line > 0 ? ` (line ${line})` : ""}`;
}

/** Returns where a block is, for programs. */
export const whereOfBlock = (program: Program, block: number, rank: number): Where => ({
  rank,
  block,
  ...lineOf(program.blockLine[block]),
});

/** Returns where an instruction is, for people and for programs. */
export const atInstruction = (
  program: Program,
  instruction: number,
  block: number,
  rank: number,
): { readonly place: string; readonly where: Where } => ({
  place: placeOfInstruction(program, instruction, block, rank),
  where: { rank, block, instruction, ...lineOf(program.line[instruction]) },
});

const lineOf = (line: number): Where => (line > 0 ? { line } : {});
