import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { refuseStopped } from "../../base/stopping.ts";
import type { Engine } from "../../engine/types.ts";
import { formatGigabytes } from "../../model/numbers/units.ts";
import type { TensorGraph } from "../../model/tensor-graph/graph.ts";
import { type PlanMemory, planMemory } from "../../model/tensor-plan/lifetimes.ts";
import type { Mesh } from "../../model/tensor-plan/mesh.ts";
import type { TensorPlan } from "../../model/tensor-plan/plan.ts";
import { type PlanChoice, type PlanProblem, planTotals } from "../../model/tensor-plan/problem.ts";
import {
  memoryOf,
  type PlanTerms,
  planOf,
  planProblem,
  type StatedProblem,
} from "../../model/tensor-plan/problem-of.ts";
import { type PlanSteps, planSteps } from "../../model/tensor-plan/steps.ts";
import { planTasks } from "../../model/tensor-plan/tasks.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { Accelerator, Precision } from "../../model/workload/accelerators.ts";
import type { Computation } from "../../model/workload/layer-work.ts";
import type { PlacedTasks } from "../../model/workload/placed-tasks.ts";
import { computationPs } from "../../model/workload/roofline.ts";
import { type HandPlan, plansByHand } from "../../synthesize/plan/by-dimensions.ts";
import { type FoundPlan, searchPlan } from "../../synthesize/plan/solve.ts";
import { milpRunner } from "../threads/milp-runner.ts";
import { communicationCosts } from "../training/costs.ts";
import { simulateTraining, type TrainedStep } from "../training/train.ts";
import { type MoveCosts, moveCosts } from "./move-costs.ts";

/** What is to be planned. */
export interface PlanRequest {
  /** Returns the graph, gradients included, of so many samples: those of a micro batch, over all NPUs. */
  readonly graphOf: (samples: number) => TensorGraph;
  /** Samples of a step, and into how many passes it may be cut; those that do not divide it are left out. */
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
  readonly signal?: AbortSignal;
  readonly onProgress?: (what: string, done: number, total: number) => void;
}

/** A plan with what it takes. */
export interface PlannedStep {
  readonly plan: TensorPlan;
  readonly steps: PlanSteps;
  readonly mesh: Mesh;
  /** Micro batches. */
  readonly passes: number;
  /** Of the whole step, simulated; picoseconds. */
  readonly ps: number;
  /** By the search's own count: the greatest of its times. */
  readonly countedPs: number;
  readonly memory: PlanMemory;
  /** The hand-made plan that it is; null of one that was found. */
  readonly hand: HandPlan | null;
  readonly placed: PlacedTasks;
  readonly simulated: TrainedStep;
  /** Passes that were simulated: of more, the time of one more pass is added for each. */
  readonly simulatedPasses: number;
}

/** The best plan and the runners-up. */
export interface Planned {
  readonly best: PlannedStep;
  readonly others: readonly PlannedStep[];
  /** The fastest of the hand-made plans that fit; null where none does. */
  readonly byHand: PlannedStep | null;
  /** Of the search that found the best: no plan on that mesh, in as many passes, takes less by its count. */
  readonly boundPs: number;
  readonly gap: number;
  readonly how: string;
  /** Meshes and passes that were looked at, and those that were searched. */
  readonly looked: number;
  readonly searched: number;
}

/** So many ways of splitting are searched, the best by their hand-made plans. */
const MOST_SEARCHED = 4;
/** Runners-up that are simulated. */
const MOST_OTHERS = 5;
const MOST_HAND = 24;
/** Passes are simulated so far; more are alike. */
const MOST_PASSES = 3;

/** A mesh, and passes. */
interface Case {
  readonly mesh: Mesh;
  readonly graph: TensorGraph;
  readonly terms: PlanTerms;
  readonly costs: MoveCosts;
  readonly stated: StatedProblem;
}

/**
 * Returns the fastest plan of a step that was found on a network: states of all tensors such that the step is fastest with
 * communication that is scheduled (Zhao 2026, chapter 5). Every mesh and number of passes is a search of its own, begun with the
 * hand-made plans; the best by the search's count are simulated as steps, computations and collectives of our schedules together.
 * Throws InputError where nothing fits, with the least memory that would do.
 */
