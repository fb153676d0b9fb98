import { random } from "../../base/random.ts";
import { refuseStopped, turn } from "../../base/stopping.ts";
import type { MilpRunner, MilpSize, MilpSolution } from "../../engine/contract/programs.ts";
import { stateOn } from "../../model/tensor-plan/patterns.ts";
import { type PlanChoice, type PlanProblem, planTotals, type Uses } from "../../model/tensor-plan/problem.ts";
import { USUAL_SOLVE_MS } from "../deadline.ts";
import { type Ascent, ascend } from "./ascent.ts";
import { type Costs, costsUnder } from "./covers.ts";
import { type Effort, effortOf } from "./effort.ts";
import { localMoves, planAt, type Score, type Standing, standingAt, wander } from "./local.ts";
import { type Known, type Pool, planPool } from "./pool.ts";
import { type PlanProgram, planProgram, planProgramSize } from "./program.ts";
import { type PlanTables, planTables, type Without } from "./tables.ts";

/** How far a search is. */
export interface PlanProgress {
  readonly ms: number;
  /** What the best plan takes; Infinity while there is none. */
  readonly ps: number;
  readonly boundPs: number;
}

export interface PlanSearchOptions {
  readonly milp: MilpRunner;
  /** Plans to begin with; the answer is never worse than one of them that fits. */
  readonly starts?: readonly PlanChoice[];
  /** What may be done for all of it; what can be in a minute without. */
  readonly effort?: Effort;
  /** Plans that take as much or more are of no use: the search ends once there are no others. Infinity without. */
  readonly belowPs?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: PlanProgress) => void;
  /** Of the draws of local search; 0 without. */
  readonly seed?: number;
}

/** A plan that fits, the best that was found. */
export interface FoundPlan extends Known {
  /** "optimal": proved, but for the rounding of doubles. "limit": time ran out, or no plan takes less than was asked for. */
  readonly status: "optimal" | "limit";
  /** No plan that fits takes less. */
  readonly boundPs: number;
  /** By how much the plan may be above the least, as part of it. */
  readonly gap: number;
  /** Runners-up, the best first. */
  readonly alternatives: readonly PlanChoice[];
  /** How it was found, in words. */
  readonly how: string;
}

/** There is no answer. */
export interface NoPlan {
  /** "unmet": no choices meet all demands. "memory": none that do fit. "unknown": it ended before any was found. */
  readonly status: "unmet" | "memory" | "unknown";
  /** Of "memory": what a plan of the least memory uses, [resources]; where time ran out, of the least that was found. */
  readonly least: PlanChoice | null;
  readonly leastTotals: Float64Array | null;
  readonly isLeastProved: boolean;
  readonly how: string;
}

/** Programs of so many columns or fewer are solved at once. */
const SMALL = 1500;
/** Programs of more are solved for parts of a plan only. */
const MOST_COLUMNS = 40_000;
/** Rounds of weights, times the relaxation is begun again with what is left, and part of the effort for it. */
const ROUNDS = 100;
const MOST_RESTARTS = 3;
const RELAXATION_PART = 0.5;
/** Of the rounds one in so many is followed by a descent. */
const DESCENT_EVERY = 8;
const WAVES = 60;
/** Part of the effort left that one part of a plan may take. */
const PART_OF_PLAN = 0.25;
/** What is done at least to find the least memory. */
const LEAST_FOR_MEMORY_MS = 1000;
/** Choices are ruled out where a plan with them takes more than the best one by more than this part: doubles are rounded. */
const SLACK = 1e-9;
/** A gap of less is a proof. */
const PROVED = 1e-7;
/** What less of other times is worth, and what too much memory costs, against the time that counts. */
const OTHERS = 1e-7;
const TOO_MUCH = 10;

/**
 * Returns the fastest plan of a problem that was found, with a bound on all of them; or why there is none. Small problems are an
 * integer program. Of others a relaxation gives a bound, first plans, and rules out choices with which none is better; local
 * search, and programs of parts of a plan (all that differs along one axis), improve the best; then the program of what is left
 * is solved as long as there is effort left. Never worse than a start that fits; every plan is held against the problem. The same
 * for the same seed and effort as long as no clock strikes. Throws CancelledError once the signal aborts.
 */
