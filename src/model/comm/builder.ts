import { arcCount, arcSources } from "../direct/digraph.ts";
import { type IndexColumn, indexColumn } from "../steps/step-schedule.ts";
import { translateAll } from "../symmetry/translation.ts";
import type { CommSchedule } from "./schedule.ts";

/** The rows of an all-gather in comm steps, in any order: [rows] each. */
export interface CommRows {
  readonly step: ArrayLike<number>;
  readonly source: ArrayLike<number>;
  readonly arc: ArrayLike<number>;
  readonly from: ArrayLike<number>;
  readonly to: ArrayLike<number>;
}

/** What a schedule has beside its rows. */
export type CommFrame = Pick<CommSchedule, "graph" | "steps" | "parts" | "symmetry">;

/** Returns the schedule of these rows, put in order of (step, arc, source, from). Counting sorts, O(rows + arcs). */
export function commSchedule(frame: CommFrame, rows: CommRows): CommSchedule {
  const { graph, steps, parts } = frame;
  let order = new Uint32Array(rows.step.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  if (parts > 1) order = sortedBy(order, rows.from, parts);
  order = sortedBy(order, rows.source, graph.nodes);
  order = sortedBy(order, rows.arc, arcCount(graph));
  order = sortedBy(order, rows.step, steps);
  const column = (values: ArrayLike<number>, maximum: number): IndexColumn => {
    const sorted = indexColumn(order.length, maximum);
    for (let i = 0; i < order.length; i++) sorted[i] = values[order[i]];
    return sorted;
  };
  return {
    ...frame,
    step: column(rows.step, steps),
    source: column(rows.source, graph.nodes),
    arc: column(rows.arc, arcCount(graph)),
    from: column(rows.from, parts),
    to: column(rows.to, parts),
  };
}

/** Returns the indices in order of key (0 .. keys - 1), those of equal keys as they were. */
function sortedBy(order: Uint32Array, key: ArrayLike<number>, keys: number): Uint32Array<ArrayBuffer> {
  const start = new Uint32Array(keys + 1);
  for (let i = 0; i < order.length; i++) start[key[i] + 1]++;
  for (let k = 0; k < keys; k++) start[k + 1] += start[k];
  const sorted = new Uint32Array(order.length);
  for (let i = 0; i < order.length; i++) sorted[start[key[order[i]]]++] = order[i];
  return sorted;
}

/**
 * Returns the schedule with all its rows listed: a translation takes the k-th arc that leaves a node to the k-th that leaves its
 * image. Schedules without symmetry stay. O(rows * nodes).
 */
export function unfolded(schedule: CommSchedule): CommSchedule {
  const { graph, symmetry } = schedule;
  if (symmetry === null) return schedule;
  const { nodes, offset } = graph;
  const tail = arcSources(graph);
  const count = schedule.step.length;
  const repeat = (column: IndexColumn, maximum: number): IndexColumn => {
    const all = indexColumn(count * nodes, maximum);
    for (let by = 0; by < nodes; by++) all.set(column, by * count);
    return all;
  };
  const source = new Int32Array(count * nodes);
  const arc = new Int32Array(count * nodes);
  const image = new Int32Array(nodes);
  for (let by = 0, row = 0; by < nodes; by++) {
    translateAll(symmetry, by, image);
    for (let i = 0; i < count; i++, row++) {
      const from = tail[schedule.arc[i]];
      source[row] = image[schedule.source[i]];
      arc[row] = schedule.arc[i] - offset[from] + offset[image[from]];
    }
  }
  return commSchedule(
    { ...schedule, symmetry: null },
    {
      step: repeat(schedule.step, schedule.steps),
      source,
      arc,
      from: repeat(schedule.from, schedule.parts),
      to: repeat(schedule.to, schedule.parts),
    },
  );
}
