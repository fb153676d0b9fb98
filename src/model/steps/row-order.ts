import { orderByTime } from "../numbers/ordering.ts";
import type { StepSchedule } from "./step-schedule.ts";

type Columns = Pick<StepSchedule, "chunk" | "route" | "startPs" | "endPs" | "op">;

/**
 * Returns the schedule with its rows in ascending order of (startPs, route, chunk), rows that tie as they were: the order that
 * a StepSchedule has and by which a replay decides ties. Where starts ascend already, rows are moved within the columns that
 * were given. O(rows) where they are in order; else O(rows log of those that start at once).
 */
export function inRowOrder<Rows extends Columns>(schedule: Rows): Rows {
  const sorted = byStart(schedule);
  const { startPs } = sorted;
  for (let from = 0, to = 1; from < startPs.length; from = to++) {
    let ordered = true;
    for (; to < startPs.length && startPs[to] === startPs[from]; to++) {
      if (isBefore(sorted, to, to - 1)) ordered = false;
    }
    if (!ordered) moveRows(sorted, from, orderOfRun(sorted, from, to));
  }
  return sorted;
}

const isBefore = ({ route, chunk }: Columns, a: number, b: number): boolean =>
  route[a] < route[b] || (route[a] === route[b] && chunk[a] < chunk[b]);

/** Returns the schedule itself, or a copy with its rows in order of start. */
function byStart<Rows extends Columns>(schedule: Rows): Rows {
  const { chunk, route, startPs, endPs, op } = schedule;
  if (startPs.every((start, i) => i === 0 || startPs[i - 1] <= start)) return schedule;
  const order = orderByTime(startPs);
  return {
    ...schedule,
    chunk: chunk.map((_, i) => chunk[order[i]]),
    route: route.map((_, i) => route[order[i]]),
    startPs: startPs.map((_, i) => startPs[order[i]]),
    endPs: endPs.map((_, i) => endPs[order[i]]),
    op: op.map((_, i) => op[order[i]]),
  };
}

/** Returns the rows from..to-1, which start at once, in order of (route, chunk, row). */
function orderOfRun(rows: Columns, from: number, to: number): ArrayLike<number> {
  const { route, chunk } = rows;
  const count = to - from;
  let [routes, chunks] = [1, 1];
  for (let i = from; i < to; i++) {
    if (route[i] >= routes) routes = route[i] + 1;
    if (chunk[i] >= chunks) chunks = chunk[i] + 1;
  }
  if (routes * chunks * count > Number.MAX_SAFE_INTEGER) {
    const order = Float64Array.from({ length: count }, (_, i) => from + i);
    return order.sort((a, b) => route[a] - route[b] || chunk[a] - chunk[b] || a - b);
  }
  // route, chunk and row as the digits of one number: sorted without a call for each comparison
  const keys = new Float64Array(count);
  for (let i = 0; i < count; i++) keys[i] = (route[from + i] * chunks + chunk[from + i]) * count + i;
  keys.sort();
  for (let i = 0; i < count; i++) keys[i] = from + (keys[i] % count);
  return keys;
}

/** Puts row order[i] in place of row from + i, in all columns but the starts, which are equal. */
function moveRows({ chunk, route, endPs, op }: Columns, from: number, order: ArrayLike<number>): void {
  const moved = new Float64Array(order.length);
  for (const column of [chunk, route, endPs, op]) {
    for (let i = 0; i < order.length; i++) moved[i] = column[order[i]];
    column.set(moved, from);
  }
}
