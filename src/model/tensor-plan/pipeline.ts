import type { GraphNode } from "../tensor-graph/graph.ts";
import type { StagedGraph } from "../tensor-graph/stages.ts";
import type { TensorPlan } from "./plan.ts";
import type { PlanTerms } from "./problem-of.ts";
import type { PlanStep, PlanSteps } from "./steps.ts";

/** The plan of one stage, and what its NPUs do. Stage s has NPUs s x N to (s + 1) x N - 1 for N NPUs of its mesh. */
export interface StagePlan {
  readonly plan: TensorPlan;
  readonly steps: PlanSteps;
  readonly terms: PlanTerms;
}

/** States of all tensors of a graph that is cut into stages, all on meshes of one shape; one stage is a plan of all NPUs. */
export interface PipelinePlan {
  readonly stages: readonly StagePlan[];
  /** What goes between stages; null of one stage. */
  readonly staged: StagedGraph | null;
}

/** A pass of a plan, and what comes once behind all passes. */
export interface PlanSections {
  readonly forward: readonly PlanStep[];
  readonly backward: readonly PlanStep[];
  readonly update: readonly PlanStep[];
}

/** Returns the steps of a plan by when they are done. O(steps). */
export function sectionsOf({ plan, steps: { steps } }: StagePlan): PlanSections {
  const isForward = (step: PlanStep): boolean =>
    step.kind === "compute" && !step.isAgain && (plan.graph.nodes[step.node] as GraphNode).phase === "forward";
  const middle = steps.findLastIndex(isForward) + 1;
  const update = steps.findIndex(({ kind }) => kind === "update");
  const end = update < 0 ? steps.length : update;
  return { forward: steps.slice(0, middle), backward: steps.slice(middle, end), update: steps.slice(end) };
}

/** Returns the value as which a node's tensor is made, or given. O(steps). */
export function valueOfNode({ steps: { steps, given, values } }: StagePlan, node: number): number {
  const made = steps.find((step) => step.kind === "compute" && !step.isAgain && step.node === node);
  return made?.makes ?? (given.find((value) => values[value]?.node === node) as number);
}
