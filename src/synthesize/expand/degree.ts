import { unfolded } from "../../model/comm/builder.ts";
import type { CommSchedule } from "../../model/comm/schedule.ts";
import { arcSources, type Digraph } from "../../model/direct/digraph.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import { lcm } from "../../model/numbers/integers.ts";
import { addRow, roomFor, scheduleOf } from "./rows.ts";

/**
 * Returns the all-gather on so many copies of the schedule's graph, connected as degree expansion does (Zhao 2026, definition 2):
 * data stays in the copy of its owner but for its last hop, and in one more step the copies of the owner receive equal pieces
 * over all their arcs. `expanded` is numbered as in `construction.ts`; a node needs at least one arc in, and none from itself.
 * T_L grows by one step, T_B by (n - 1) / (n * N) where the graph is regular (theorem 11). O(rows of the answer).
 */
export function degreeSchedule(schedule: CommSchedule, factor: number, expanded: Digraph): CommSchedule {
  if (factor === 1) return schedule;
  const base = unfolded(schedule);
  const { nodes, offset } = base.graph;
  const into = groupedBy(expanded.target, expanded.nodes);
  let parts = base.parts;
  for (let v = 0; v < nodes; v++) parts = lcm(parts, into.offset[v + 1] - into.offset[v]);
  const finer = parts / base.parts;
  const rows = roomFor(base.arc.length * factor * factor + into.items.length * (factor - 1));
  const leaves = arcSources(base.graph);
  for (let i = 0; i < base.arc.length; i++) {
    const arc = base.arc[i];
    const u = leaves[arc];
    const position = (arc - offset[u]) * factor;
    for (let copy = 0; copy < factor; copy++) {
      const first = expanded.offset[copy * nodes + u] + position;
      const source = copy * nodes + base.source[i];
      for (let to = 0; to < factor; to++) {
        addRow(rows, base.step[i], source, first + to, base.from[i] * finer, base.to[i] * finer);
      }
    }
  }
  for (let node = 0; node < expanded.nodes; node++) {
    const ports = into.offset[node + 1] - into.offset[node];
    const piece = parts / ports;
    for (let source = node % nodes; source < expanded.nodes; source += nodes) {
      if (source === node) continue;
      for (let p = 0; p < ports; p++) {
        addRow(rows, base.steps, source, into.items[into.offset[node] + p], p * piece, (p + 1) * piece);
      }
    }
  }
  return scheduleOf(expanded, parts, rows);
}
