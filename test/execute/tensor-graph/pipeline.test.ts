import { describe, expect, it } from "vitest";
import { type DenseTensor, runDense } from "../../../src/execute/tensor-graph/dense.ts";
import { runPipeline } from "../../../src/execute/tensor-graph/pipeline.ts";
import { DIRECT_CARRIER } from "../../../src/execute/tensor-graph/sharded.ts";
import { type GraphNode, operandsOf } from "../../../src/model/tensor-graph/graph.ts";
import { mlpGraph } from "../../../src/model/tensor-graph/models/mlp.ts";
import { transformerGraph } from "../../../src/model/tensor-graph/models/transformer.ts";
import { cutParts, stagedGraph } from "../../../src/model/tensor-graph/stages.ts";
import { SMALL_EXPERTS, SMALL_LLAMA, TERMS } from "../../support/small-plans.ts";
import { randomPlans, randomStages, stagedNumbers } from "../../support/staged-plans.ts";

const sizes = { batch: 4, sequence: 4, precision: "bf16" } as const;
const near = (a: ArrayLike<number>, b: ArrayLike<number>): boolean =>
  a.length === b.length && Array.from(a).every((x, i) => Math.abs(x - b[i]) <= 1e-8 * Math.max(1, Math.abs(x)));

describe("pipelines run on small tensors", () => {
  it.each([
    ["a perceptron", mlpGraph([8, 16, 8, 4, 8], 8), false, [2, 2], 2, 20],
    ["a perceptron", mlpGraph([8, 16, 8, 4, 8], 8), false, [4], 4, 20],
    ["a transformer", transformerGraph({ ...SMALL_LLAMA, layers: 3 }, sizes), true, [2, 2], 3, 3],
    ["a tied transformer", transformerGraph({ ...SMALL_LLAMA, layers: 3, tied: true }, sizes), true, [4], 4, 3],
    ["a tied transformer", transformerGraph({ ...SMALL_LLAMA, tied: true }, sizes), true, [2, 2], 2, 3],
    ["experts", transformerGraph(SMALL_EXPERTS, { ...sizes, sequence: 8 }), true, [2], 3, 3],
  ] as const)(
    "%s: stages with random plans, cut at random, make what the whole makes",
    (_, graph, isCut, shape, count, times) => {
      const parts = isCut ? cutParts(graph) : null;
      let tried = 0;
      for (let seed = 0; tried < times && seed < 50 * times; seed++) {
        const stageOf = randomStages(graph, parts, count, seed);
        if (stageOf === null) continue;
        const staged = stagedGraph(graph, stageOf, count);
        const stages = randomPlans(staged, shape, TERMS, seed);
        if (stages === null) continue;
        tried++;
        const { whole, numbers, given } = stagedNumbers(graph, staged);
        const { outputs, updated } = runPipeline({ stages, staged }, given, DIRECT_CARRIER);
        const dense = runDense(
          whole,
          new Map(
            [...numbers].map(([i, data]) => [i, { dims: whole.nodes[i]?.dims ?? [], data } satisfies DenseTensor]),
          ),
        );
        operandsOf(graph.nodes.at(-1) as GraphNode).forEach(({ node }, o) => {
          expect(near(outputs[o] ?? [], dense[node]?.data ?? [])).toBe(true);
        });
        let checked = 0;
        staged.graphs.forEach(({ gradients }, s) => {
          gradients.forEach(({ parameter }, g) => {
            const source = staged.sources[s]?.[parameter];
            const gradient = whole.gradients.find((one) => one.parameter === source)?.gradient as number;
            const off = dense[gradient]?.data ?? [];
            const before = numbers.get(source as number) as Float64Array;
            expect(
              near(
                updated[s]?.[g] ?? [],
                before.map((value, at) => value - (off[at] as number)),
              ),
            ).toBe(true);
            checked++;
          });
        });
        const shared = staged.shared.reduce((all, places) => all + places.length - 1, 0);
        expect(checked).toBe(whole.gradients.length + shared);
      }
      expect(tried).toBe(times);
    },
  );
});
