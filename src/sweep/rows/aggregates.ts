import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { Cell, Row } from "../../model/sweep/task.ts";
import { didYouMean } from "../../model/topology/closest.ts";
import { cellOf, compareCells } from "./cells.ts";
import type { Column } from "./columns.ts";
import { unknownColumn } from "./expression.ts";

/** What becomes of a column over several rows; "best" is the least or the most, by what the column is, with the row that has it. */
export const AGGREGATES = ["min", "max", "mean", "median", "sum", "count", "best"] as const;
export type Aggregate = (typeof AGGREGATES)[number];

/** An aggregate of a column: min(us). */
export interface Valued {
  readonly aggregate: Aggregate;
  /** Null: rows are counted. */
  readonly column: Column | null;
  /** What the result is called: "min_us". */
  readonly name: string;
}

/** Of these more is better; of all else less. */
const MORE_IS_BETTER = /GBps|of_(?:class_)?limit|per_s$|utilisation|^kept/;

/** Returns whether less of a column is better, by the unit in its name. */
export const lessIsBetter = (column: string): boolean => !MORE_IS_BETTER.test(column);

/** Returns the parts of a list with commas, those within brackets not parted: "min(us),count()". O(text). */
export function listed(text: string): string[] {
  const parts: string[] = [];
  let [from, depth] = [0, 0];
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "(") depth++;
    else if (text[i] === ")") depth--;
    else if (text[i] === "," && depth <= 0) {
      parts.push(text.slice(from, i).trim());
      from = i + 1;
    }
  }
  return [...parts, text.slice(from).trim()];
}

/** Returns aggregates of a text such as "min(us),count()"; a column alone is its best. Throws InputError. */
export function readValues(text: string, columns: readonly Column[], option: string): Valued[] {
  const place = optionName(option);
  return listed(text).map((part) => {
    const [, word, inside] = /^([a-z]+)\s*\((.*)\)$/i.exec(part) ?? [];
    const name = (inside ?? part).trim();
    const aggregate = word === undefined ? "best" : AGGREGATES.find((one) => one === word.toLowerCase());
    if (aggregate === undefined)
      throw new InputError(
        place,
        `${AGGREGATES.join(", ")} of a column, as in min(us)${didYouMean(word as string, AGGREGATES)}`,
        part,
      ).as("unknown-name");
    if (aggregate === "count" && (name === "" || name === "*")) return { aggregate, column: null, name: "count" };
    const column = columns.find((one) => one.name === name);
    if (column === undefined)
      throw unknownColumn(
        place,
        name,
        columns.map((one) => one.name),
      );
    const isNumber = column.type === "number" || column.type === "none" || column.type === "mixed";
    if (!isNumber && !["count", "min", "max"].includes(aggregate))
      throw new InputError(place, `${aggregate} of a column of numbers, or count(${name})`, part);
    return { aggregate, column, name: `${aggregate}_${name}` };
  });
}

/** What an aggregate of some rows has seen. */
export interface Tally {
  add(row: Row): void;
  value(): Cell;
  /** The row that has it; null for those that no single row has. */
  row(): Row | null;
}

/** Returns the sum of numbers as they come, whose error does not grow with their count (Neumaier). */
function summing(): { add(value: number): void; sum(): number } {
  let [sum, lost] = [0, 0];
  return {
    add(value) {
      const next = sum + value;
      lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
      sum = next;
    },
    sum: () => (Number.isFinite(sum) ? sum + lost : sum),
  };
}

/** Numbers that grow in number, eight bytes each. */
class Numbers {
  #values = new Float64Array(16);
  #count = 0;

  add(value: number): void {
    if (this.#count === this.#values.length) {
      const more = new Float64Array(2 * this.#count);
      more.set(this.#values);
      this.#values = more;
    }
    this.#values[this.#count++] = value;
  }

  median(): number | null {
    if (this.#count === 0) return null;
    const sorted = this.#values.slice(0, this.#count).sort();
    const middle = this.#count >> 1;
    const high = sorted[middle] as number;
    return this.#count % 2 === 1 ? high : ((sorted[middle - 1] as number) + high) / 2;
  }
}

const nobody = (): null => null;

/** Returns the tally of an aggregate. Nothing does not count; texts count as nothing where numbers are asked for. */
export function tallyOf({ aggregate, column }: Valued): Tally {
  let count = 0;
  if (column === null)
    return {
      add: () => {
        count++;
      },
      value: () => count,
      row: nobody,
    };
  const { name } = column;
  if (aggregate === "count")
    return {
      add: (row) => {
        if (cellOf(row, name) !== null) count++;
      },
      value: () => count,
      row: nobody,
    };
  if (aggregate === "min" || aggregate === "max" || aggregate === "best") return extreme(name, aggregate);
  const numberOf = (row: Row): number | null => {
    const cell = cellOf(row, name);
    return typeof cell === "number" ? cell : null;
  };
  if (aggregate === "median") {
    const numbers = new Numbers();
    return {
      add: (row) => {
        const value = numberOf(row);
        if (value !== null) numbers.add(value);
      },
      value: () => numbers.median(),
      row: nobody,
    };
  }
  const total = summing();
  return {
    add: (row) => {
      const value = numberOf(row);
      if (value === null) return;
      count++;
      total.add(value);
    },
    value: () => (count === 0 ? null : aggregate === "sum" ? total.sum() : total.sum() / count),
    row: nobody,
  };
}

function extreme(name: string, aggregate: "min" | "max" | "best"): Tally {
  const least = aggregate === "min" || (aggregate === "best" && lessIsBetter(name));
  let best: Cell = null;
  let found: Row | null = null;
  return {
    add: (row) => {
      const cell = cellOf(row, name);
      if (cell === null) return;
      const order = best === null ? -1 : compareCells(cell, best) * (least ? 1 : -1);
      if (order >= 0) return;
      best = cell;
      found = row;
    },
    value: () => best,
    row: () => found,
  };
}
