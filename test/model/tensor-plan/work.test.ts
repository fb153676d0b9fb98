import { describe, expect, it } from "vitest";
import { attentionShare } from "../../../src/model/tensor-graph/attention-kernels.ts";
import { withGradients } from "../../../src/model/tensor-graph/backward.ts";
import type { GraphNode } from "../../../src/model/tensor-graph/graph.ts";
import { transformerGraph } from "../../../src/model/tensor-graph/models/transformer.ts";
import { meshOf } from "../../../src/model/tensor-plan/mesh.ts";
import { planOf, planProblem } from "../../../src/model/tensor-plan/problem-of.ts";
import type { WorkRule } from "../../../src/model/tensor-plan/rules.ts";
import { planSteps } from "../../../src/model/tensor-plan/steps.ts";
import { workOf } from "../../../src/model/tensor-plan/work.ts";
import { acceleratorNamed } from "../../../src/model/workload/accelerators.ts";
import type { Computation } from "../../../src/model/workload/layer-work.ts";
import { computationPs } from "../../../src/model/workload/roofline.ts";
import { transformerStep } from "../../../src/model/workload/transformer.ts";
import { planByHand } from "../../../src/synthesize/plan/by-dimensions.ts";
import { TERMS } from "../../support/small-plans.ts";
import { computationsOf, layersOf, optionsOf, transformerNamed } from "../workload/support.ts";

const h100 = acceleratorNamed("h100");
const psOf = (computation: Computation): number => computationPs(h100, "bf16", computation);

/** What is counted of computations of a kind: picoseconds, and operations. */
type Spent = Record<Computation["kind"], { ps: number; flops: number }>;

function spentOn(computations: readonly Computation[]): Spent {
  const spent: Spent = { matmul: { ps: 0, flops: 0 }, attention: { ps: 0, flops: 0 }, memory: { ps: 0, flops: 0 } };
  for (const computation of computations) {
    spent[computation.kind].ps += psOf(computation);
    spent[computation.kind].flops += computation.flops;
  }
  return spent;
}

/** Returns what one NPU computes in a pass of a graph in which everything is kept that can be. */
function spentOnGraph(name: string, batch: number, sequence: number): Spent {
  const graph = withGradients(transformerGraph(transformerNamed(name), { batch, sequence, precision: "bf16" }));
  const mesh = meshOf([1]);
  const stated = planProblem(graph, mesh, { computationPs: psOf, movePs: () => 0 }, TERMS);
  const choice = planByHand(graph, stated, { uses: ["nothing"], sharing: "none", remaking: "none" });
  if (choice === null) throw new Error("no plan");
  const plan = planOf(graph, stated, choice);
  return spentOn(
    planSteps(plan).steps.flatMap((step) =>
      step.kind === "compute"
        ? [workOf(graph, mesh, graph.nodes[step.node] as GraphNode, plan.nodes[step.node]?.rule as WorkRule)]
        : [],
    ),
  );
}

/** Returns the same of the layers that `train` counts. */
function spentOnLayers(name: string, batch: number, sequence: number): Spent {
  const config = transformerNamed(name);
  const layers = layersOf(transformerStep(config, optionsOf(config, { batch, microBatch: batch, sequence })));
  return spentOn(layers.flatMap(({ forward, backward }) => [...computationsOf(forward), ...computationsOf(backward)]));
}

describe("what a graph's nodes compute", () => {
  it.each([
    ["gpt2-medium", 16, 1024],
    ["llama3-8b", 1, 8192],
    ["llama3-8b", 4, 2048],
    ["gemma2-2b", 1, 8192],
    ["bert-large", 32, 512],
    ["mixtral-8x7b", 1, 4096],
    ["deepseek-v3", 1, 4096],
    ["t5-base", 32, 512],
  ])("of %s on %i sequences of %i is what its layers do", (name, batch, sequence) => {
    const [graph, layers] = [spentOnGraph(name, batch, sequence), spentOnLayers(name, batch, sequence)];
    expect(graph.matmul.flops).toBe(layers.matmul.flops);
    // of gradients three products are as wide as queries and two as values, which layers count as half of each
    const [least, most] = name === "deepseek-v3" ? [1.02, 1.03] : [1, 1];
    expect(graph.attention.flops / layers.attention.flops).toBeGreaterThanOrEqual(least);
    expect(graph.attention.flops / layers.attention.flops).toBeLessThanOrEqual(most);
    // queries, keys and values are one product there, and a kernel of attention one roofline
    const sum = ({ matmul, attention, memory }: Spent): number => matmul.ps + attention.ps + memory.ps;
    expect(sum(graph) / sum(layers)).toBeGreaterThan(1);
    expect(sum(graph) / sum(layers)).toBeLessThan(batch < 16 ? 1.05 : 1.12);
  });

  it("leaves out pairs beyond a window", () => {
    const flops = (window: number | null): number => {
      const config = { ...transformerNamed("gpt2-small"), name: "windowed", layers: 1, window };
      const graph = withGradients(transformerGraph(config, { batch: 1, sequence: 1024, precision: "bf16" }));
      return graph.nodes.reduce((all, node) => {
        const share = attentionShare(graph, node);
        return node.kind === "einsum" && share !== null ? all + share : all;
      }, 0);
    };
    // two forward products, four of gradients
    expect(flops(null)).toBe(6 / 2);
    expect(flops(128)).toBe((6 * (128 * 1024 - 128 ** 2 / 2)) / 1024 ** 2);
  });
});
