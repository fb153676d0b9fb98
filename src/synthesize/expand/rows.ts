import { InputError } from "../../base/errors.ts";
import { commSchedule } from "../../model/comm/builder.ts";
import type { CommSchedule } from "../../model/comm/schedule.ts";
import { arcCount, type Digraph } from "../../model/direct/digraph.ts";
import { type IndexColumn, indexColumn } from "../../model/steps/step-schedule.ts";

/** Rows of a schedule while they are made, in any order; room for as many as were asked for. */
export interface Rows {
  length: number;
  readonly step: Int32Array;
  readonly source: Int32Array;
  readonly arc: Int32Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
}

/** Keys `owner * ROW_KEY + row` sort rows of an arc in a step: rows are fewer, and keys exact. */
export const ROW_KEY = 2 ** 26;

/** Rows take 20 bytes each, and twice as much while they are sorted. */
const MOST_ROWS = 1e8;

/** Throws InputError for more rows than a schedule may have. */
export function refuseRows(rows: number): void {
  if (rows <= MOST_ROWS) return;
  const fewer = `a smaller construction: at most ${MOST_ROWS.toExponential()} rows of a schedule`;
  throw new InputError("expand", fewer, `about ${rows.toExponential(1)}`);
}

/** Returns room for so many rows. Throws as refuseRows. */
export function roomFor(rows: number): Rows {
  refuseRows(rows);
  const column = (): Int32Array => new Int32Array(rows);
  return { length: 0, step: column(), source: column(), arc: column(), from: column(), to: column() };
}

export function addRow(rows: Rows, step: number, source: number, arc: number, from: number, to: number): void {
  const i = rows.length++;
  rows.step[i] = step;
  rows.source[i] = source;
  rows.arc[i] = arc;
  rows.from[i] = from;
  rows.to[i] = to;
}

/** Returns the schedule of the rows, in order; steps in which nothing moves are left out. O(rows + arcs + steps). */
export function scheduleOf(
  graph: Digraph,
  parts: number,
  rows: Rows,
  symmetry: readonly number[] | null = null,
): CommSchedule {
  const used = (column: Int32Array): Int32Array => column.subarray(0, rows.length);
  const step = used(rows.step);
  const steps = closeGaps(step);
  return commSchedule(
    { graph, steps, parts, symmetry },
    { step, source: used(rows.source), arc: used(rows.arc), from: used(rows.from), to: used(rows.to) },
  );
}

/** Returns the schedule of rows that are in order but for gaps between steps. O(rows). */
export function orderedSchedule(graph: Digraph, parts: number, rows: Rows): CommSchedule {
  const narrow = (column: Int32Array, maximum: number): IndexColumn => {
    const values = indexColumn(rows.length, maximum);
    values.set(column.subarray(0, rows.length));
    return values;
  };
  const steps = closeGaps(rows.step.subarray(0, rows.length));
  return {
    graph,
    steps,
    parts,
    step: narrow(rows.step, steps),
    source: narrow(rows.source, graph.nodes),
    arc: narrow(rows.arc, arcCount(graph)),
    from: narrow(rows.from, parts),
    to: narrow(rows.to, parts),
    symmetry: null,
  };
}

/** Numbers what occurs from 0 on, in order, in place; returns how many there are. */
function closeGaps(values: Int32Array): number {
  let most = -1;
  for (let i = 0; i < values.length; i++) if (values[i] > most) most = values[i];
  const number = new Int32Array(most + 1);
  for (let i = 0; i < values.length; i++) number[values[i]] = 1;
  let count = 0;
  for (let value = 0; value <= most; value++) {
    const occurs = number[value];
    number[value] = count;
    count += occurs;
  }
  for (let i = 0; i < values.length; i++) values[i] = number[values[i]];
  return count;
}
