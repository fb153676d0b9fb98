import type { LpRows } from "../../engine/contract/lp.ts";
import type { MilpProblem, MilpSize } from "../../engine/contract/milp.ts";
import type { FlowProblem, Resource } from "./problem.ts";
import { writeRows } from "./program.ts";
import { countingSink, keepingSink } from "./row-sink.ts";
import type { Columns } from "./windows.ts";

/** Returns the size of the program without building it. Time as for building, no memory. */
export function sizeOf(problem: FlowProblem, resources: readonly Resource[], columns: Columns): MilpSize {
  const sink = countingSink();
  writeRows(problem, resources, columns, sink);
  return { columns: columns.count, ...sink.size };
}

/** A program over columns, or over the columns that stand for orbits of them. */
export interface Program {
  readonly milp: MilpProblem;
  /** [columns] column of `milp`. */
  readonly place: Int32Array | null;
  /** Something wanted has no column that could bring it: there is no point. */
  readonly impossible: boolean;
}

/** Returns the program of feasibility: any point is a schedule. `orbit` as in keepingSink. */
export function feasibility(
  problem: FlowProblem,
  resources: readonly Resource[],
  columns: Columns,
  orbit: Int32Array | null,
  whole: boolean,
): Program {
  const sink = keepingSink(orbit);
  writeRows(problem, resources, columns, sink);
  const rows = sink.lpRows();
  const impossible = sink.impossible();
  if (orbit === null) return { milp: programOf(rows, columns.count, whole), place: null, impossible };
  const { place, count } = numbered(orbit);
  return { milp: programOf({ ...rows, column: rows.column.map((c) => place[c]) }, count, whole), place, impossible };
}

/** Returns for each column the number of the one that stands for it among those. */
export function numbered(orbit: Int32Array): { readonly place: Int32Array; readonly count: number } {
  const place = new Int32Array(orbit.length);
  let count = 0;
  for (let c = 0; c < orbit.length; c++) if (orbit[c] === c) place[c] = count++;
  for (let c = 0; c < orbit.length; c++) place[c] = place[orbit[c]];
  return { place, count };
}

const programOf = (rows: LpRows, count: number, whole: boolean): MilpProblem => ({
  objective: new Float64Array(count),
  lower: new Float64Array(count),
  upper: new Float64Array(count).fill(1),
  rows,
  integer: new Uint8Array(count).fill(whole ? 1 : 0),
});
