import { unfolded } from "../../model/comm/builder.ts";
import type { CommSchedule } from "../../model/comm/schedule.ts";
import type { Digraph } from "../../model/direct/digraph.ts";
import { lcm } from "../../model/numbers/integers.ts";
import { addRow, type Rows, roomFor, scheduleOf } from "./rows.ts";

/**
 * Returns the all-gather on a graph together with its transpose (Zhao 2026, A.1.6), given one on each: half of every shard
 * follows the first, half the second, over arcs of their own. `both` is numbered as in `construction.ts`. T_L is the greater of
 * the two; T_B is that of the graph where both load their arcs equally in every step, as on reverse-symmetric graphs, and in
 * general the sum over steps of the greater of their loads. O(rows).
 */
export function bidirectionalSchedule(forward: CommSchedule, backward: CommSchedule, both: Digraph): CommSchedule {
  const half = lcm(forward.parts, backward.parts);
  const halves = [unfolded(forward), unfolded(backward)] as const;
  const rows = roomFor(halves[0].arc.length + halves[1].arc.length);
  const there = forward.graph.offset;
  const back = backward.graph.offset;
  const beside = new Int32Array(forward.graph.target.length);
  const behind = new Int32Array(backward.graph.target.length);
  for (let v = 0; v < both.nodes; v++) {
    for (let arc = there[v]; arc < there[v + 1]; arc++) beside[arc] = both.offset[v] + arc - there[v];
    const first = both.offset[v] + there[v + 1] - there[v];
    for (let arc = back[v]; arc < back[v + 1]; arc++) behind[arc] = first + arc - back[v];
  }
  addHalf(rows, halves[0], beside, half / forward.parts, 0);
  addHalf(rows, halves[1], behind, half / backward.parts, half);
  return scheduleOf(both, 2 * half, rows);
}

function addHalf(rows: Rows, schedule: CommSchedule, arcOf: Int32Array, finer: number, first: number): void {
  const { step, source, arc, from, to } = schedule;
  for (let i = 0; i < arc.length; i++) {
    addRow(rows, step[i], source[i], arcOf[arc[i]], first + from[i] * finer, first + to[i] * finer);
  }
}
