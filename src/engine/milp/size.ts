import type { MilpProblem, MilpSize } from "../contract/milp.ts";
import { MOST_BYTES } from "./instance.ts";

/**
 * Measured on time-expanded all-gathers of meshes (memory that WebAssembly had grown to): 20 MiB for 1,300 columns, as many
 * rows and 13,000 entries; 261 MiB for 7,700 and 132,000 once cuts and heuristics ran; 339 MiB for 60,000 and 1.6 million;
 * 832 MiB for 290,000 and 10.8 million after presolve alone.
 */
const SEARCH_BYTES = 2 ** 28;
const BYTES_PER_LINE = 600;
const BYTES_PER_ENTRY = 120;

/** Bytes that a program may take, by estimate. */
export const MILP_BYTES = MOST_BYTES;

/** Returns the bytes that a program of this size needs. */
export const bytesForMilp = ({ columns, rows, entries }: MilpSize): number =>
  SEARCH_BYTES + BYTES_PER_LINE * (columns + rows) + BYTES_PER_ENTRY * entries;

export const sizeOfMilp = ({ objective, rows }: MilpProblem): MilpSize => ({
  columns: objective.length,
  rows: rows.lower.length,
  entries: rows.column.length,
});
