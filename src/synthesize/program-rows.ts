import type { LpRows } from "../engine/contract/programs.ts";

/** Rows of a program in the making. */
export interface ProgramRows {
  /** Adds a row; each column at most once, zeros are left out, -Infinity and Infinity are no sides. */
  add(lower: number, upper: number, entries: Iterable<readonly [column: number, value: number]>): void;
  /** Returns the rows so far, as columns. */
  lpRows(): LpRows;
}

/** Returns no rows, to which some can be added. */
export function programRows(): ProgramRows {
  const lower: number[] = [];
  const upper: number[] = [];
  const offset = [0];
  const column: number[] = [];
  const value: number[] = [];
  return {
    add: (least, most, entries) => {
      for (const [at, factor] of entries) {
        if (factor === 0) continue;
        column.push(at);
        value.push(factor);
      }
      lower.push(least);
      upper.push(most);
      offset.push(column.length);
    },
    lpRows: () => ({
      lower: Float64Array.from(lower),
      upper: Float64Array.from(upper),
      offset: Int32Array.from(offset),
      column: Int32Array.from(column),
      value: Float64Array.from(value),
    }),
  };
}
