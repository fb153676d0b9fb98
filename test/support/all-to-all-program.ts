import type { LpProblem } from "../../src/engine/contract/programs.ts";
import { arcSources, type Digraph } from "../../src/model/direct/digraph.ts";

/** Returns the linear program (A.1) of Zhao 2026 as it stands: its objective is f, with links of rate 1. For small graphs. */
export function allToAllProgram(graph: Digraph): LpProblem {
  const { nodes, target } = graph;
  const tail = arcSources(graph);
  const arcs = target.length;
  const columns = nodes * arcs + 1;
  const offset = [0];
  const column: number[] = [];
  const value: number[] = [];
  const upper: number[] = [];
  const endRow = (bound: number): void => {
    offset.push(column.length);
    upper.push(bound);
  };
  const put = (at: number, factor: number): void => {
    column.push(at);
    value.push(factor);
  };
  for (let arc = 0; arc < arcs; arc++) {
    for (let s = 0; s < nodes; s++) put(s * arcs + arc, 1);
    endRow(1);
  }
  for (let s = 0; s < nodes; s++) {
    for (let u = 0; u < nodes; u++) {
      if (u === s) continue;
      put(columns - 1, 1);
      for (let arc = 0; arc < arcs; arc++) {
        const leaves = tail[arc] === u;
        const enters = target[arc] === u;
        if (leaves !== enters) put(s * arcs + arc, leaves ? 1 : -1);
      }
      endRow(0);
    }
  }
  const objective = new Float64Array(columns);
  objective[columns - 1] = 1;
  return {
    objective,
    lower: new Float64Array(columns),
    upper: new Float64Array(columns).fill(Number.POSITIVE_INFINITY),
    rows: {
      lower: new Float64Array(upper.length).fill(Number.NEGATIVE_INFINITY),
      upper: Float64Array.from(upper),
      offset: Int32Array.from(offset),
      column: Int32Array.from(column),
      value: Float64Array.from(value),
    },
  };
}
