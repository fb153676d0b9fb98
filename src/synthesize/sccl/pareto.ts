import { InfeasibleError } from "../../base/errors.ts";
import type { MilpProblem, MilpRunner, MilpSize } from "../../engine/contract/programs.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import type { Deadline } from "../deadline.ts";
import { type ProgramDraft, programDraft } from "../program-draft.ts";
import { type SolverStage, skippedStage, solvedStage } from "../solver-facts.ts";
import {
  chunksOf,
  hopsOf,
  type Item,
  leastRounds,
  leastSteps,
  type SyncProblem,
  type Window,
  windowsOf,
} from "./problem.ts";
import { type Flow, greedyPlan, roundsFor, roundsIn, type SyncPlan, unfolded } from "./sends.ts";
import { type Folded, fold, freeMaps } from "./symmetry.ts";

/** A plan, with what is known of its steps. */
export interface SyncPoint extends SyncPlan {
  readonly steps: number;
  /** No plan of this many steps has fewer rounds. */
  readonly proved: boolean;
}

export interface Front {
  /** Steps ascending, rounds descending; the first has the fewest steps that there can be. */
  readonly points: readonly SyncPoint[];
  /** No plan has fewer rounds, whatever its steps. */
  readonly leastRounds: number;
  /** Every point is proved, and no number of steps that was asked for was left out. */
  readonly complete: boolean;
  readonly stages: readonly SolverStage[];
}

export interface FrontOptions {
  readonly milp?: MilpRunner | undefined;
  /** For all, programs being built included. */
  readonly deadline: Deadline;
  /** As in SynthesisContext. */
  readonly breathe?: (() => Promise<void>) | undefined;
  /** Rounds are at most steps + extra; no limit without it. */
  readonly extra?: number;
  /** Returns whether more steps, with at best this many rounds, are worth a try. */
  readonly worthTrying?: (steps: number, rounds: number, points: readonly SyncPoint[]) => boolean;
  /** Sets of NPUs whose borders may be narrow (likelySets). */
  readonly sets?: readonly Int32Array[];
  /** Sizes of the dimensions of the network; helps to find symmetries. */
  readonly shape?: readonly number[];
  readonly onStage?: (name: string) => void;
}

/** Of the time that is left, what schedules that look the same under maps may take. */
const SYMMETRIC_SHARE = 0.5;
/** And what the bound on rounds of any steps may take. */
const RELAXED_SHARE = 0.5;
/** How much of a program is built in a millisecond, at the least. */
const ENTRIES_PER_MS = 500;
/** Rounds are whole. */
const ALMOST_ONE = 0.999;
/** How far above a whole number the solver's doubles may end. */
const ROUNDING = 1e-6;

/**
 * Returns the fewest rounds for every number of steps from the fewest up, until more steps save no rounds: rounds are as many
 * as steps, or as few as cuts, or flows of chunks cut anywhere, allow. Each number of steps is one program, first of schedules that look the same under maps
 * of the network, then of all, and always with fewer rounds than the best so far, which at first is the greedy plan; a bound
 * that is met ends the search. Points that time did not allow to prove are the best found. Throws InfeasibleError where a
 * target cannot be reached.
 */
export async function paretoFront(problem: SyncProblem, options: FrontOptions): Promise<Front> {
  const windows = windowsOf(problem, hopsOf(problem));
  const { steps: fewest, reachable, source, target } = leastSteps(problem.items, windows);
  if (!reachable) {
    throw new InfeasibleError(`NPU ${source} cannot reach NPU ${target}`, { from: source, to: target });
  }
  let least = leastRounds(problem, options.sets);
  const search = searchOf(problem, options);
  const points: SyncPoint[] = [];
  let complete = true;
  const plan: SyncPlan | null = fewest === 0 ? null : greedyPlan(problem, windows, fewest);
  if (plan !== null && roundsIn(plan) > Math.max(fewest, least)) least = Math.max(least, await search.relaxedRounds());
  for (let steps = fewest; plan !== null; steps++) {
    const best = points[points.length - 1];
    const floor = Math.max(steps, least);
    if (best !== undefined && (roundsIn(best) <= floor || options.worthTrying?.(steps, floor, points) === false)) break;
    const found = await search.fewestRounds(
      steps,
      floor,
      best === undefined ? 0 : roundsIn(best),
      best === undefined ? plan : null,
    );
    complete &&= found.proved;
    if (found.plan !== null) points.push({ ...found.plan, steps, proved: found.proved });
    if (found.outOfTime) {
      complete = false;
      break;
    }
  }
  const kept = points.filter((point) => roundsIn(point) <= point.steps + (options.extra ?? Number.POSITIVE_INFINITY));
  return { points: kept, leastRounds: least, complete, stages: search.stages };
}

interface Found {
  /** Null: nothing with fewer rounds than what was there. */
  readonly plan: SyncPlan | null;
  readonly proved: boolean;
  readonly outOfTime: boolean;
}