export async function searchPlan(problem: PlanProblem, options: PlanSearchOptions): Promise<FoundPlan | NoPlan> {
  const { milp, signal, starts = [], effort = effortOf(USUAL_SOLVE_MS), belowPs = Number.POSITIVE_INFINITY } = options;
  refuseStopped(signal);
  const pool = planPool(problem);
  for (const start of starts) pool.add(start);
  const boundPs = leastOfAll(problem);
  const search: Search = { problem, options, effort, belowPs, pool, began: performance.now(), boundPs, how: [] };
  if (isProved(search)) return ended(search);
  const tables = planTables(problem);
  if (tables === null) {
    const how = "no choices meet all demands";
    return { status: "unmet", least: null, leastTotals: null, isLeastProved: false, how };
  }
  const size = planProgramSize(tables);
  let left: PlanTables | null = tables;
  if (size.columns > SMALL) {
    left = await relaxed(search, tables);
    // all of a plan differs along an only axis
    if (left !== null && problem.mesh.axes.length > 1) await solvedInParts(search, left);
  }
  let isNone = false;
  if (left !== null && !isProved(search)) {
    const solution = await solvedWhole(search, left, milp);
    isNone = solution?.status === "infeasible" && aimPs(search) === Number.POSITIVE_INFINITY;
    if (solution?.status === "infeasible") prove(search);
  } else if (left === null) prove(search);
  refuseStopped(signal);
  return isNone ? noneFits(search) : ended(search);
}

/** Returns the best plan of a search that has ended, if there is one. */
function ended(search: Search): FoundPlan | NoPlan {
  const { belowPs, boundPs, pool, how } = search;
  if (boundPs >= belowPs * (1 - PROVED)) how.push("another way is faster than all plans");
  const [best] = pool.list();
  return best === undefined ? { ...NO_LEAST, status: "unknown", how: how.join("; ") } : found(search, best);
}

/** Returns what no plan takes less than, for no chooser uses less of a time than its least choice. O(choices). */
export function leastOfAll({ resources, base, choosers }: PlanProblem): number {
  const sums = Float64Array.from(base);
  const least = new Float64Array(resources.length);
  const own = new Float64Array(resources.length);
  for (const { choices } of choosers) {
    least.fill(Number.POSITIVE_INFINITY);
    for (const { uses } of choices) {
      own.fill(0);
      uses.resources.forEach((r, i) => {
        own[r] += uses.amounts[i];
      });
      for (let r = 0; r < own.length; r++) if (own[r] < least[r]) least[r] = own[r];
    }
    for (let r = 0; r < own.length; r++) sums[r] += least[r];
  }
  return resources.reduce((most, { kind }, r) => (kind === "time" ? Math.max(most, sums[r]) : most), 0);
}

const NO_LEAST = { least: null, leastTotals: null, isLeastProved: false };

interface Search {
  readonly problem: PlanProblem;
  readonly options: PlanSearchOptions;
  readonly effort: Effort;
  readonly belowPs: number;
  readonly pool: Pool;
  readonly began: number;
  boundPs: number;
  readonly how: string[];
}

const bestPs = ({ pool }: Search): number => pool.list()[0]?.ps ?? Number.POSITIVE_INFINITY;
/** What a plan has to take less than to be of use. */
const aimPs = (search: Search): number => Math.min(bestPs(search), search.belowPs);
const isProved = (search: Search): boolean => search.boundPs >= aimPs(search) * (1 - PROVED);
const isOver = ({ effort, options }: Search): boolean => effort.isOver() || options.signal?.aborted === true;

/** Notes that nothing takes less than what is aimed at, if anything is. */
function prove(search: Search): void {
  const ps = aimPs(search);
  if (Number.isFinite(ps)) search.boundPs = Math.max(search.boundPs, ps);
}

function tell(search: Search): void {
  search.options.onProgress?.({ ms: performance.now() - search.began, ps: bestPs(search), boundPs: search.boundPs });
}

