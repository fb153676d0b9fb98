import { random } from "../../base/random.ts";
import { refuseStopped, turn } from "../../base/stopping.ts";
import type { MilpRunner, MilpSolution } from "../../engine/contract/programs.ts";
import { stateOn } from "../../model/tensor-plan/patterns.ts";
import { type PlanChoice, type PlanProblem, planTotals, type Uses } from "../../model/tensor-plan/problem.ts";
import { type Deadline, deadlineIn, USUAL_SOLVE_MS } from "../deadline.ts";
import { type Ascent, ascend } from "./ascent.ts";
import { type Costs, costsUnder } from "./covers.ts";
import { localMoves, planAt, type Score, type Standing, standingAt, wander } from "./local.ts";
import { type Known, type Pool, planPool } from "./pool.ts";
import { planProgram, planProgramSize } from "./program.ts";
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
  /** For all of it; a minute without. */
  readonly timeLimitMs?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: PlanProgress) => void;
  /** Of the draws of local search; 0 without. */
  readonly seed?: number;
}

/** A plan that fits, the best that was found. */
export interface FoundPlan extends Known {
  /** "optimal": proved, but for the rounding of doubles. "limit": time ran out. */
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
  /** "unmet": no choices meet all demands. "memory": none that do fit. "unknown": time ran out before any was found. */
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
/** Rounds of weights, times the relaxation is begun again with what is left, and part of the time for it. */
const ROUNDS = 100;
const MOST_RESTARTS = 3;
const RELAXATION_TIME = 0.5;
/** Of the rounds one in so many is followed by a descent. */
const DESCENT_EVERY = 8;
const WAVES = 60;
/** Part of the time left that one part of a plan may take. */
const PART_TIME = 0.15;
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
 * is solved as long as there is time. Never worse than a start that fits; every plan is held against the problem. The same for
 * the same seed as long as no clock strikes. Throws CancelledError once the signal aborts.
 */
export async function searchPlan(problem: PlanProblem, options: PlanSearchOptions): Promise<FoundPlan | NoPlan> {
  const { milp, signal, starts = [], timeLimitMs = USUAL_SOLVE_MS } = options;
  refuseStopped(signal);
  const deadline = deadlineIn(timeLimitMs);
  const pool = planPool(problem);
  for (const start of starts) pool.add(start);
  const tables = planTables(problem);
  if (tables === null) {
    const how = "no choices meet all demands";
    return { status: "unmet", least: null, leastTotals: null, isLeastProved: false, how };
  }
  const search: Search = { problem, options, deadline, pool, began: performance.now(), boundPs: 0, how: [] };
  const size = planProgramSize(tables);
  let left: PlanTables | null = tables;
  if (size.columns > SMALL) {
    left = await relaxed(search, tables);
    if (left !== null) await solvedInParts(search, left);
  }
  let isNone = false;
  if (left !== null && !isProved(search)) {
    const solution = await solvedWhole(search, left, milp);
    isNone = solution?.status === "infeasible" && pool.list().length === 0;
    if (solution?.status === "infeasible") prove(search);
  } else if (left === null) prove(search);
  refuseStopped(signal);
  const [best] = pool.list();
  if (best !== undefined) return found(search, best);
  return isNone ? noneFits(search) : { ...NO_LEAST, status: "unknown", how: search.how.join("; ") };
}

const NO_LEAST = { least: null, leastTotals: null, isLeastProved: false };

interface Search {
  readonly problem: PlanProblem;
  readonly options: PlanSearchOptions;
  readonly deadline: Deadline;
  readonly pool: Pool;
  readonly began: number;
  boundPs: number;
  readonly how: string[];
}

const bestPs = ({ pool }: Search): number => pool.list()[0]?.ps ?? Number.POSITIVE_INFINITY;
const isProved = (search: Search): boolean => search.boundPs >= bestPs(search) * (1 - PROVED);
const isOver = ({ deadline, options }: Search): boolean => deadline.leftMs() === 0 || options.signal?.aborted === true;

/** Notes that nothing is better than the best plan. */
function prove(search: Search): void {
  if (search.pool.list().length > 0) search.boundPs = Math.max(search.boundPs, bestPs(search));
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
  const deadline = search.deadline.part(RELAXATION_TIME);
  const stopped = (): boolean => deadline.leftMs() === 0 || isOver(search);
  let tables = all;
  let weights: Float64Array | undefined;
  const drawn = random(options.seed ?? 0, 11);
  for (let i = 0; i < MOST_RESTARTS && !stopped(); i++) {
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
    if (!Number.isFinite(bestPs(search))) continue;
    const before = countLeft(tables);
    const left = planTables(problem, ruledOut(tables, ascent, bestPs(search) / unitPs));
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
  const { problem, pool, options, deadline } = search;
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
    if (part === null || planProgramSize(part).columns > MOST_COLUMNS) continue;
    const before = best.ps;
    await solveProgram(search, part, PART_TIME * deadline.leftMs());
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
  const before = bestPs(search);
  const solution = await solveProgram(search, tables, search.deadline.leftMs());
  const unitPs = unitOf(before, tables);
  // choices that were ruled out are in no plan better than the best
  if (solution.bound < 0) search.boundPs = Math.max(search.boundPs, Math.min(before, -solution.bound * unitPs));
  search.how.push(`an integer program of about ${words}: ${solution.status}`);
  return solution;
}

/** Solves a program from the best plan; what it finds is checked and kept, and its bound counts where it is of all that is left. */
async function solveProgram(search: Search, tables: PlanTables, timeLimitMs: number): Promise<MilpSolution> {
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
  const solution = await options.milp.solve(program, { timeLimitMs: Math.max(1, timeLimitMs), onProgress });
  if (solution.primal.length === 0) return solution;
  const { choices, copies } = planOf(solution.primal);
  pool.add(planAt(tables, { choices, copies }));
  const score = scoreIn(problem, unitPs);
  const standing = standingAt(tables, choices, even);
  if (standing !== null) {
    pool.add(planAt(tables, localMoves(tables, even, score, () => isOver(search)).descend(standing)));
  }
  return solution;
}

/** Returns that no plan fits, with one that needs the least memory of all. */
async function noneFits(search: Search): Promise<NoPlan> {
  const { problem, options, deadline } = search;
  const { starts: _, onProgress: __, ...rest } = options;
  const answer = await searchPlan(memoryProblem(problem), { ...rest, timeLimitMs: Math.max(1000, deadline.leftMs()) });
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
