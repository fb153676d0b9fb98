import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { refuseStopped } from "../../base/stopping.ts";
import type { Engine } from "../../engine/types.ts";
import type { GraphNode, TensorGraph } from "../../model/tensor-graph/graph.ts";
import { coarserMeshes, fineAxes, finerChoice } from "../../model/tensor-plan/coarser.ts";
import { type PlanMemory, planMemory } from "../../model/tensor-plan/lifetimes.ts";
import type { Mesh } from "../../model/tensor-plan/mesh.ts";
import type { TensorPlan } from "../../model/tensor-plan/plan.ts";
import { type PlanChoice, planTotals } from "../../model/tensor-plan/problem.ts";
import {
  memoryOf,
  type PlanTerms,
  planOf,
  planProblem,
  type StatedProblem,
} from "../../model/tensor-plan/problem-of.ts";
import { type PlanSteps, planSteps } from "../../model/tensor-plan/steps.ts";
import { planTasks } from "../../model/tensor-plan/tasks.ts";
import { tensorBytes } from "../../model/tensor-plan/work.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { Accelerator, Precision } from "../../model/workload/accelerators.ts";
import type { Computation } from "../../model/workload/layer-work.ts";
import type { PlacedTasks } from "../../model/workload/placed-tasks.ts";
import { computationPs } from "../../model/workload/roofline.ts";
import { roundedSize } from "../../report/amounts.ts";
import { type HandPlan, type MadeByHand, plansByHand } from "../../synthesize/plan/by-dimensions.ts";
import { type FoundPlan, type NoPlan, searchPlan } from "../../synthesize/plan/solve.ts";
import { milpRunner } from "../threads/milp-runner.ts";
import { type CostOf, communicationCosts, leastCosts } from "../training/costs.ts";
import { simulateTraining, type TrainedStep } from "../training/train.ts";
import { type MoveAsked, type MoveCosts, moveCosts } from "./move-costs.ts";

/** What is to be planned. */
export interface PlanRequest {
  /** Returns the graph, gradients included, of so many samples: those of a micro batch, over all NPUs. */
  readonly graphOf: (samples: number) => TensorGraph;
  /** Samples of a step, and into how many passes it may be cut, divisors of them. */
  readonly batch: number;
  readonly passes: readonly number[];
  readonly meshes: readonly Mesh[];
  readonly accelerator: Accelerator;
  readonly precision: Precision;
  readonly memoryBytes: number;
  readonly optimizerBytes: number;
  readonly gradientBytes: number;
  /** Who makes the collectives: "library", "best", "ideal", or an algorithm. */
  readonly algorithm: string;
  readonly timeLimitMs: number;
  /** Costs of collectives by which plans are searched; without it those of schedules, with which steps are simulated in any case. */
  readonly costsOf?: (mesh: Mesh) => MoveCosts;
  readonly signal?: AbortSignal;
  readonly onProgress?: (what: string, done: number, total: number) => void;
}

/** A plan with what it takes. */
export interface PlannedStep {
  readonly plan: TensorPlan;
  readonly steps: PlanSteps;
  readonly terms: PlanTerms;
  /** Of the whole step, simulated; picoseconds. */
  readonly ps: number;
  /** By the search's own count: the greatest of its times. */
  readonly countedPs: number;
  readonly memory: PlanMemory;
  /** The hand-made plan that it is; null of one that was found. */
  readonly hand: HandPlan | null;
  readonly placed: PlacedTasks;
  readonly simulated: TrainedStep;
}

/** The best plan and the runners-up. */
export interface Planned {
  readonly best: PlannedStep;
  readonly others: readonly PlannedStep[];
  /** The fastest of the hand-made plans that fit; null where none does. */
  readonly byHand: PlannedStep | null;
  /**
   * Of the search that found the best: by its count no plan takes less on that mesh, in as many passes, that leaves so many bytes
   * of the memory free for what is not counted; and by how much of its count the best may be above that.
   */
  readonly boundPs: number;
  readonly gap: number;
  readonly leftFreeBytes: number;
  readonly how: string;
  /** Meshes and passes that were looked at, and those that were searched. */
  readonly looked: number;
  readonly searched: number;
}

