import { expect, it } from "vitest";
import { withGradients } from "../../../src/model/tensor-graph/backward.ts";
import { mlpGraph } from "../../../src/model/tensor-graph/models/mlp.ts";
import { leastComputingPs } from "../../../src/model/tensor-plan/least-computing.ts";
import { meshOf } from "../../../src/model/tensor-plan/mesh.ts";
import { planTotals } from "../../../src/model/tensor-plan/problem.ts";
import { type PlanCosts, planProblem, STEP_TIME } from "../../../src/model/tensor-plan/problem-of.ts";
import { TERMS } from "../../support/small-plans.ts";
import { randomPlan } from "./random-plan.ts";

const costs: PlanCosts = {
  computationPs: ({ flops, bytes }) => Math.max(30 * flops, bytes) + 5,
  movePs: (_, axes, bytes) => 40 * bytes * (1 + axes) + 11,
};

it("no plan computes for less in its passes, and one NPU alone computes for so long but for its updates", () => {
  const graph = withGradients(mlpGraph([16, 32, 16, 8], 16));
  for (const sizes of [[2, 2], [4], [1]]) {
    const mesh = meshOf(sizes);
    const { problem } = planProblem(graph, mesh, costs, TERMS);
    const least = TERMS.microBatches * leastComputingPs(graph, mesh, costs.computationPs);
    let drawn = 0;
    let fastest = Number.POSITIVE_INFINITY;
    for (let seed = 0; seed < 200; seed++) {
      const plan = randomPlan(problem, seed);
      if (plan === null) continue;
      drawn++;
      fastest = Math.min(fastest, planTotals(problem, plan)?.totals[STEP_TIME] ?? Number.NaN);
    }
    expect(drawn).toBeGreaterThan(10);
    expect(fastest).toBeGreaterThanOrEqual(least);
    if (mesh.npuCount === 1) expect(fastest).toBeLessThan(1.5 * least);
  }
});