export async function planStep(engine: Engine, topology: Topology, request: PlanRequest): Promise<Planned> {
  const { accelerator, precision, signal, onProgress } = request;
  const table = communicationCosts(engine, topology, signal);
  const costOf = table.by({ algorithm: request.algorithm });
  const timeOf = clock((computation) => computationPs(accelerator, precision, computation));
  const cases: { one: Case; hands: ReturnType<typeof plansByHand> }[] = [];
  const ways = request.meshes.flatMap((mesh) =>
    request.passes.filter((passes) => request.batch % passes === 0).map((passes) => ({ mesh, passes })),
  );
  for (const [done, { mesh, passes }] of ways.entries()) {
    onProgress?.("ways of splitting", done, ways.length);
    const graph = request.graphOf(request.batch / passes);
    const terms: PlanTerms = {
      memoryBytes: request.memoryBytes,
      microBatches: passes,
      inFlight: 1,
      optimizerBytes: request.optimizerBytes,
      gradientBytes: request.gradientBytes,
    };
    const costs = moveCosts(mesh, costOf);
    const state = (): StatedProblem => planProblem(graph, mesh, { computationPs: timeOf, movePs: costs.movePs }, terms);
    state();
    await costs.make((made, all) => onProgress?.("collectives", made, all));
    const stated = state();
    cases.push({ one: { mesh, graph, terms, costs, stated }, hands: plansByHand(graph, stated) });
    refuseStopped(signal);
  }
  const psOf = ({ hands }: (typeof cases)[number]): number =>
    hands[0]?.fits === true ? hands[0].ps : Number.POSITIVE_INFINITY;
  const searched = [...cases].sort((a, b) => psOf(a) - psOf(b)).slice(0, MOST_SEARCHED);
  const found: { one: Case; choice: PlanChoice; ps: number; hand: HandPlan | null; search: FoundPlan }[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const [done, { one, hands }] of searched.entries()) {
    onProgress?.("searches", done, searched.length);
    const starts = hands.slice(0, MOST_HAND).map(({ choice }) => choice);
    const result = await searchPlan(one.stated.problem, {
      milp: milpRunner(engine, signal),
      starts,
      timeLimitMs: request.timeLimitMs / searched.length,
      ...(signal && { signal }),
    });
    if (!("plan" in result)) {
      if (result.leastTotals !== null) least = Math.min(least, result.leastTotals[memoryOf(one.mesh)] as number);
      continue;
    }
    for (const choice of [result.plan, ...result.alternatives.slice(0, MOST_OTHERS)]) {
      found.push({ one, choice, ps: result.ps, hand: null, search: result });
    }
    const hand = hands.find(({ fits }) => fits);
    if (hand !== undefined) found.push({ one, choice: hand.choice, ps: hand.ps, hand: hand.hand, search: result });
  }
  if (found.length === 0) throw nothingFits(request, least);
  const steps: { step: PlannedStep; search: FoundPlan }[] = [];
  for (const [done, { one, choice, hand, search }] of found.entries()) {
    onProgress?.("simulations", done, found.length);
    const step = await plannedStep(topology, one, choice, hand, { costOf, timeOf });
    if (step.memory.total <= request.memoryBytes) steps.push({ step, search });
    refuseStopped(signal);
  }
  steps.sort((a, b) => a.step.ps - b.step.ps);
  const [best] = steps;
  if (best === undefined) throw nothingFits(request, least);
  return {
    best: best.step,
    others: steps.slice(1).map(({ step }) => step),
    byHand: steps.find(({ step }) => step.hand !== null)?.step ?? null,
    boundPs: best.search.boundPs,
    gap: best.search.gap,
    how: best.search.how,
    looked: cases.length,
    searched: searched.length,
  };
}

/** Returns a function that works out each computation once. */
function clock(of: (computation: Computation) => number): (computation: Computation) => number {
  const known = new Map<string, number>();
  return (computation) => {
    const { kind, flops, bytes, shape, isInside } = computation;
    const key = `${kind} ${flops} ${bytes} ${shape?.rows} ${shape?.columns} ${shape?.inner} ${isInside}`;
    const ps = known.get(key) ?? of(computation);
    known.set(key, ps);
    return ps;
  };
}

/** Returns a choice as a plan that was simulated. */
async function plannedStep(
  topology: Topology,
  { mesh, graph, terms, stated }: Case,
  choice: PlanChoice,
  hand: HandPlan | null,
  { costOf, timeOf }: { costOf: Parameters<typeof moveCosts>[1]; timeOf: (computation: Computation) => number },
): Promise<PlannedStep> {
  const plan = planOf(graph, stated, choice);
  const steps = planSteps(plan);
  const simulatedPasses = Math.min(terms.microBatches, MOST_PASSES);
  const placed = planTasks(plan, steps, terms, simulatedPasses);
  const options = { costOf, computationPs: timeOf };
  const simulated = await simulateTraining(topology, placed, options);
  let { ps } = simulated.times;
  if (terms.microBatches > simulatedPasses) {
    const shorter = await simulateTraining(topology, planTasks(plan, steps, terms, simulatedPasses - 1), options);
    ps += (ps - shorter.times.ps) * (terms.microBatches - simulatedPasses);
  }
  return {
    plan,
    steps,
    mesh,
    passes: terms.microBatches,
    ps,
    countedPs: countedPs(stated.problem, choice),
    memory: planMemory(plan, steps, terms),
    hand,
    placed,
    simulated,
    simulatedPasses,
  };
}

const countedPs = (problem: PlanProblem, choice: PlanChoice): number => planTotals(problem, choice)?.ps ?? Number.NaN;

const nothingFits = ({ memoryBytes }: PlanRequest, least: number): InputError =>
  new InputError(
    optionName("memory"),
    least === Number.POSITIVE_INFINITY ? "more" : `at least ${formatGigabytes(least)}`,
    inWords(formatGigabytes(memoryBytes)),
  ).as("out-of-range");
