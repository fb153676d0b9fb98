import type { CallbackEvent, Model } from "highs";
import type { MilpOptions, MilpProblem, MilpSolution, MilpStatus } from "../contract/programs.ts";
import { type Board, isCancelled, postPoint, postProgress, postStarted } from "./board.ts";
import { type Instance, loadInstance, MODEL_STATUS, modelOf, within } from "./instance.ts";
import { bestPoint, roundedPoint, solutionOf } from "./outcome.ts";

/** A mixed-integer program to solve, as it goes to another thread. */
export interface MilpJob {
  readonly problem: MilpProblem;
  readonly options: Omit<MilpOptions, "onProgress">;
}

/** What a job tells while it runs, and what it listens to, on the thread that runs it. */
export interface JobWatch {
  readonly board: Board;
  /** Called beside the board where the job's thread is the caller's. */
  readonly onProgress?: MilpOptions["onProgress"];
}

/** Returns the solution of a job that this thread runs; loads HiGHS first where that has not been done. */
export async function runMilpJob(
  { problem, options }: MilpJob,
  { board, onProgress }: JobWatch,
): Promise<MilpSolution> {
  const instance = await loadInstance();
  postStarted(board);
  const told: MilpOptions["onProgress"] = (progress) => {
    postProgress(board, progress);
    onProgress?.(progress);
  };
  const listening = { stopped: () => isCancelled(board), onPoint: (point: Float64Array) => postPoint(board, point) };
  return solveMilp(instance, problem, { ...options, onProgress: told }, listening);
}

/**
 * Mixed-integer programs on the calling thread: branch and cut by HiGHS with a fixed seed, the same bits for the same program
 * and options wherever it runs, as long as no time limit strikes.
 */

const PROGRESS_MS = 100;
const MOST_NODES = 2 ** 31 - 1;
/** Below HiGHS's own 1e-6, so that points keep their rows once whole columns are rounded. */
const TOLERANCE = 1e-9;
const { empty, optimal, infeasible, unbounded, unboundedOrInfeasible } = MODEL_STATUS;
const { objectiveTarget, objectiveBound, timeLimit, iterationLimit, solutionLimit, interrupted } = MODEL_STATUS;
const SOLVED: readonly number[] = [empty, optimal];
const EITHER: readonly number[] = [unboundedOrInfeasible, unbounded];
const LIMITS: readonly number[] = [objectiveBound, timeLimit, iterationLimit, solutionLimit, interrupted];

type Listener = (event: CallbackEvent) => undefined;

/** What is known while a search runs, kept outside of the solver's memory. */
interface Search {
  point: Float64Array | undefined;
  bound: number;
  nodes: number;
  iterations: number;
  lastToldMs: number;
  /** Made in the solver, to be freed there. */
  readonly models: Model[];
}

interface SolveWatch {
  /** Returns whether to stop (status "limit"); asked many times a second, but not while a large relaxation is solved. */
  readonly stopped?: () => boolean;
  /** Told of every better point, as the solver has it. */
  readonly onPoint?: (point: Float64Array) => void;
}

/**
 * Returns what HiGHS finds for a program. Where time runs out, memory does, or the caller stops it, the best point so far
 * is kept. Every point is held against the program's rows, so that a slip of the solver does not become a solution
 * ("failed").
 */
export function solveMilp(
  instance: Instance,
  problem: MilpProblem,
  options: MilpOptions = {},
  watch: SolveWatch = {},
): MilpSolution {
  const began = performance.now();
  const search: Search = {
    point: undefined,
    bound: Number.POSITIVE_INFINITY,
    nodes: 0,
    iterations: 0,
    lastToldMs: 0,
    models: [],
  };
  const heard = listener(search, options, watch, () => performance.now() - began);
  const found = within(instance, () => searched(instance, problem, options, search, heard)) ?? "memory";
  const point = pointOf(instance, problem, search);
  within(instance, () => {
    for (const model of search.models) model.dispose();
  });
  const bound = found === "optimal" && !hasWhole(problem) ? Number.NEGATIVE_INFINITY : search.bound;
  const { nodes, iterations } = search;
  const solution = solutionOf(problem, { status: found, point, bound, nodes, ms: performance.now() - began });
  return { ...solution, iterations };
}

const hasWhole = ({ integer }: MilpProblem): boolean => integer.includes(1);

function searched(
  instance: Instance,
  problem: MilpProblem,
  options: MilpOptions,
  search: Search,
  heard: Listener,
): MilpStatus {
  const model = opened(instance, problem, search.models);
  if (model === undefined) return "failed";
  setLimits(model, options);
  setStart(model, problem);
  const code = run(instance, model, heard);
  if (code === undefined) return "failed";
  if (code === empty) search.point = new Float64Array(0);
  else if (model.info.get("primal_solution_status") === 2) search.point = model.getSolution().colValue;
  if (hasWhole(problem)) {
    search.bound = numberOf(model.info.get("mip_dual_bound"), search.bound);
    search.nodes = Math.max(0, Number(model.info.get("mip_node_count")));
  }
  search.iterations = Math.max(search.iterations, Number(model.info.get("simplex_iteration_count")));
  if (SOLVED.includes(code)) return "optimal";
  if (code === infeasible) return "infeasible";
  if (code === objectiveTarget) return "enough";
  if (LIMITS.includes(code)) return "limit";
  return EITHER.includes(code) ? eitherOf(instance, model, heard) : "failed";
}

