import { unfolded } from "../../model/comm/builder.ts";
import type { CommSchedule } from "../../model/comm/schedule.ts";
import type { Digraph } from "../../model/direct/digraph.ts";
import { type Grouped, groupedBy } from "../../model/graph/graph.ts";
import { addRow, orderedSchedule, ROW_KEY, roomFor } from "./rows.ts";

/**
 * Returns the all-gather on the line graph of the schedule's graph (Zhao 2026, definition 1): every node v'v sends its shard to
 * its neighbours, then follows what v does, one step later. `line` is the line graph as `construction.ts` numbers it: node a is
 * arc a, and out of it lead the arcs that leave the node which a enters, in order. Nodes are arcs, so self-loops and parallel
 * arcs of the base need nothing of their own. T_L grows by one step, T_B by at most 1 / N (theorem 7). O(rows of the answer), for
 * rows of an arc and step are few.
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
  for (let i = 0; i < base.arc.length; ) {
    const a = base.arc[i];
    const step = base.step[i];
    const first = i;
    while (i < base.arc.length && base.arc[i] === a && base.step[i] === step) i++;
    const shards = shardsOf(base, first, i, entering);
    for (let b = offset[target[a]], arc = line.offset[a]; b < offset[target[a] + 1]; b++, arc++) {
      for (let k = 0; k < shards.length; k++) {
        const source = Math.floor(shards[k] / ROW_KEY);
        const row = first + (shards[k] % ROW_KEY);
        if (source !== b) addRow(rows, step + 1, source, arc, base.from[row], base.to[row]);
      }
    }
  }
  return orderedSchedule(line, base.parts, rows);
}

/** Returns what follows the rows first .. end - 1 of an arc: source * ROW_KEY + (row - first), ascending. */
function shardsOf(base: CommSchedule, first: number, end: number, entering: Grouped): Float64Array {
  const ends = (v: number): number => entering.offset[v + 1] - entering.offset[v];
  let count = 0;
  for (let i = first; i < end; i++) count += ends(base.source[i]);
  const shards = new Float64Array(count);
  let next = 0;
  for (let i = first; i < end; i++) {
    const v = base.source[i];
    for (let k = entering.offset[v]; k < entering.offset[v + 1]; k++) {
      shards[next++] = entering.items[k] * ROW_KEY + i - first;
    }
  }
  return shards.sort();
}
