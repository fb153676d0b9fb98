import type { MilpProblem, MilpSize } from "../../engine/contract/milp.ts";
import { programRows } from "../program-rows.ts";
import type { FixedOrder } from "./contiguity-order.ts";
import type { Paths } from "./ordering-paths.ts";
import type { Tasks } from "./scheduling-tasks.ts";

/**
 * The program of stage 3 (TACCL, appendix B.3): exact times and which sends go together, their order being fixed. Columns, all
 * but the last kind in units of 1/1000 of the heuristic's end:
 *
 *   begin[i]     when chunk i takes its turn: its message's start plus the serialisations of those before it in the message
 *   end[i]       when its message has arrived
 *   need[i]      when all that its message still waits for, from i on, is there
 *   time         the end of all
 *   together[p]  1: the sends of pair p, neighbours on their route, are one message
 *
 * The paper has is_together for every two chunks of a link, tied by indicator constraints. Neighbours suffice, as the order is
 * fixed: messages are runs. So occupancy needs no constant at all:
 *
 *   begin[j] - begin[i] >= serial + latency * (1 - together)
 *   end[i] >= begin[i] + serial + latency,   end[i] >= end[j] - M (1 - together)
 *   begin[i] >= need[i] >= end of what brings i,   need[i] >= need[j] - M' (1 - together)
 *
 * and both constants are differences of what paths from the start and to the end leave free within the heuristic's end.
 */
export interface ContiguityProgram {
  readonly problem: MilpProblem;
  /** First column of the kinds. */
  readonly begin: number;
  readonly together: number;
  /** Picoseconds per unit. */
  readonly unitPs: number;
}

/** Returns an upper limit of the program's size. */
export function contiguitySize(tasks: Tasks, { together, apart }: FixedOrder): MilpSize {
  const edges = tasks.after.items.length;
  const rows = 3 * tasks.count + 3 * together.length + apart.length + edges;
  return { columns: 3 * tasks.count + together.length + 1, rows, entries: 3 * rows };
}

/** Returns the program, with the order's own times as its start. `endPs` is their end. O(tasks + pairs). */
export function contiguityProgram(tasks: Tasks, order: FixedOrder, paths: Paths, endPs: number): ContiguityProgram {
  const { count, route, before, times } = tasks;
  const { together, apart } = order;
  const { headPs, tailPs } = paths;
  const unitPs = endPs / 1000;
  const [begin, end, need, time, pair] = [0, count, 2 * count, 3 * count, 3 * count + 1];
  const columns = pair + together.length;
  const lower = new Float64Array(columns);
  const upper = new Float64Array(columns).fill(1);
  const start = new Float64Array(columns);
  const objective = new Float64Array(columns);
  const integer = new Uint8Array(columns);
  const rows = programRows();
  const atLeast = (least: number, ...terms: readonly (readonly [number, number])[]): void =>
    rows.add(least / unitPs, Number.POSITIVE_INFINITY, terms);

  objective[time] = -1;
  lower[time] = paths.boundPs / unitPs;
  upper[time] = start[time] = endPs / unitPs;
  for (let task = 0; task < count; task++) {
    const slot = times.slotPs[route[task]];
    lower[begin + task] = lower[need + task] = headPs[task] / unitPs;
    upper[begin + task] = upper[need + task] = (endPs - tailPs[task]) / unitPs;
    lower[end + task] = (headPs[task] + slot) / unitPs;
    upper[end + task] = (endPs - tailPs[task] + slot) / unitPs;
    start[begin + task] = order.startPs[task] / unitPs;
    start[end + task] = order.endPs[task] / unitPs;
    atLeast(slot, [end + task, 1], [begin + task, -1]);
    atLeast(0, [time, 1], [end + task, -1]);
    atLeast(0, [begin + task, 1], [need + task, -1]);
    for (let i = before.offset[task]; i < before.offset[task + 1]; i++) {
      atLeast(0, [need + task, 1], [end + before.items[i], -1]);
      start[need + task] = Math.max(start[need + task], order.endPs[before.items[i]] / unitPs);
    }
  }
  for (const [a, b] of apart) atLeast(times.slotPs[route[a]], [begin + b, 1], [begin + a, -1]);
  together.forEach(([a, b], p) => {
    const over = route[a];
    const [slot, latency] = [times.slotPs[over], times.latencyPs[over]];
    const one = pair + p;
    integer[one] = 1;
    start[one] = order.startPs[a] === order.startPs[b] ? 1 : 0;
    atLeast(slot, [begin + b, 1], [begin + a, -1], [one, latency / unitPs]);
    const endSpare = endPs - tailPs[b] - headPs[a];
    atLeast(-endSpare, [end + a, 1], [end + b, -1], [one, -endSpare / unitPs]);
    const needSpare = endPs - tailPs[b] - headPs[a];
    atLeast(-needSpare, [need + a, 1], [need + b, -1], [one, -needSpare / unitPs]);
  });
  // turns and needs within the messages of the start, in the order of the runs
  together.forEach(([a, b], p) => {
    if (start[pair + p] === 1) start[begin + b] = start[begin + a] + times.serialPs[route[a]] / unitPs;
  });
  for (let p = together.length - 1; p >= 0; p--) {
    const [a, b] = together[p];
    if (start[pair + p] === 1) start[need + a] = Math.max(start[need + a], start[need + b]);
  }
  return { problem: { objective, lower, upper, rows: rows.lpRows(), integer, start }, begin, together: pair, unitPs };
}
