import { unfolded } from "../../model/comm-builder.ts";
import type { CommSchedule } from "../../model/comm-schedule.ts";
import type { Digraph } from "../../model/direct/digraph.ts";
import { groupedBy } from "../../model/graph.ts";
import { addRow, roomFor, scheduleOf } from "./rows.ts";

/**
 * Returns the all-gather on the line graph of the schedule's graph (Zhao 2026, definition 1): every node v'v sends its shard to
 * its neighbours, then follows what v does, one step later. `line` is the line graph as `construction.ts` numbers it: node a is
 * arc a, and out of it lead the arcs that leave the node which a enters, in order. Nodes are arcs, so self-loops and parallel
 * arcs of the base need nothing of their own. T_L grows by one step, T_B by at most 1 / N (theorem 7). O(rows of the answer).
 */
export function lineSchedule(schedule: CommSchedule, line: Digraph): CommSchedule {
  const base = unfolded(schedule);
  const { nodes, offset, target } = base.graph;
  const entering = groupedBy(target, nodes);
  let room = line.target.length;
  for (let i = 0; i < base.arc.length; i++) {
    const v = base.source[i];
    const w = target[base.arc[i]];
    room += (entering.offset[v + 1] - entering.offset[v]) * (offset[w + 1] - offset[w]);
  }
  const rows = roomFor(room);
  for (let node = 0; node < line.nodes; node++) {
    for (let arc = line.offset[node]; arc < line.offset[node + 1]; arc++) {
      if (line.target[arc] !== node) addRow(rows, 0, node, arc, 0, base.parts);
    }
  }
  for (let i = 0; i < base.arc.length; i++) {
    const v = base.source[i];
    const a = base.arc[i];
    const first = line.offset[a] - offset[target[a]];
    const end = offset[target[a] + 1];
    for (let k = entering.offset[v]; k < entering.offset[v + 1]; k++) {
      const source = entering.items[k];
      for (let b = offset[target[a]]; b < end; b++) {
        if (b !== source) addRow(rows, base.step[i] + 1, source, first + b, base.from[i], base.to[i]);
      }
    }
  }
  return scheduleOf(line, base.parts, rows);
}
