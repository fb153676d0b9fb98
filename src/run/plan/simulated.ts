import { refuseStopped } from "../../base/stopping.ts";
import { type PlanMemory, planMemory } from "../../model/tensor-plan/lifetimes.ts";
import { pipelineTasks } from "../../model/tensor-plan/pipeline-tasks.ts";
import type { TensorPlan } from "../../model/tensor-plan/plan.ts";
import { type PlanChoice, planTotals } from "../../model/tensor-plan/problem.ts";
import { planOf, type StatedProblem } from "../../model/tensor-plan/problem-of.ts";
import { planSteps } from "../../model/tensor-plan/steps.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { HandPlan } from "../../synthesize/plan/by-dimensions.ts";
import { planKey } from "../../synthesize/plan/pool.ts";
import { pipelinePs } from "../../synthesize/plan/stage-cuts.ts";
import type { CostOf } from "../training/costs.ts";
import { simulateTraining } from "../training/train.ts";
import type { MoveAsked } from "./move-costs.ts";
import type { PlannedStage, PlannedStep, SearchedSplit, SearchedWay, Way } from "./ways.ts";

/** Plans that were found so near each other in count that only a simulation tells which is faster. */

/** Runners-up that are simulated whatever collectives they take; others where all of theirs are scheduled. */
export const MOST_OTHERS = 3;
/** Hand-made plans that are simulated. */
const MOST_HANDS = 8;
/** The count takes what follows updates as one after the other, so that a plan may take less than it counts, if not by this factor. */
const COUNTED_OVER = 1.3;

/** A plan that was simulated, and the way of splitting that it is of. */
export interface SimulatedStep {
  readonly step: PlannedStep;
  readonly from: SearchedSplit;
  /** [stages] */
  readonly choices: readonly PlanChoice[];
}

/** A plan of a way of splitting: a choice for each stage. */
interface Candidate {
  readonly from: SearchedSplit;
  readonly choices: readonly PlanChoice[];
  readonly hand: HandPlan | null;
  /** By the search's count. */
  readonly countedPs: number;
}

/** What simulating needs besides plans. */
export interface Simulating {
  readonly topology: Topology;
  readonly costOf: CostOf;
  readonly memoryBytes: number;
  /** Returns the collectives of a plan. */
  readonly movesOf: (plan: TensorPlan) => readonly MoveAsked[];
  readonly signal?: AbortSignal | undefined;
}

/** Returns the memory of a choice by the lifetimes of its values. */
export function memoryOfChoice({ graph, terms }: Way, stated: StatedProblem, choice: PlanChoice): PlanMemory {
  const plan = planOf(graph, stated, choice);
  return planMemory(plan, planSteps(plan), terms);
}

/** Returns the plans that were found of ways of splitting and fit, simulated. */
export async function foundSteps(searched: readonly SearchedSplit[], by: Simulating): Promise<SimulatedStep[]> {
  const steps: SimulatedStep[] = [];
  for (const from of searched) {
    for (const candidate of foundOf(from, by)) steps.push(await simulated(candidate, by));
  }
  return steps;
}

/**
 * Returns hand-made plans that fit, simulated, of all ways of splitting: those that count least first, until none that is left
 * may take less than the fastest of them, or `fasterThanPs`.
 */
export async function handSteps(
  splits: readonly SearchedSplit[],
  by: Simulating,
  fasterThanPs = Number.POSITIVE_INFINITY,
): Promise<SimulatedStep[]> {
  const candidates = splits.flatMap(handsOf).sort((a, b) => a.countedPs - b.countedPs);
  const steps: SimulatedStep[] = [];
  const known = new Set<string>();
  let fastest = fasterThanPs;
  for (const candidate of candidates) {
    if (candidate.countedPs >= COUNTED_OVER * fastest || steps.length === MOST_HANDS) break;
    const key = `${splits.indexOf(candidate.from)} ${candidate.choices.map(planKey).join(" ")}`;
    if (known.has(key) || !isWithin(candidate, by)) continue;
    known.add(key);
    const one = await simulated(candidate, by);
    fastest = Math.min(fastest, one.step.ps);
    steps.push(one);
  }
  return steps;
}

