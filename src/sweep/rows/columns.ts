import type { Cell, Row } from "../../model/sweep/task.ts";
import { cellOf } from "./cells.ts";

/** What the cells of a column are, nothing aside: "mixed" are numbers, texts or truths together; "none": all are nothing. */
export type ColumnType = "number" | "text" | "boolean" | "mixed" | "none";

/** A column, by all rows. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** All its numbers are whole, and no greater than what a double holds exactly. */
  readonly whole: boolean;
  /** Rows whose cell is nothing. */
  readonly nulls: number;
  /** The cell that all rows have; undefined where they differ. */
  readonly constant: Cell | undefined;
}

interface Counts {
  numbers: number;
  texts: number;
  truths: number;
  allWhole: boolean;
  first: Cell;
  isConstant: boolean;
}

const typeOf = ({ numbers, texts, truths }: Counts): ColumnType => {
  const kinds = [numbers, texts, truths].filter((count) => count > 0).length;
  if (kinds === 0) return "none";
  if (kinds > 1) return "mixed";
  return numbers > 0 ? "number" : texts > 0 ? "text" : "boolean";
};

/** Rows looked at, and their columns. */
export interface Profile {
  readonly rows: number;
  readonly columns: readonly Column[];
}

/** Returns the columns of rows in the order in which they first appear. O(cells). */
export function profileOf(rows: Iterable<Row>): Profile {
  const { add, profile } = profiling();
  for (const row of rows) add(row);
  return profile();
}

/** Returns what looks at rows as they go by, and the profile of those that did. */
export function profiling(): { add(row: Row): void; profile(): Profile } {
  const found = new Map<string, Counts>();
  let count = 0;
  const add = (row: Row): void => {
    for (const name of Object.keys(row)) {
      const cell = cellOf(row, name);
      let counts = found.get(name);
      if (counts === undefined) {
        // rows before this one lack it
        const isConstant = count === 0 || cell === null;
        counts = { numbers: 0, texts: 0, truths: 0, allWhole: true, first: cell, isConstant };
        found.set(name, counts);
      }
      if (typeof cell === "number") {
        counts.numbers++;
        counts.allWhole &&= Number.isSafeInteger(cell) && !Object.is(cell, -0);
      } else if (typeof cell === "string") counts.texts++;
      else if (typeof cell === "boolean") counts.truths++;
      if (counts.isConstant && cell !== counts.first) counts.isConstant = false;
    }
    count++;
  };
  const columnOf = ([name, counts]: [string, Counts]): Column => {
    const nulls = count - counts.numbers - counts.texts - counts.truths;
    const isConstant = counts.isConstant && (nulls === 0 || nulls === count);
    return {
      name,
      type: typeOf(counts),
      whole: counts.numbers > 0 && counts.allWhole,
      nulls,
      constant: isConstant ? counts.first : undefined,
    };
  };
  return { add, profile: () => ({ rows: count, columns: [...found].map(columnOf) }) };
}