/** So many ways of splitting are searched, the best by their hand-made plans. */
const MOST_SEARCHED = 4;
/** A search has so much time at least, and half of what is left of its way's. */
const LEAST_LIMIT_MS = 1000;
/** Part of the time for each mesh in which two axes of three or more are one. */
const COARSER_TIME = 1 / 6;
/** Runners-up that are simulated. */
const MOST_OTHERS = 3;
const MOST_HAND = 24;

/** Searches are begun again so often, with the costs of the collectives that plans take, and peaks of memory. */
const MOST_ROUNDS = 8;
/** The collectives of so many plans by hand are scheduled at a time. */
const HANDS_MADE = 3;

/** A way of splitting a step: a mesh, and passes. */
interface Way {
  readonly mesh: Mesh;
  readonly graph: TensorGraph;
  readonly terms: PlanTerms;
  readonly costs: MoveCosts;
  readonly timeOf: (computation: Computation) => number;
}

/** A way, stated as a search, and its hand-made plans. */
interface StatedWay {
  readonly way: Way;
  readonly stated: StatedProblem;
  readonly hands: readonly MadeByHand[];
}

/** A way that was searched. */
interface SearchedWay extends StatedWay {
  readonly result: FoundPlan | NoPlan;
  /** Plans of searches before, whose memory by lifetimes may be more than there is. */
  readonly before: readonly PlanChoice[];
}

type Tell = (what: string, done: number, total: number) => void;

/** Returns a way as a search, by the costs of collectives that are known. */
function stateWay(way: Way): StatedWay {
  const { graph, mesh, costs, terms, timeOf } = way;
  const stated = planProblem(graph, mesh, { computationPs: timeOf, movePs: costs.movePs }, terms);
  return { way, stated, hands: plansByHand(graph, stated) };
}

/** Has the collectives of some plans scheduled; returns whether any was not. */
async function makeCosts({ way, stated }: StatedWay, choices: readonly PlanChoice[], tell: Tell): Promise<boolean> {
  const moves = choices.flatMap((choice) => movesOf(planOf(way.graph, stated, choice)));
  return (await way.costs.make(moves, (done, total) => tell("collectives", done, total))) > 0;
}

/** Returns a way whose best plan by hand takes no collectives but such as are scheduled. */
async function settledByHand(first: StatedWay, tell: Tell): Promise<StatedWay> {
  let now = stateWay(first.way);
  while (await makeCosts(now, best(now.hands, HANDS_MADE), tell)) now = stateWay(now.way);
  return now;
}

const best = (hands: readonly MadeByHand[], count: number): readonly PlanChoice[] =>
  hands.slice(0, count).map(({ choice }) => choice);

/** Returns the best plans of meshes in which two axes are one, which take longer to search where there are more: as plans of the way's. */
async function coarserPlans(
  engine: Engine,
  { way, stated }: StatedWay,
  { signal }: PlanRequest,
  timeLimitMs: number,
): Promise<PlanChoice[]> {
  const { graph, mesh, terms, costs, timeOf } = way;
  const plans: PlanChoice[] = [];
  for (const coarser of mesh.axes.length > 2 ? coarserMeshes(mesh) : []) {
    const movePs: MoveCosts["movePs"] = (kind, axes, bytes) => costs.movePs(kind, fineAxes(coarser, axes), bytes);
    const rough = planProblem(graph, coarser.mesh, { computationPs: timeOf, movePs }, terms);
    const found = await searchPlan(rough.problem, {
      milp: milpRunner(engine, signal),
      starts: best(plansByHand(graph, rough), MOST_HAND),
      timeLimitMs: Math.max(LEAST_LIMIT_MS, timeLimitMs),
      ...(signal && { signal }),
    });
    if (!("plan" in found)) continue;
    const finer = finerChoice(coarser, rough, stated, found.plan);
    if (finer !== null) plans.push(finer);
  }
  return plans;
}

/**
 * Returns what is found of a way, searched again while its best plans take collectives that are not scheduled yet, or the best leaves
 * too little memory at a peak that the search does not count. The bound is the greatest of all: before it was of more plans, which
 * took no more.
 */