function found(search: Search, best: Known): FoundPlan {
  const boundPs = Math.min(search.boundPs, best.ps);
  const gap = best.ps > 0 ? (best.ps - boundPs) / best.ps : 0;
  const alternatives = search.pool
    .list()
    .slice(1)
    .map(({ plan }) => plan);
  return {
    ...best,
    status: gap <= PROVED ? "optimal" : "limit",
    boundPs,
    gap,
    alternatives,
    how: search.how.join("; "),
  };
}

/** Returns how good totals are: the greatest time, the others a little, too much memory a lot. */
function scoreIn({ resources }: PlanProblem, unitPs: number): Score {
  return (totals) => {
    let [most, sum, over] = [0, 0, 0];
    resources.forEach(({ kind, limit }, r) => {
      if (kind === "memory") over += Math.max(0, totals[r] - limit) / Math.max(1, limit);
      else {
        most = Math.max(most, totals[r]);
        sum += totals[r];
      }
    });
    return (most + OTHERS * sum) / unitPs + TOO_MUCH * over;
  };
}

/** Returns the standing of a plan whose choices are left, or that of choices that are no worse; null where there is none. */
function standingOf(tables: PlanTables, { choices }: PlanChoice, costs: Costs): Standing | null {
  const isLeft = choices.every((c, v) => tables.allowed[v][c] === 1);
  return isLeft ? standingAt(tables, choices, costs) : null;
}

/** Raises the bound and improves plans; returns the tables of what is left, null where nothing better is. */
async function relaxed(search: Search, all: PlanTables): Promise<PlanTables | null> {
  const { problem, pool, options } = search;
  const effort = search.effort.part(RELAXATION_PART);
  const stopped = (ms: number): boolean => {
    effort.spend(ms);
    return effort.isOver() || isOver(search);
  };
  let tables = all;
  let weights: Float64Array | undefined;
  const drawn = random(options.seed ?? 0, 11);
  for (let i = 0; i < MOST_RESTARTS && !stopped(0); i++) {
    await turn(options.signal);
    const unitPs = unitOf(bestPs(search), tables);
    const score = scoreIn(problem, unitPs);
    let round = 0;
    const tried = (choices: Int32Array, costs: Costs): void => {
      const standing = standingAt(tables, choices, costs);
      if (standing === null) return;
      pool.add(planAt(tables, standing));
      if (round++ % DESCENT_EVERY !== 0) return;
      pool.add(planAt(tables, localMoves(tables, costs, score, stopped).descend(standing)));
      tell(search);
    };
    const first = weights === undefined ? {} : { first: weights };
    const ascent: Ascent = ascend(tables, { ...first, unitPs, rounds: ROUNDS, stopped, tried });
    weights = ascent.weights;
    search.boundPs = Math.max(search.boundPs, ascent.bound * unitPs);
    const moves = localMoves(tables, ascent.costs, score, stopped);
    const from =
      pool
        .list()
        .map(({ plan }) => standingOf(tables, plan, ascent.costs))
        .find((one) => one !== null) ?? standingAt(tables, ascent.relaxed.pass(), ascent.costs);
    if (from !== null) {
      pool.add(planAt(tables, wander(tables, moves, score, from, { random: drawn, waves: WAVES, stopped })));
    }
    tell(search);
    if (isProved(search)) break;
    if (!Number.isFinite(aimPs(search))) continue;
    const before = countLeft(tables);
    const left = planTables(problem, ruledOut(tables, ascent, aimPs(search) / unitPs));
    if (left === null) return null;
    const after = countLeft(left);
    tables = left;
    if (after > before * 0.95) break;
  }
  search.how.push(`a relaxation left ${countLeft(tables)} of ${countLeft(all)} choices`);
  return isProved(search) ? null : tables;
}

const countLeft = ({ allowed }: PlanTables): number =>
  allowed.reduce((sum, one) => sum + one.reduce((a, b) => a + b, 0), 0);

/** Returns a time of the size of what a plan takes: the least of all choosers, together. */
function guessedPs({ problem, allowed, uses, resourceCount }: PlanTables): number {
  let sum = 0;
  allowed.forEach((one, v) => {
    let least = Number.POSITIVE_INFINITY;
    one.forEach((is, c) => {
      if (is === 0) return;
      let own = 0;
      problem.resources.forEach(({ kind }, r) => {
        if (kind === "time") own += uses[v][c * resourceCount + r];
      });
      least = Math.min(least, own);
    });
    sum += least;
  });
  return sum > 0 ? sum : 1;
}

