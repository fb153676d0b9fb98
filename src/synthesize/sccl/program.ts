import type { MilpProblem, MilpSize } from "../../engine/contract/milp.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import { type ProgramDraft, programDraft } from "../program-draft.ts";
import { chunksOf, type Item, type SyncProblem } from "./problem.ts";
import type { Flow } from "./sends.ts";
import type { Window } from "./windows.ts";

/** How many steps, at most how many rounds in all, and a number of rounds that is known to be needed. */
export interface Budget {
  readonly steps: number;
  readonly mostRounds: number;
  readonly leastRounds: number;
}

/** A program and what its columns are. */
export interface SyncProgram {
  readonly milp: MilpProblem;
  /** Returns what is sent, of a solution [columns]. */
  flowsOf(primal: Float64Array): Flow[];
}

/** Returns about how large the program is, without building it. O(items x arcs). */
export function programSize(
  { npuCount, arcs, items }: SyncProblem,
  windows: readonly Window[],
  steps: number,
): MilpSize {
  let sends = 0;
  items.forEach((_, i) => {
    const { early, left } = windows[i] as Window;
    for (let a = 0; a < arcs.source.length; a++) {
      sends += Math.max(0, steps - left[arcs.target[a]] - early[arcs.source[a]]);
    }
  });
  const stocks = items.length * npuCount * steps;
  return {
    columns: steps + sends + stocks,
    rows: 2 * stocks + sends + arcs.source.length * steps,
    entries: 6 * sends + 3 * stocks,
  };
}

/** Columns of consecutive steps: that of step s is at + s - from, for s in from .. to. */
interface Run {
  readonly at: number;
  readonly from: number;
  readonly to: number;
}
const NONE: Run = { at: 0, from: 1, to: 0 };
const columnAt = (run: Run, step: number): number => (step < run.from || step > run.to ? -1 : run.at + step - run.from);

/** The columns of one item: its sends by arc, and by NPU what is there after a step. */
interface ItemColumns {
  readonly send: readonly Run[];
  readonly stock: readonly Run[];
}

/**
 * Returns the program of the fewest rounds (PPoPP 2021, section 4, with flows in place of arrival times): columns r_s, sends
 * over an arc in a step, and stocks of an item at an NPU after a step. A chunk is sent only within its window: not before it
 * can be there, nor where no target can be reached in time. Stocks need not be declared whole, for sends are.
 */
export function syncProgram(problem: SyncProblem, windows: readonly Window[], budget: Budget): SyncProgram {
  const { loads, items } = problem;
  const { steps, mostRounds, leastRounds } = budget;
  const columns = programDraft();
  const rounds: Run = { at: 0, from: 1, to: steps };
  for (let step = 1; step <= steps; step++) columns.column(1, mostRounds - steps + 1, true);
  const placed = items.map((item, i) => itemColumns(columns, problem, item, windows[i] as Window, steps));
  items.forEach((item, i) => {
    itemRows(columns, problem, item, windows[i] as Window, placed[i] as ItemColumns, steps);
  });
  for (const { arcs: users, weight, capacity } of loads) {
    for (let step = 1; step <= steps; step++) {
      const factor = new Map<number, number>();
      for (const { send } of placed) {
        for (const a of users) {
          const at = columnAt(send[a] as Run, step);
          if (at >= 0) factor.set(at, (factor.get(at) ?? 0) + weight);
        }
      }
      if (factor.size > 0) columns.row(Number.NEGATIVE_INFINITY, 0, [...factor, [columnAt(rounds, step), -capacity]]);
    }
  }
  columns.row(
    leastRounds,
    mostRounds,
    Array.from({ length: steps }, (_, s) => [s, 1] as const),
  );
  const objective = new Float64Array(columns.count());
  objective.fill(-1, 0, steps);
  return {
    milp: columns.problem(objective),
    flowsOf: (primal) =>
      placed.flatMap(({ send }, item) =>
        send.flatMap((run, arc) => {
          const flows: Flow[] = [];
          for (let step = run.from; step <= run.to; step++) {
            const count = Math.round(primal[columnAt(run, step)]);
            if (count > 0) flows.push({ item, arc, step, count });
          }
          return flows;
        }),
      ),
  };
}

/** Returns the last step after which it matters what is at an NPU. */
const lastStock = ({ left }: Window, v: number, steps: number): number => Math.min(steps - 1, steps - left[v]);

function itemColumns(
  columns: ProgramDraft,
  { npuCount, arcs }: SyncProblem,
  item: Item,
  window: Window,
  steps: number,
): ItemColumns {
  const { early, left } = window;
  const isFlow = item.demand !== null;
  const run = (from: number, to: number, most: number, whole: boolean): Run => {
    if (from > to) return NONE;
    const at = columns.count();
    for (let step = from; step <= to; step++) columns.column(0, most, whole);
    return { at, from, to };
  };
  const most = isFlow ? chunksOf(item) : 1;
  const send = Array.from(arcs.source, (source, a) => {
    const target = arcs.target[a];
    return early[target] === 0 ? NONE : run(early[source] + 1, steps - left[target], most, true);
  });
  const stock = Array.from({ length: npuCount }, (_, v) =>
    early[v] === 0 && !isFlow ? NONE : run(Math.max(1, early[v]), lastStock(window, v, steps), most, false),
  );
  return { send, stock };
}

/** Adds what ties stocks to sends: what is there was there or came, and only what was there before a step is sent in it. */
function itemRows(
  columns: ProgramDraft,
  { npuCount, arcs }: SyncProblem,
  item: Item,
  window: Window,
  { send, stock }: ItemColumns,
  steps: number,
): void {
  const { early } = window;
  const into = groupedBy(arcs.target, npuCount);
  const out = groupedBy(arcs.source, npuCount);
  const isFlow = item.demand !== null;
  const sends = (of: typeof into, v: number, step: number, factor: number): (readonly [number, number])[] => {
    const entries: (readonly [number, number])[] = [];
    for (let i = of.offset[v]; i < of.offset[v + 1]; i++) {
      const at = columnAt(send[of.items[i]] as Run, step);
      if (at >= 0) entries.push([at, factor]);
    }
    return entries;
  };
  for (let v = 0; v < npuCount; v++) {
    if (early[v] > steps || (early[v] === 0 && !isFlow)) continue;
    const held = stock[v] as Run;
    const target = item.targets.indexOf(v);
    const wanted = target < 0 ? 0 : (item.demand?.[target] ?? 1);
    const first = early[v] === 0 ? chunksOf(item) : 0;
    const last = target < 0 ? Math.min(steps, held.to + 1) : steps;
    for (let step = Math.max(1, early[v]); step <= last; step++) {
      const before = columnAt(held, step - 1);
      const after = columnAt(held, step);
      const fixed = (step === 1 ? first : 0) - (after < 0 ? wanted : 0);
      const was: (readonly [number, number])[] = before < 0 ? [] : [[before, -1]];
      const is: (readonly [number, number])[] = after < 0 ? [] : [[after, 1]];
      const arrivals = sends(into, v, step, -1);
      const departures = sends(out, v, step, 1);
      if (isFlow) {
        columns.row(fixed, fixed, [...is, ...was, ...arrivals, ...departures]);
        if (departures.length > 0) {
          columns.row(Number.NEGATIVE_INFINITY, step === 1 ? first : 0, [...was, ...departures]);
        }
        continue;
      }
      if (after >= 0 || target >= 0) columns.row(fixed, fixed, [...is, ...was, ...arrivals]);
      for (const [departure] of departures) columns.row(Number.NEGATIVE_INFINITY, 0, [[departure, 1], ...was]);
    }
  }
}
