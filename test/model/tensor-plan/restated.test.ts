import { expect, it } from "vitest";
import { withGradients } from "../../../src/model/tensor-graph/backward.ts";
import { mlpGraph } from "../../../src/model/tensor-graph/models/mlp.ts";
import { restated } from "../../../src/model/tensor-plan/coarser.ts";
import { meshOf } from "../../../src/model/tensor-plan/mesh.ts";
import { planTotals } from "../../../src/model/tensor-plan/problem.ts";
import { type PlanCosts, planOf, planProblem } from "../../../src/model/tensor-plan/problem-of.ts";
import { TERMS } from "../../support/small-plans.ts";
import { randomPlan } from "./random-plan.ts";

const costs = (bytesPs: number): PlanCosts => ({
  computationPs: ({ flops, bytes }) => 30 * flops + bytes,
  movePs: (_, axes, bytes) => bytesPs * bytes * (1 + axes) + 11,
});

it("plans are the same in another statement of their graph, but for pieces; none where a stream is no choice there", () => {
  const graph = withGradients(mlpGraph([16, 32, 16, 8], 16));
  const mesh = meshOf([2, 2]);
  const [from, to] = [40, 8].map((bytesPs) => planProblem(graph, mesh, costs(bytesPs), TERMS));
  if (from === undefined || to === undefined) throw new Error("no statements");
  let [same, none] = [0, 0];
  for (let seed = 0; seed < 400; seed++) {
    const drawn = randomPlan(from.problem, seed);
    if (drawn === null) continue;
    const plan = planOf(graph, from, drawn);
    const there = restated(from, drawn, to);
    const withoutPieces = (one: typeof plan): unknown =>
      one.nodes.map(({ rule, ...node }) => ({ ...node, rule: { ...rule, stream: { ...rule?.stream, pieces: 0 } } }));
    if (there === null) {
      none++;
      expect(plan.nodes.some(({ rule }) => rule?.stream !== undefined)).toBe(true);
      continue;
    }
    same++;
    expect(planTotals(to.problem, there)).not.toBeNull();
    expect(withoutPieces(planOf(graph, to, there))).toEqual(withoutPieces(plan));
    expect(restated(to, there, from)).toEqual(drawn);
  }
  expect(same).toBeGreaterThan(10);
  expect(none).toBeGreaterThan(10);
});