/** Returns in what times are counted: in what the best plan takes, else in about as much. */
const unitOf = (ps: number, tables: PlanTables): number => (Number.isFinite(ps) && ps > 0 ? ps : guessedPs(tables));

/** Returns the choices and copies with which no plan takes `most` units or less, and those that were out before. */
function ruledOut(
  { problem, allowed, supplies }: PlanTables,
  { relaxed: by, constant }: Ascent,
  most: number,
): Required<Without> {
  const isOut = (least: number): boolean => least + constant > most * (1 + SLACK);
  const [choice, copy] = [by.withChoice(), by.withCopy()];
  return {
    choices: allowed.map((one, v) => Uint8Array.from(one, (is, c) => (is === 0 || isOut(choice[v][c]) ? 1 : 0))),
    copies: supplies.map((supply, s) => {
      const out = new Uint8Array(problem.supplies[s].copies.length).fill(1);
      supply.copy.forEach((k, i) => {
        if (!isOut(copy[s][i])) out[k] = 0;
      });
      return out;
    }),
  };
}

/** Solves programs of what differs from the best plan along one axis, axis after axis, until none is better. */
async function solvedInParts(search: Search, tables: PlanTables): Promise<void> {
  const { problem, pool, options, effort } = search;
  const { axes } = problem.mesh;
  let since = 0;
  for (let j = 0; since < axes.length && !isOver(search); j = (j + 1) % axes.length) {
    const [best] = pool.list();
    if (best === undefined) return;
    const isSame = (v: number, c: number): boolean => {
      const [mine, other] = [best.plan.choices[v], c].map((choice) => problem.choosers[v].choices[choice]);
      const differs = (a: number, b: number): boolean =>
        axes.some((_, axis) => axis !== j && stateOn(a, axis) !== stateOn(b, axis));
      if (differs(mine.pattern, other.pattern)) return false;
      return other.demands.every(({ supply, pattern }) =>
        mine.demands.every((one) => one.supply !== supply || !differs(one.pattern, pattern)),
      );
    };
    const choices = tables.allowed.map((one, v) => Uint8Array.from(one, (is, c) => (is === 1 && isSame(v, c) ? 0 : 1)));
    const part = planTables(problem, { choices });
    since++;
    if (part === null) continue;
    const size = planProgramSize(part);
    const own = effort.part(PART_OF_PLAN);
    if (size.columns > MOST_COLUMNS || leastMs(size) > own.leftMs()) continue;
    const before = best.ps;
    await solveProgram(search, part, own);
    tell(search);
    await turn(options.signal);
    if (bestPs(search) < before * (1 - PROVED)) since = 0;
  }
  search.how.push("programs along one axis");
}

/** Solves the program of all that is left; null where there is no room or no time. */
async function solvedWhole(search: Search, tables: PlanTables, milp: MilpRunner): Promise<MilpSolution | null> {
  const size = planProgramSize(tables);
  const words = `${size.columns} columns`;
  if (milp.bytesFor(size) > milp.maxBytes || size.columns > 4 * MOST_COLUMNS) {
    search.how.push(`no room for a program of ${words}`);
    return null;
  }
  if (isOver(search)) return null;
  if (leastMs(size) > search.effort.leftMs()) {
    search.how.push(`no time for a program of ${words}`);
    return null;
  }
  const before = aimPs(search);
  const unitPs = unitOf(bestPs(search), tables);
  const solution = await solveProgram(search, tables, search.effort);
  // choices that were ruled out are in no plan better than the best
  if (solution.bound < 0) search.boundPs = Math.max(search.boundPs, Math.min(before, -solution.bound * unitPs));
  search.how.push(`an integer program of about ${words}: ${solution.status}`);
  return solution;
}

