import { InfeasibleError } from "../../base/errors.ts";
import type { MilpRunner } from "../../engine/contract/milp.ts";
import type { Deadline } from "../deadline.ts";
import { type SolverStage, skippedStage, solvedStage } from "../solver-facts.ts";
import { leastRounds } from "./bounds.ts";
import { greedyPlan, roundsFor, roundsIn, type SyncPlan } from "./greedy.ts";
import type { SyncProblem } from "./problem.ts";
import { type Budget, programSize, syncProgram } from "./program.ts";
import { relaxedProgram } from "./relaxed.ts";
import { unfolded } from "./sends.ts";
import { type Folded, fold, freeMaps } from "./symmetry.ts";
import { hopsOf, leastSteps, windowsOf } from "./windows.ts";

/** A plan, with what is known of its steps. */
export interface SyncPoint extends SyncPlan {
  readonly steps: number;
  /** No plan of so many steps has fewer rounds. */
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
  /** Returns whether more steps, with at best so many rounds, are worth a try. */
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

  /** Returns a plan of so many steps with fewer rounds than `best`, not fewer than `floor`. */
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
