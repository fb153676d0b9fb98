import type { Highs, ModelData } from "highs";
import type { LpProblem, LpRows, MilpProblem, MilpSize } from "../contract/programs.ts";

/** HiGHS compiled to WebAssembly (npm highs), one thread. */
export interface Instance {
  readonly highs: Highs;
  /** It ran out of memory and cannot be used any more. */
  aborted: boolean;
}

/** Bytes that HiGHS may grow to; its module is built for 2 GiB. */
export const MOST_BYTES = 2 ** 31;

let loading: Promise<Instance> | undefined;
let loaded: Instance | undefined;

/** Memory that has grown is never given back, and what is free of it lies in pieces: from here on an instance is replaced. */
const WORN_BYTES = 2 ** 29;

/** Returns this thread's instance (about 0.1 s the first time); a new one where the last ran out of memory, or nearly. */
export async function loadInstance(): Promise<Instance> {
  if (loaded !== undefined && (loaded.aborted || loaded.highs.memoryBytes > WORN_BYTES)) loading = loaded = undefined;
  loading ??= import("highs").then(async (module) => {
    // the package's types describe its CommonJS form, where the loader lies one level deeper
    const load = module.default as unknown as () => Promise<Highs>;
    return { highs: await load(), aborted: false };
  });
  loaded = await loading;
  return loaded;
}

/** Runs an operation of the solver; returns undefined where it has no memory for it, then or before. */
export function within<T>(instance: Instance, operation: () => T): T | undefined {
  if (instance.aborted) return undefined;
  try {
    return operation();
  } catch (error) {
    if (!ranOut(error)) throw error;
    instance.aborted = true;
    return undefined;
  }
}

/** Returns whether an error says that WebAssembly has no more memory. */
function ranOut(error: unknown): boolean {
  return (
    error instanceof RangeError ||
    error instanceof WebAssembly.RuntimeError ||
    (error instanceof Error && /abort|alloc|memory/i.test(error.message))
  );
}

/** Returns a program in HiGHS's words. */
export function modelOf({ constants }: Highs, { objective, lower, upper, rows }: LpProblem): ModelData {
  return {
    numCols: objective.length,
    numRows: rows.lower.length,
    sense: constants.objectiveSense.maximize,
    colCost: objective,
    colLower: lower,
    colUpper: upper,
    rowLower: rows.lower,
    rowUpper: rows.upper,
    matrix: matrixOf(rows, objective.length),
  };
}

export const matrixOf = ({ lower, offset, column, value }: LpRows, numCols: number) => ({
  format: "csr" as const,
  numRows: lower.length,
  numCols,
  starts: offset,
  indices: column,
  values: value,
});

/** What a model came to, as HiGHS numbers it (HighsModelStatus); "empty" is one without rows and columns. */
export const MODEL_STATUS = {
  empty: 6,
  optimal: 7,
  infeasible: 8,
  unboundedOrInfeasible: 9,
  unbounded: 10,
  objectiveBound: 11,
  objectiveTarget: 12,
  timeLimit: 13,
  iterationLimit: 14,
  solutionLimit: 16,
  interrupted: 17,
} as const satisfies Partial<Highs["constants"]["modelStatus"]>;

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