/** Milliseconds that a line of a program takes in an iteration of the simplex method, as counted. */
const LINE_MS = 1e-4;
/** Iterations that solve the first relaxation, a row. */
const FIRST_ITERATIONS = 0.6;
const iterationMs = ({ objective, rows }: PlanProgram["problem"]): number =>
  LINE_MS * (objective.length + rows.lower.length);
/** Returns what a program takes at least, as counted: its first relaxation is not left before it is solved. */
const leastMs = ({ columns, rows }: MilpSize): number => FIRST_ITERATIONS * rows * LINE_MS * (columns + rows);

/** Solves a program from the best plan; what it finds is checked and kept, and its bound counts where it is of all that is left. */
async function solveProgram(search: Search, tables: PlanTables, effort: Effort): Promise<MilpSolution> {
  const { pool, options, problem } = search;
  const unitPs = unitOf(bestPs(search), tables);
  const even = costsUnder(
    tables,
    Float64Array.from(problem.resources, ({ kind }) => (kind === "time" ? 1 / unitPs : 0)),
  );
  const start = pool
    .list()
    .map(({ plan }) => standingOf(tables, plan, even))
    .find((one) => one !== null);
  const { problem: program, planOf } = planProgram(tables, unitPs, start ?? null);
  const onProgress = (): void => {
    tell(search);
  };
  const iterationLimit = Math.floor(effort.leftMs() / iterationMs(program));
  const timeLimitMs = Math.max(1, effort.clockMs());
  const solution = await options.milp.solve(program, { timeLimitMs, iterationLimit, onProgress });
  effort.spend((solution.iterations ?? iterationLimit) * iterationMs(program));
  if (solution.primal.length === 0) return solution;
  const { choices, copies } = planOf(solution.primal);
  pool.add(planAt(tables, { choices, copies }));
  const score = scoreIn(problem, unitPs);
  const standing = standingAt(tables, choices, even);
  if (standing !== null) {
    const stopped = (ms: number): boolean => {
      effort.spend(ms);
      return isOver(search);
    };
    pool.add(planAt(tables, localMoves(tables, even, score, stopped).descend(standing)));
  }
  return solution;
}

/** Returns that no plan fits, with one that needs the least memory of all. */
async function noneFits(search: Search): Promise<NoPlan> {
  const { problem, options } = search;
  const { starts: _, onProgress: __, belowPs: ___, ...rest } = options;
  const effort = search.effort.atLeast(LEAST_FOR_MEMORY_MS);
  const answer = await searchPlan(memoryProblem(problem), { ...rest, effort });
  const how = "no plan fits in memory";
  if (!("plan" in answer)) return { ...NO_LEAST, status: "memory", how };
  return {
    status: "memory",
    least: answer.plan,
    leastTotals: planTotals(problem, answer.plan)?.totals ?? null,
    isLeastProved: answer.status === "optimal",
    how,
  };
}

/** Returns the problem whose times are memories, each as part of what there is. */
export function memoryProblem(problem: PlanProblem): PlanProblem {
  const { resources, base, choosers, supplies } = problem;
  const scarce = [...resources.keys()].filter(
    (r) => resources[r].kind === "memory" && resources[r].limit < Number.POSITIVE_INFINITY,
  );
  const unitOf = (r: number): number => (resources[r].limit > 0 ? resources[r].limit : 1);
  const usesOf = ({ resources: used, amounts }: Uses): Uses => {
    const kept = [...used.keys()].filter((i) => scarce.includes(used[i]));
    return {
      resources: kept.map((i) => scarce.indexOf(used[i])),
      amounts: kept.map((i) => amounts[i] / unitOf(used[i])),
    };
  };
  return {
    ...problem,
    resources: scarce.map((r) => ({ name: resources[r].name, kind: "time", limit: Number.POSITIVE_INFINITY })),
    base: Float64Array.from(scarce, (r) => base[r] / unitOf(r)),
    choosers: choosers.map(({ name, choices }) => ({
      name,
      choices: choices.map((choice) => ({ ...choice, uses: usesOf(choice.uses) })),
    })),
    supplies: supplies.map((supply) => ({
      ...supply,
      copies: supply.copies.map((copy) => ({ ...copy, uses: usesOf(copy.uses) })),
    })),
  };
}