/** Returns a search that shares its time between programs. */
function searchOf(problem: SyncProblem, { milp, deadline, breathe, shape = [], onStage }: FrontOptions) {
  const stages: SolverStage[] = [];
  let symmetric: Folded | null = null;

  /** Returns what the solver says of a program, and the plan of its solution; null where it was not asked. */
  const solve = async (name: string, folded: Folded, budget: Budget, share: number) => {
    const windows = windowsOf(folded.problem, hopsOf(folded.problem));
    const size = programSize(folded.problem, windows, budget.steps);
    if (milp === undefined || milp.bytesFor(size) > milp.maxBytes) {
      const note = milp === undefined ? "no solver" : "predicted to need more memory than the solver has";
      stages.push(skippedStage(name, size, note));
      return null;
    }
    await breathe?.();
    if (!deadline.allows(size.entries / ENTRIES_PER_MS)) {
      stages.push(skippedStage(name, size, "no time was left to build it"));
      return null;
    }
    onStage?.(name);
    const program = syncProgram(folded.problem, windows, budget);
    const options = { timeLimitMs: share * deadline.leftMs(), absoluteGap: ALMOST_ONE, enough: -budget.leastRounds };
    const solution = await milp.solve(program.milp, options);
    const { status, primal } = solution;
    stages.push(solvedStage(name, program.milp, solution));
    if (primal.length === 0) return { status, plan: null };
    const flows = unfolded(folded, program.flowsOf(primal));
    return { status, plan: { flows, rounds: roundsFor(problem, flows, budget.steps) } };
  };

  /** Returns a number of rounds that is needed whatever the steps; 0 where nothing is known. */
  const relaxedRounds = async (): Promise<number> => {
    if (milp === undefined || deadline.isOver() || problem.items.every(({ demand }) => demand === null)) return 0;
    symmetric ??= fold(problem, freeMaps(problem, shape));
    const { items, arcs, loads } = symmetric.problem;
    const columns = items.length * arcs.source.length + 1;
    const rows = items.length * (problem.npuCount - 1) + loads.length;
    const name = "any steps, chunks cut anywhere";
    if (milp.bytesFor({ columns, rows, entries: 4 * columns }) > milp.maxBytes) return 0;
    await breathe?.();
    if (!deadline.allows((4 * columns) / ENTRIES_PER_MS)) return 0;
    onStage?.(name);
    const program = relaxedProgram(symmetric.problem);
    const solution = await milp.solve(program, { timeLimitMs: RELAXED_SHARE * deadline.leftMs() });
    stages.push(solvedStage(name, program, solution));
    return solution.status === "optimal" ? Math.ceil(-solution.bound - ROUNDING) : 0;
  };

  /** Returns a plan of this many steps with fewer rounds than `best`, not fewer than `floor`. */
  const fewestRounds = async (steps: number, floor: number, best: number, greedy: SyncPlan | null): Promise<Found> => {
    let plan = greedy;
    const budget = (): Budget => {
      const known = plan === null ? best : roundsIn(plan);
      return { steps, mostRounds: known - 1, leastRounds: floor };
    };
    const isLeast = (): boolean => plan !== null && roundsIn(plan) <= floor;
    if (isLeast()) return { plan, proved: true, outOfTime: false };
    if (deadline.isOver()) return { plan, proved: false, outOfTime: true };
    const name = steps === 1 ? "1 step" : `${steps} steps`;
    symmetric ??= fold(problem, freeMaps(problem, shape));
    const { maps } = symmetric;
    if (maps.length > 1) {
      const alike = `${name}, alike under ${maps.length} maps`;
      plan = (await solve(alike, symmetric, budget(), SYMMETRIC_SHARE))?.plan ?? plan;
      if (isLeast()) return { plan, proved: true, outOfTime: false };
    }
    if (deadline.isOver()) return { plan, proved: false, outOfTime: true };
    const found = await solve(name, fold(problem, maps.slice(0, 1)), budget(), 1);
    plan = found?.plan ?? plan;
    const proved = isLeast() || found?.status === "optimal" || found?.status === "infeasible";
    return { plan, proved, outOfTime: !proved && (found === null || deadline.isOver()) };
  };
  return { stages, fewestRounds, relaxedRounds };
}

/**
 * Returns the linear program whose least number of rounds no schedule can do with less, whatever its steps: chunks of one
 * target each, cut anywhere, flow from their sources over arcs that carry all of it in those rounds (a concurrent flow). The
 * first column is the number of rounds; the objective is less that.
 */
function relaxedProgram({ npuCount, arcs, loads, items }: SyncProblem): MilpProblem {
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

/** How many steps, at most how many rounds in all, and a number of rounds that is known to be needed. */
interface Budget {
  readonly steps: number;
  readonly mostRounds: number;
  readonly leastRounds: number;
}

/** A program and what its columns are. */
interface SyncProgram {
  readonly milp: MilpProblem;
  /** Returns what is sent, of a solution [columns]. */
  flowsOf(primal: Float64Array): Flow[];
}

/** Returns about how large the program is, without building it. O(items x arcs). */
function programSize({ npuCount, arcs, items }: SyncProblem, windows: readonly Window[], steps: number): MilpSize {
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
function syncProgram(problem: SyncProblem, windows: readonly Window[], budget: Budget): SyncProgram {
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