/** Returns "unbounded" where the program has a point at all: HiGHS may not tell. */
function eitherOf(instance: Instance, model: Model, heard: Listener): MilpStatus {
  const columns = model.getDimensions().numCols;
  model.changeColsCost({ kind: "range", from: 0, to: columns - 1 }, new Float64Array(columns));
  const code = run(instance, model, heard);
  if (code !== undefined && SOLVED.includes(code)) return "unbounded";
  if (code === infeasible) return "infeasible";
  return code !== undefined && LIMITS.includes(code) ? "limit" : "failed";
}

/** Returns HiGHS's model of a program; undefined where it does not take the numbers. */
function opened(instance: Instance, problem: MilpProblem, models: Model[]): Model | undefined {
  const { highs } = instance;
  const model = highs.createModel();
  models.push(model);
  const integrality = hasWhole(problem) ? { integrality: Int32Array.from(problem.integer) } : {};
  try {
    if (model.raw.passModel({ ...modelOf(highs, problem), ...integrality }).status < 0) return undefined;
  } catch (error) {
    if (error instanceof highs.errors.HighsValidationError) return undefined;
    throw error;
  }
  model.options.set({
    output_flag: false,
    random_seed: 0,
    mip_rel_gap: 0,
    mip_feasibility_tolerance: TOLERANCE,
    primal_feasibility_tolerance: TOLERANCE,
  });
  return model;
}

function setLimits(model: Model, { timeLimitMs, nodeLimit = MOST_NODES, absoluteGap = 0, enough }: MilpOptions): void {
  model.options.set("mip_abs_gap", Math.max(0, absoluteGap));
  if (timeLimitMs !== undefined) model.options.set("time_limit", Math.max(0, timeLimitMs / 1000));
  const nodes = Math.min(MOST_NODES, Math.max(0, Math.floor(nodeLimit)));
  if (nodes < MOST_NODES) model.options.set("mip_max_nodes", nodes);
  // for a maximization HiGHS stops at the first objective that is at least the target
  if (enough !== undefined && Number.isFinite(enough)) model.options.set("objective_target", enough);
}

/** A point with gaps is completed by HiGHS, which solves the program with the known whole columns fixed. */
function setStart(model: Model, { start }: MilpProblem): void {
  if (start === undefined) return;
  const known = [...start.keys()].filter((j) => !Number.isNaN(start[j]));
  if (known.length === 0) return;
  if (known.length === start.length) model.raw.setSolution({ colValue: start });
  else model.raw.setSparseSolution({ indices: known, values: known.map((j) => start[j] as number) });
}

/** Runs the solver and returns the model's status; undefined where HiGHS reports an error. */
function run({ highs }: Instance, { raw }: Model, heard: Listener): number | undefined {
  const { simplexInterrupt, ipmInterrupt, mipImprovingSolution, mipInterrupt } = highs.constants.callbackType;
  raw.setCallback(heard);
  for (const type of [simplexInterrupt, ipmInterrupt, mipImprovingSolution, mipInterrupt]) raw.startCallback(type);
  return raw.run().status < 0 ? undefined : raw.getModelStatus();
}

/** Returns what HiGHS calls while it works: notes what is found, tells progress, and stops where it should. */
function listener(
  search: Search,
  { timeLimitMs = Number.POSITIVE_INFINITY, iterationLimit = Number.POSITIVE_INFINITY, onProgress }: MilpOptions,
  { stopped, onPoint }: SolveWatch,
  elapsed: () => number,
): Listener {
  return (event) => {
    const { data } = event;
    if (data.mip_solution !== undefined) {
      search.point = data.mip_solution;
      onPoint?.(data.mip_solution);
    }
    if (!("interrupt" in event)) return;
    search.bound = numberOf(data.mip_dual_bound, search.bound);
    search.nodes = Math.max(search.nodes, Number(data.mip_node_count ?? 0));
    search.iterations = Math.max(search.iterations, Number(data.mip_total_lp_iterations ?? 0));
    const ms = elapsed();
    if (onProgress !== undefined && ms - search.lastToldMs >= PROGRESS_MS) {
      search.lastToldMs = ms;
      const objective = numberOf(data.mip_primal_bound, Number.NaN);
      onProgress({ ms, nodes: search.nodes, objective, bound: search.bound });
    }
    if (stopped?.() === true || ms > timeLimitMs || search.iterations > iterationLimit) event.interrupt();
  };
}

/** HiGHS says infinity of either sign where it knows nothing. */
const numberOf = (value: unknown, otherwise: number): number => {
  const known = Number(value ?? Number.NaN);
  return Number.isFinite(known) ? known : otherwise;
};

/** Returns the best point known; where the solver's is none once rounded, the best one with the same whole columns takes its place. */
function pointOf(instance: Instance, problem: MilpProblem, { point, models }: Search): Float64Array | undefined {
  const best = bestPoint(problem, [point, problem.start]);
  if (point === undefined || bestPoint(problem, [point]) !== undefined) return best;
  return bestPoint(problem, [polished(instance, problem, point, models), best]);
}

/** Returns the best point with the same whole columns as a point that is one but for rounding. */
function polished(
  instance: Instance,
  problem: MilpProblem,
  point: Float64Array,
  models: Model[],
): Float64Array | undefined {
  const rounded = roundedPoint(problem, point);
  const fixed = (bounds: Float64Array): Float64Array =>
    bounds.map((bound, j) => (problem.integer[j] === 1 ? (rounded[j] as number) : bound));
  const integer = new Uint8Array(problem.integer.length);
  const program = { ...problem, lower: fixed(problem.lower), upper: fixed(problem.upper), integer };
  return within(instance, () => {
    const model = opened(instance, program, models);
    return model !== undefined && run(instance, model, () => undefined) === optimal
      ? model.getSolution().colValue
      : undefined;
  });
}
