import type { MilpProblem } from "../../engine/contract/milp.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import { programDraft } from "../program-draft.ts";
import type { SyncProblem } from "./problem.ts";

/**
 * Returns the linear program whose least number of rounds no schedule can do with less, whatever its steps: chunks of one
 * target each, cut anywhere, flow from their sources over arcs that carry all of it in those rounds (a concurrent flow). The
 * first column is the number of rounds; the objective is less that.
 */
export function relaxedProgram({ npuCount, arcs, loads, items }: SyncProblem): MilpProblem {
  const count = arcs.source.length;
  const columns = programDraft();
  columns.column(0, Number.POSITIVE_INFINITY, false);
  const flows = items.filter(({ demand }) => demand !== null);
  for (let i = 0; i < flows.length * count; i++) columns.column(0, Number.POSITIVE_INFINITY, false);
  const columnOf = (item: number, arc: number): number => 1 + item * count + arc;
  const into = groupedBy(arcs.target, npuCount);
  const out = groupedBy(arcs.source, npuCount);
  flows.forEach(({ sources, targets, demand }, item) => {
    for (let v = 0; v < npuCount; v++) {
      if (v === sources[0]) continue;
      const ends = (of: typeof into, factor: number) =>
        Array.from(of.items.subarray(of.offset[v], of.offset[v + 1]), (arc) => [columnOf(item, arc), factor] as const);
      const wanted = targets.indexOf(v);
      const stays = wanted < 0 ? 0 : (demand as Int32Array)[wanted];
      columns.row(stays, stays, [...ends(into, 1), ...ends(out, -1)]);
    }
  });
  for (const { arcs: users, weight, capacity } of loads) {
    const factor = new Map<number, number>([[0, -capacity]]);
    flows.forEach((_, item) => {
      for (const arc of users) factor.set(columnOf(item, arc), (factor.get(columnOf(item, arc)) ?? 0) + weight);
    });
    columns.row(Number.NEGATIVE_INFINITY, 0, [...factor]);
  }
  const objective = new Float64Array(columns.count());
  objective[0] = -1;
  return columns.problem(objective);
}
