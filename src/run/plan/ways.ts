import type { DimensionUses } from "../../model/tensor-graph/dimension-uses.ts";
import type { TensorGraph } from "../../model/tensor-graph/graph.ts";
import type { StagedGraph } from "../../model/tensor-graph/stages.ts";
import type { PlanMemory } from "../../model/tensor-plan/lifetimes.ts";
import type { Mesh } from "../../model/tensor-plan/mesh.ts";
import type { StagePlan } from "../../model/tensor-plan/pipeline.ts";
import type { PlanChoice } from "../../model/tensor-plan/problem.ts";
import type { PlanCosts, PlanTerms, StatedProblem } from "../../model/tensor-plan/problem-of.ts";
import type { Computation } from "../../model/workload/layer-work.ts";
import type { PlacedTasks } from "../../model/workload/placed-tasks.ts";
import type { HandPlan, MadeByHand } from "../../synthesize/plan/by-dimensions.ts";
import type { FoundPlan, NoPlan } from "../../synthesize/plan/solve.ts";
import type { TrainedStep } from "../training/train.ts";
import type { MoveCosts } from "./move-costs.ts";
import type { PipelineShape } from "./pipeline.ts";

/** Ways of splitting a step, as they are searched, and what plans of them take. */

/** A stage of a plan with what it takes. */
export interface PlannedStage extends StagePlan {
  readonly memory: PlanMemory;
  /** By the search's own count, for all passes: the greatest of its times. */
  readonly countedPs: number;
}

/** A plan with what it takes. */
export interface PlannedStep {
  /** One or more. */
  readonly stages: readonly PlannedStage[];
  readonly staged: StagedGraph | null;
  /** Of the whole step, simulated; picoseconds. */
  readonly ps: number;
  /** By the search's own count: the greatest of its times; of stages, the first pass through all, then the slowest's. */
  readonly countedPs: number;
  /** The hand-made plan that it is; null of one that was found. */
  readonly hand: HandPlan | null;
  readonly placed: PlacedTasks;
  readonly simulated: TrainedStep;
}

/** A graph on a mesh, in passes: of a step, or of a stage. */
export interface Way {
  readonly mesh: Mesh;
  readonly graph: TensorGraph;
  readonly terms: PlanTerms;
  readonly costs: MoveCosts;
  readonly timeOf: (computation: Computation) => number;
  /** Of a stage. */
  readonly receivePs?: PlanCosts["receivePs"];
  readonly uses?: DimensionUses;
}

/** A way of splitting a step: one way, or stages with one each. */
export interface Split {
  readonly shape: PipelineShape;
  readonly passes: number;
  /** What its best hand-made plan takes; Infinity where none fits. */
  readonly byHandPs: number;
  readonly hand: HandPlan | null;
  readonly staged: StagedGraph | null;
  /** Without streamed products. */
  readonly stages: () => Promise<readonly StatedWay[]>;
  /** Of one cut by what collectives take at least: the same by schedules of the best plans by hand, which take no less. */
  readonly settled?: () => Promise<Split | null>;
}

/** A way, stated as a search, and its hand-made plans. */
export interface StatedWay {
  readonly way: Way;
  /** Schedules that were made of collectives by then. */
  readonly madeCount: number;
  readonly stated: StatedProblem;
  readonly hands: readonly MadeByHand[];
}

/** A way that was searched. */
export interface SearchedWay extends StatedWay {
  readonly result: FoundPlan | NoPlan;
  /** Plans of searches before, whose memory by lifetimes may be more than there is. */
  readonly before: readonly PlanChoice[];
}

/** A way of splitting that was searched. */
export interface SearchedSplit extends Omit<Split, "stages" | "settled"> {
  readonly stages: readonly SearchedWay[];
}