async function searchWay(
  engine: Engine,
  first: StatedWay,
  request: PlanRequest,
  timeLimitMs: number,
  tell: Tell,
): Promise<SearchedWay> {
  const { signal } = request;
  let now = await settledByHand(first, tell);
  const began = performance.now();
  // collectives are scheduled beside the time for searches
  let makingMs = 0;
  const leftMs = (): number => Math.max(0, timeLimitMs + makingMs - (performance.now() - began));
  let before: readonly PlanChoice[] = await coarserPlans(engine, now, request, COARSER_TIME * timeLimitMs);
  let boundPs = 0;
  for (let round = 1; ; round++) {
    const found = await searchPlan(now.stated.problem, {
      milp: milpRunner(engine, signal),
      starts: [...before, ...best(now.hands, MOST_HAND)],
      timeLimitMs: Math.max(LEAST_LIMIT_MS, leftMs() / 2),
      ...(signal && { signal }),
    });
    if (!("plan" in found)) return { ...now, result: found, before };
    boundPs = Math.max(boundPs, found.boundPs);
    const result = { ...found, boundPs };
    before = [result.plan, ...result.alternatives];
    const { way, stated } = now;
    const searched = performance.now();
    const isNew = await makeCosts(now, [...before.slice(0, 1 + MOST_OTHERS), ...best(now.hands, 1)], tell);
    makingMs += performance.now() - searched;
    const { total, at } = memoryOfChoice(way, stated, result.plan);
    const excess = total - request.memoryBytes;
    if (!isNew && excess <= 0) return { ...now, result, before };
    const isLast = round === MOST_ROUNDS || (excess <= 0 && leftMs() === 0);
    const { peaks = [], memoryBytes } = way.terms;
    // what is there at the peak is counted from now on; where it is already, what was not counted is left free
    const terms =
      excess <= 0 ? {} : peaks.includes(at) ? { memoryBytes: memoryBytes - excess } : { peaks: [...peaks, at] };
    if (isLast) return { ...stateWay(way), result, before };
    now = stateWay({ ...way, terms: { ...way.terms, ...terms } });
  }
}

/** Returns the memory of a choice by the lifetimes of its values. */
function memoryOfChoice({ graph, terms }: Way, stated: StatedProblem, choice: PlanChoice): PlanMemory {
  const plan = planOf(graph, stated, choice);
  return planMemory(plan, planSteps(plan), terms);
}

/** Returns the collectives of a plan. */
function movesOf(plan: TensorPlan): MoveAsked[] {
  const { graph } = plan;
  return planSteps(plan).steps.flatMap((step) =>
    step.kind !== "move"
      ? []
      : step.moves.map(({ kind, axes, parts }) => {
          const bytes = tensorBytes(graph, graph.nodes[step.node] as GraphNode) / parts;
          return { kind, axes, bytes };
        }),
  );
}

/**
 * Returns the fastest plan of a step that was found on a network: states of all tensors such that the step is fastest with
 * communication that is scheduled (Zhao 2026, chapter 5). Every mesh and number of passes is a search of its own, begun with the
 * hand-made plans; the best by the search's count are simulated as steps, computations and collectives of our schedules together.
 * Collectives cost what any schedule takes at least until a plan takes them: these are scheduled. Throws InputError where nothing
 * fits, with the least memory that would do.
 */
