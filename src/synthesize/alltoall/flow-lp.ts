import type { ConcurrentFlow, ConcurrentProblem } from "../../engine/contract/kernels.ts";
import type { LpProblem, LpSolver } from "../../engine/contract/lp.ts";
import type { FlowArcs } from "./flow-arcs.ts";

/** Above so many flows of sources over arcs the linear program is not tried. */
export const MOST_LP_COLUMNS = 4000;

const LONGEST = 2 ** 30;
/** Coefficients of 1e15 are refused by the solver, and lost in its tolerances before. */
const MOST_COEFFICIENT = 2 ** 40;

/**
 * Returns the optimum of LP (A.1) of Zhao 2026, grouped by sources: a column for the flow of each source over each arc and one for
 * the rate, a row for each node that a source reaches and one for each class. Capacities count relative to the greatest. Null
 * where the solver fails, or demands or capacities are too far apart for it.
 */
export function flowByLp(
  problem: ConcurrentProblem,
  arcs: FlowArcs,
  lp: LpSolver,
): Pick<ConcurrentFlow, "flow" | "length"> | null {
  const program = programOf(problem, arcs);
  if (program.rows.value.some((value) => Math.abs(value) > MOST_COEFFICIENT)) return null;
  const solution = lp.solve(program);
  const count = problem.arcTarget.length;
  const columns = problem.sources.length * count;
  const rate = solution.primal[columns];
  if (solution.status !== "optimal" || !(rate > 0)) return null;
  const nodes = problem.sources.length * problem.nodeCount;
  const dual = solution.dual.subarray(nodes);
  const price = Float64Array.from(dual, (value, c) => Math.max(value, 0) / arcs.classSize[c] / arcs.capacity[c]);
  const dearest = price.reduce((most, value) => Math.max(most, value), 0);
  if (!(dearest > 0)) return null;
  return {
    flow: solution.primal.slice(0, columns).map((value) => Math.max(value, 0) / rate),
    length: Int32Array.from(price, (value) => Math.round((value / dearest) * LONGEST)),
  };
}

function programOf(problem: ConcurrentProblem, arcs: FlowArcs): LpProblem {
  const { nodeCount, sources, sourceWeight, demand, terminals } = problem;
  const count = arcs.target.length;
  const columns = sources.length * count + 1;
  const scale = arcs.capacity.reduce((most, value) => Math.max(most, value), 0);
  const rows: { column: number; value: number }[][] = [];
  sources.forEach((source, s) => {
    for (let v = 0; v < nodeCount; v++) {
      const row: { column: number; value: number }[] = [];
      rows.push(row);
      if (v === source) continue;
      for (let k = arcs.inOffset[v]; k < arcs.inOffset[v + 1]; k++) {
        row.push({ column: s * count + arcs.inArcs[k], value: 1 });
      }
      for (let a = arcs.offset[v]; a < arcs.offset[v + 1]; a++) row.push({ column: s * count + a, value: -1 });
      const wants = demand === null ? terminals[v] : demand[s * nodeCount + v];
      if (wants > 0) row.push({ column: columns - 1, value: -wants });
    }
  });
  const nodeRows = rows.length;
  for (let c = 0; c < arcs.classSize.length; c++) rows.push([]);
  sources.forEach((_, s) => {
    for (let a = 0; a < count; a++) {
      const c = arcs.arcClass[a];
      const value = (sourceWeight[s] / arcs.classSize[c]) * (scale / arcs.capacity[c]);
      rows[nodeRows + c].push({ column: s * count + a, value });
    }
  });
  const offset = new Int32Array(rows.length + 1);
  rows.forEach((row, i) => {
    offset[i + 1] = offset[i] + row.length;
  });
  const entries = rows.flat();
  return {
    objective: new Float64Array(columns).with(columns - 1, 1),
    lower: new Float64Array(columns),
    upper: new Float64Array(columns).fill(Number.POSITIVE_INFINITY),
    rows: {
      lower: Float64Array.from(rows, (_, i) => (i < nodeRows ? 0 : Number.NEGATIVE_INFINITY)),
      upper: Float64Array.from(rows, (_, i) => (i < nodeRows ? 0 : 1)),
      offset,
      column: Int32Array.from(entries, ({ column }) => column),
      value: Float64Array.from(entries, ({ value }) => value),
    },
  };
}
