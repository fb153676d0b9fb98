import type { MilpProblem } from "../engine/contract/programs.ts";
import { type ProgramRows, programRows } from "./program-rows.ts";

/** A program in the making. */
export interface ProgramDraft {
  /** Adds a column; returns its number. */
  column(lower: number, upper: number, whole: boolean): number;
  /** Returns how many columns there are. */
  count(): number;
  /** Makes a column 0. */
  forbid(column: number): void;
  /** Adds a row. */
  readonly row: ProgramRows["add"];
  /** Returns the program with this objective [columns]. */
  problem(objective: Float64Array): MilpProblem;
}

/** Returns a program without columns and rows, that grows. */
export function programDraft(): ProgramDraft {
  const lower: number[] = [];
  const upper: number[] = [];
  const integer: number[] = [];
  const rows = programRows();
  return {
    column: (low, high, whole) => {
      upper.push(high);
      integer.push(whole ? 1 : 0);
      return lower.push(low) - 1;
    },
    count: () => lower.length,
    forbid: (column) => {
      lower[column] = upper[column] = 0;
    },
    row: rows.add,
    problem: (objective) => ({
      objective,
      lower: Float64Array.from(lower),
      upper: Float64Array.from(upper),
      integer: Uint8Array.from(integer),
      rows: rows.lpRows(),
    }),
  };
}
