import { MOST_BYTES } from "./instance.ts";
import type { MilpProblem, MilpSize } from "./milp.ts";

const BYTES_PER_LINE = 2000;
const BYTES_PER_ENTRY = 300;

/** Bytes that a program may take, by estimate. */
export const MILP_BYTES = MOST_BYTES;

/** Returns the bytes that a program of this size needs. */
export const bytesForMilp = ({ columns, rows, entries }: MilpSize): number =>
  BYTES_PER_LINE * (columns + rows) + BYTES_PER_ENTRY * entries;

export const sizeOfMilp = ({ objective, rows }: MilpProblem): MilpSize => ({
  columns: objective.length,
  rows: rows.lower.length,
  entries: rows.column.length,
});
