import type { LpRows } from "../engine/milp/lp.ts";

/** Rows of a program in the making: entries, then the sides that end their row; or whole rows. */
export interface ProgramRows {
  /** Adds an entry to the row in the making; each column at most once. Zeros are left out. */
  entry(column: number, value: number): void;
  /** Ends the row. -Infinity and Infinity for no side. */
  end(lower: number, upper: number): void;
  /** Adds a row. */
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
  const entry = (at: number, factor: number): void => {
    if (factor === 0) return;
    column.push(at);
    value.push(factor);
  };
  const end = (least: number, most: number): void => {
    lower.push(least);
    upper.push(most);
    offset.push(column.length);
  };
  return {
    entry,
    end,
    add: (least, most, entries) => {
      for (const [at, factor] of entries) entry(at, factor);
      end(least, most);
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
