import { describe, expect, it } from "vitest";
import { draw } from "../../../src/base/random.ts";
import { type DenseTensor, runDense } from "../../../src/execute/tensor-graph/dense.ts";
import { DIRECT_CARRIER, runSharded } from "../../../src/execute/tensor-graph/sharded.ts";
import { withGradients } from "../../../src/model/tensor-graph/backward.ts";
import { elementsOf, type TensorGraph } from "../../../src/model/tensor-graph/graph.ts";
import { mlpGraph } from "../../../src/model/tensor-graph/models/mlp.ts";
import { transformerGraph } from "../../../src/model/tensor-graph/models/transformer.ts";
import { meshOf } from "../../../src/model/tensor-plan/mesh.ts";
import type { MoveKind } from "../../../src/model/tensor-plan/patterns.ts";
import { planTotals } from "../../../src/model/tensor-plan/problem.ts";
import { planOf, planProblem } from "../../../src/model/tensor-plan/problem-of.ts";
import { planSteps } from "../../../src/model/tensor-plan/steps.ts";
import type { Computation } from "../../../src/model/workload/layer-work.ts";
import { randomPlan } from "../../model/tensor-plan/random-plan.ts";
import { COSTS, SMALL_EXPERTS, SMALL_LLAMA, TERMS } from "../../support/small-plans.ts";

const sizes = { batch: 4, sequence: 4, precision: "bf16" } as const;

/** Returns random tensors for the placeholders: ids below the vocabulary, positions in order, all else around 0. */
function given(graph: TensorGraph, seed: number): Map<number, DenseTensor> {
  const tensors = new Map<number, DenseTensor>();
  graph.nodes.forEach((node, i) => {
    if (node.kind !== "placeholder") return;
    const count = elementsOf(graph, node.dims);
    const number = (at: number): number => {
      if (node.name.startsWith("positions")) return at;
      if (node.name.endsWith("ids of tokens") || node.name === "targets") return draw(seed, i, at) % 8;
      return draw(seed, i, at) / 2 ** 32 - 0.5;
    };
    tensors.set(i, { dims: node.dims, data: Float64Array.from({ length: count }, (_, at) => number(at)) });
  });
  return tensors;
}

const near = (a: ArrayLike<number>, b: ArrayLike<number>): boolean =>
  a.length === b.length &&
  Array.from(a).every((x, i) => Math.abs(x - (b[i] as number)) <= 1e-8 * Math.max(1, Math.abs(x)));

/** Of products that take a tenth as long as their collectives, which hold no start of their own: streams save something. */
const STREAMING = {
  computationPs: ({ flops }: Computation) => flops,
  movePs: (_: MoveKind, __: number, bytes: number) => 10 * bytes,
};

describe("plans run on small tensors", () => {
  it.each([
    ["a perceptron", () => mlpGraph([8, 16, 8, 4], 8), [2, 2], 60, COSTS],
    ["a perceptron", () => mlpGraph([8, 16, 8, 4], 8), [4], 40, COSTS],
    ["a perceptron", () => mlpGraph([8, 16, 8], 8), [2, 2, 2], 30, COSTS],
    ["a transformer", () => transformerGraph(SMALL_LLAMA, sizes), [2, 2], 12, COSTS],
    ["a transformer", () => transformerGraph(SMALL_LLAMA, sizes), [4], 12, COSTS],
    ["an encoder", () => transformerGraph({ ...SMALL_LLAMA, layers: 1, encoderLayers: 1 }, sizes), [4], 5, COSTS],
    ["experts", () => transformerGraph(SMALL_EXPERTS, { ...sizes, sequence: 8 }), [2, 2], 12, COSTS],
    ["a streamed perceptron", () => mlpGraph([16, 32, 16, 8], 16), [2, 2], 40, STREAMING],
    ["a streamed perceptron", () => mlpGraph([32, 32, 32], 32), [2, 2, 2], 30, STREAMING],
    ["a streamed transformer", () => transformerGraph(SMALL_LLAMA, { ...sizes, batch: 8 }), [2, 2], 6, STREAMING],
    ["streamed experts", () => transformerGraph(SMALL_EXPERTS, { ...sizes, sequence: 8 }), [2, 2], 6, STREAMING],
  ] as const)("%s: random states of all tensors change no result", (_, build, shape, count, costs) => {
    const graph = withGradients(build());
    const mesh = meshOf(shape);
    const stated = planProblem(graph, mesh, costs, TERMS);
    const streams = new Set<string>();
    const tensors = given(graph, 1);
    const dense = runDense(graph, tensors);
    const output = graph.nodes[graph.nodes.length - 1];
    const outputs = output?.kind === "output" ? output.operands.map(({ node }) => dense[node]?.data ?? []) : [];
    let tried = 0;
    for (let seed = 0; tried < count && seed < 1000 * count; seed++) {
      const choice = randomPlan(stated.problem, seed);
      if (choice === null) continue;
      tried++;
      expect(planTotals(stated.problem, choice)).not.toBeNull();
      const plan = planOf(graph, stated, choice);
      for (const { rule } of plan.nodes) if (rule?.stream) streams.add(Object.values(rule.stream).join());
      const steps = planSteps(plan);
      const data = new Map([...tensors].map(([i, tensor]) => [i, tensor.data]));
      const sharded = runSharded(plan, steps, data, DIRECT_CARRIER);
      for (const [i, whole] of outputs.entries()) expect(near(sharded.outputs[i] ?? [], whole)).toBe(true);
      for (const [i, { parameter, gradient }] of graph.gradients.entries()) {
        const before = tensors.get(parameter)?.data ?? new Float64Array();
        const off = dense[gradient]?.data ?? [];
        expect(
          near(
            sharded.updated[i] ?? [],
            before.map((value, at) => value - (off[at] as number)),
          ),
        ).toBe(true);
      }
    }
    expect(tried).toBe(count);
    expect(streams.size > 0).toBe(costs === STREAMING);
  });
});
