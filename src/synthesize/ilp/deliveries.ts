import { type Move, movesOf } from "./found-rows.ts";
import type { FlowProblem, Resource } from "./problem.ts";
import { writeRows } from "./program.ts";
import { keepingSink } from "./row-sink.ts";
import type { Stages } from "./stages.ts";
import { COPY, type Columns } from "./windows.ts";

/**
 * Returns the moves of a partial schedule of copies: what arrives is worth most (TACOS 2023, figure 12b: `worth` of bringing a
 * flow over a route, by tick of arrival), not all need arrive. Null where the solver found nothing in its share of the time.
 */
export async function mostDeliveries(
  problem: FlowProblem,
  resources: readonly Resource[],
  columns: Columns,
  worth: (flow: number, route: number, arrival: number) => number,
  stages: Stages,
  name: string,
  share: number,
): Promise<Move[] | null> {
  const { flows, durations, routes } = problem;
  const sink = keepingSink(null);
  writeRows(problem, resources, columns, sink, false);
  const objective = new Float64Array(columns.count);
  for (const { flow, place, low, high, first } of columns.blocks) {
    const duration = durations[flows[flow].size][place];
    for (let k = low; k <= high; k++) objective[first + k - low] = worth(flow, place, columns.ticks[k] + duration);
  }
  // one that a single NPU wants moves on instead of spreading
  for (const [f, { to }] of flows.entries()) {
    if (to.length !== 1) continue;
    for (let v = 0; v < problem.npuCount; v++) {
      for (let r = 0; r < routes.source.length; r++) {
        const block = routes.source[r] === v ? columns.block(f, COPY, r) : undefined;
        for (let k = 0; block !== undefined && k <= block.high - block.low; k++) sink.add(block.first + k, 1);
      }
      sink.end(0, 1);
    }
  }
  const milp = {
    objective,
    lower: new Float64Array(columns.count),
    upper: new Float64Array(columns.count).fill(1),
    rows: sink.lpRows(),
    integer: new Uint8Array(columns.count).fill(1),
  };
  const found = await stages.solve(name, milp, share);
  if (found === null || found.primal.length === 0) return null;
  return movesOf(problem, columns, (column) => found.primal[column], false);
}