export async function planStep(engine: Engine, topology: Topology, request: PlanRequest): Promise<Planned> {
  const { accelerator, precision, signal } = request;
  const tell: Tell = (what, done, total) => request.onProgress?.(what, done, total);
  const costOf = communicationCosts(engine, topology, signal).by({ algorithm: request.algorithm, untilNear: true });
  const timeOf = (computation: Computation): number => computationPs(accelerator, precision, computation);
  const { passes } = request;
  const ways: StatedWay[] = [];
  for (const mesh of request.meshes) {
    const costs = request.costsOf?.(mesh) ?? moveCosts(mesh, costOf, leastCosts(topology));
    for (const microBatches of passes) {
      tell("ways of splitting", ways.length, request.meshes.length * passes.length);
      const { memoryBytes, optimizerBytes, gradientBytes } = request;
      const terms = { memoryBytes, microBatches, inFlight: 1, optimizerBytes, gradientBytes };
      const graph = request.graphOf(request.batch / microBatches);
      ways.push(stateWay({ mesh, graph, terms, costs, timeOf }));
      refuseStopped(signal);
    }
  }
  const byHandPs = ({ hands: [first] }: StatedWay): number =>
    first?.fits === true ? first.ps : Number.POSITIVE_INFINITY;
  const searched: SearchedWay[] = [];
  const chosen = [...ways].sort((a, b) => byHandPs(a) - byHandPs(b)).slice(0, MOST_SEARCHED);
  for (const way of chosen) {
    tell("searches", searched.length, chosen.length);
    searched.push(await searchWay(engine, way, request, request.timeLimitMs / chosen.length, tell));
  }
  const steps: { readonly step: PlannedStep; readonly result: FoundPlan; readonly leftFreeBytes: number }[] = [];
  for (const [done, { way, stated, hands, result }] of searched.entries()) {
    if (!("plan" in result)) continue;
    tell("simulations", done, searched.length);
    const isWithin = ({ choice }: { readonly choice: PlanChoice }): boolean =>
      memoryOfChoice(way, stated, choice).total <= request.memoryBytes;
    const hand = hands.find(isWithin);
    const found = [result.plan, ...result.alternatives.slice(0, MOST_OTHERS)].map((choice) => ({ choice, hand: null }));
    for (const one of [...found.filter(isWithin), ...(hand === undefined ? [] : [hand])]) {
      const step = await plannedStep(topology, way, stated, one, costOf);
      steps.push({ step, result, leftFreeBytes: request.memoryBytes - way.terms.memoryBytes });
      refuseStopped(signal);
    }
  }
  steps.sort((a, b) => a.step.ps - b.step.ps);
  const [best] = steps;
  if (best === undefined) throw nothingFits(request, searched);
  return {
    best: best.step,
    others: steps.slice(1).map(({ step }) => step),
    byHand: steps.find(({ step }) => step.hand !== null)?.step ?? null,
    boundPs: best.result.boundPs,
    gap: 1 - best.result.boundPs / best.step.countedPs,
    leftFreeBytes: best.leftFreeBytes,
    how: best.result.how,
    looked: ways.length,
    searched: searched.length,
  };
}

/** Returns a choice as a plan that was simulated. */
async function plannedStep(
  topology: Topology,
  { graph, terms, timeOf }: Way,
  stated: StatedProblem,
  { choice, hand }: { readonly choice: PlanChoice; readonly hand: HandPlan | null },
  costOf: CostOf,
): Promise<PlannedStep> {
  const plan = planOf(graph, stated, choice);
  const steps = planSteps(plan);
  const placed = planTasks(plan, steps, terms, terms.microBatches);
  const simulated = await simulateTraining(topology, placed, { costOf, computationPs: timeOf });
  return {
    plan,
    steps,
    terms,
    ps: simulated.times.ps,
    countedPs: planTotals(stated.problem, choice)?.ps ?? Number.NaN,
    memory: planMemory(plan, steps, terms),
    hand,
    placed,
    simulated,
  };
}

/** Returns the error for a step that fits in no way: the least that was proved, and what is enough for a plan that is known. */
function nothingFits({ memoryBytes }: PlanRequest, searched: readonly SearchedWay[]): InputError {
  let least = Number.POSITIVE_INFINITY;
  let enough = Number.POSITIVE_INFINITY;
  for (const { way, stated, hands, result, before } of searched) {
    if (!("plan" in result) && result.leastTotals !== null && result.isLeastProved) {
      least = Math.min(least, ...result.leastTotals.slice(memoryOf(way.mesh)));
    }
    const own = "plan" in result ? [result.plan] : result.least === null ? [] : [result.least];
    const known = [...own, ...before, ...hands.slice(0, MOST_HAND).map(({ choice }) => choice)];
    for (const choice of known) enough = Math.min(enough, memoryOfChoice(way, stated, choice).total);
  }
  const below = least < enough ? [`at least ${roundedSize(least)} by the search's count`] : [];
  const known = enough < Number.POSITIVE_INFINITY ? [`${roundedSize(enough)} is enough`] : [];
  return new InputError(
    optionName("memory"),
    [...below, ...known].join(", and ") || "more",
    inWords(roundedSize(memoryBytes)),
  ).as("out-of-range");
}
