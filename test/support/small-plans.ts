import type { TensorGraph } from "../../src/model/tensor-graph/graph.ts";
import type { Mesh } from "../../src/model/tensor-plan/mesh.ts";
import type { PipelinePlan } from "../../src/model/tensor-plan/pipeline.ts";
import type { TensorPlan } from "../../src/model/tensor-plan/plan.ts";
import { type PlanTerms, planOf, planProblem } from "../../src/model/tensor-plan/problem-of.ts";
import { planSteps } from "../../src/model/tensor-plan/steps.ts";
import { LLAMA_LIKE } from "../../src/model/workload/transformer/config.ts";
import { type AxisUse, plansByHand, type Sharing } from "../../src/synthesize/plan/by-dimensions.ts";

/** A transformer of two layers, and the same with experts. */
export const SMALL_LLAMA = {
  ...LLAMA_LIKE,
  name: "small",
  layers: 2,
  hidden: 8,
  heads: 4,
  kvHeads: 4,
  headSize: 4,
  ffn: 8,
  vocabulary: 8,
  sequence: 8,
};
export const SMALL_EXPERTS = {
  ...SMALL_LLAMA,
  experts: {
    count: 4,
    perToken: 2,
    ffn: 8,
    sharedFfn: 0,
    sharedGate: false,
    firstDense: 0,
    every: 1,
    routerBias: false,
  },
};

export const COSTS = { computationPs: () => 1, movePs: () => 1 };
export const TERMS: PlanTerms = {
  memoryBytes: Number.POSITIVE_INFINITY,
  microBatches: 2,
  inFlight: 1,
  optimizerBytes: 12,
  gradientBytes: 2,
};

/** Returns the hand-made plan of these uses of the axes and this sharing that makes nothing again. */
export function handPlan(graph: TensorGraph, mesh: Mesh, uses: readonly AxisUse[], sharing: Sharing): TensorPlan {
  const stated = planProblem(graph, mesh, COSTS, TERMS);
  const made = plansByHand(graph, stated).find(
    ({ hand }) => hand.uses.join() === uses.join() && hand.sharing === sharing && hand.remaking === "none",
  );
  if (made === undefined) throw new Error(`no plan by hand for ${uses.join()}`);
  return planOf(graph, stated, made.choice);
}

/** Returns a plan as one stage of all NPUs. */
export const aloneOf = (plan: TensorPlan, terms: PlanTerms): PipelinePlan => ({
  stages: [{ plan, steps: planSteps(plan), terms }],
  staged: null,
});