/** Returns whether every stage fits by lifetimes. */
const isWithin = ({ from, choices }: Candidate, { memoryBytes }: Simulating): boolean =>
  from.stages.every(({ way, stated }, s) => memoryOfChoice(way, stated, choices[s] as PlanChoice).total <= memoryBytes);

/** Returns the plans that were found of a way of splitting and fit: of stages the best of each. */
function foundOf(from: SearchedSplit, by: Simulating): Candidate[] {
  const { stages } = from;
  const found = stages.map(({ result }) => ("plan" in result ? [result.plan, ...result.alternatives] : []));
  if (stages.length > 1) {
    const best = stages.map((stage, s) => {
      const one = (choice: PlanChoice): Candidate => candidateOf({ ...from, stages: [stage] }, [choice], null);
      const own = [...(found[s] as readonly PlanChoice[]), ...stage.hands.map(({ choice }) => choice)];
      return own.find((choice) => isWithin(one(choice), by));
    });
    return best.every((choice) => choice !== undefined) ? [candidateOf(from, best, null)] : [];
  }
  const [{ way, stated }] = stages as [SearchedWay];
  return (found[0] as readonly PlanChoice[])
    .filter((choice, i) => i <= MOST_OTHERS || way.costs.areMade(by.movesOf(planOf(way.graph, stated, choice))))
    .map((choice) => candidateOf(from, [choice], null))
    .filter((candidate) => isWithin(candidate, by));
}

/** Returns the hand-made plans of a way of splitting: of stages the one by which they were cut. */
function handsOf(from: SearchedSplit): Candidate[] {
  const { stages, staged, hand } = from;
  if (stages.length === 0) return [];
  if (staged === null) {
    const [{ hands }] = stages as [SearchedWay];
    return hands.filter(({ fits }) => fits).map((one) => candidateOf(from, [one.choice], one.hand));
  }
  const key = JSON.stringify(hand);
  const choices = stages.map(({ hands }) => hands.find((one) => JSON.stringify(one.hand) === key)?.choice);
  return choices.every((choice) => choice !== undefined) ? [candidateOf(from, choices, hand)] : [];
}

/** Returns choices of stages with what they count. */
function candidateOf(from: SearchedSplit, choices: readonly PlanChoice[], hand: HandPlan | null): Candidate {
  const counted = from.stages.map(
    ({ stated }, s) => planTotals(stated.problem, choices[s] as PlanChoice)?.ps ?? Number.NaN,
  );
  const { microBatches } = (from.stages[0] as SearchedWay).way.terms;
  return { from, choices, hand, countedPs: pipelinePs(counted, microBatches) };
}

/** Returns a candidate as a plan that was simulated. */
async function simulated({ from, choices, hand, countedPs }: Candidate, by: Simulating): Promise<SimulatedStep> {
  const { stages: ways, staged } = from;
  const stages = ways.map(({ way: { graph, terms }, stated }, s): PlannedStage => {
    const choice = choices[s] as PlanChoice;
    const plan = planOf(graph, stated, choice);
    const steps = planSteps(plan);
    const own = planTotals(stated.problem, choice)?.ps ?? Number.NaN;
    return { plan, steps, terms, memory: planMemory(plan, steps, terms), countedPs: own };
  });
  const { timeOf, terms } = (ways[0] as SearchedWay).way;
  const placed = pipelineTasks({ stages, staged }, terms.microBatches);
  const step = await simulateTraining(by.topology, placed, { costOf: by.costOf, computationPs: timeOf });
  refuseStopped(by.signal);
  return { from, choices, step: { stages, staged, ps: step.times.ps, countedPs, hand, placed, simulated: step } };
}
