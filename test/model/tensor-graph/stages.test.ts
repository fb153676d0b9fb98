import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { draw } from "../../../src/base/random.ts";
import { type DenseTensor, runDense } from "../../../src/execute/tensor-graph/dense.ts";
import { withGradients } from "../../../src/model/tensor-graph/backward.ts";
import { elementsOf, type GraphNode, operandsOf, type TensorGraph } from "../../../src/model/tensor-graph/graph.ts";
import { mlpGraph } from "../../../src/model/tensor-graph/models/mlp.ts";
import { transformerGraph } from "../../../src/model/tensor-graph/models/transformer.ts";
import { cutParts, stagedGraph } from "../../../src/model/tensor-graph/stages.ts";
import { modelNamed } from "../../../src/model/workload/models.ts";
import { randomTensorGraphs } from "../../support/random-tensor-graphs.ts";
import { SMALL_EXPERTS, SMALL_LLAMA } from "../../support/small-plans.ts";
import { numbersFor } from "../../support/tensor-numbers.ts";

const sizes = { batch: 4, sequence: 4, precision: "bf16" } as const;
const isWork = ({ kind }: GraphNode): boolean => kind !== "placeholder" && kind !== "output";
const near = (a: ArrayLike<number>, b: ArrayLike<number>): boolean =>
  a.length === b.length && Array.from(a).every((x, i) => Math.abs(x - b[i]) <= 1e-8 * Math.max(1, Math.abs(x)));

/** Returns numbers for all placeholders of a graph, by names. */
const given = (graph: TensorGraph): Map<number, DenseTensor> =>
  numbersFor(graph, (name, _, i) => {
    if (name === "positions") return i;
    const number = draw(7, name.length * 131 + name.charCodeAt(name.length - 1), i);
    return name === "ids of tokens" || name === "targets" ? number % 8 : number / 2 ** 32 - 0.5;
  });

/** Holds the stages, run one behind the other, against the whole graph; returns how many tensors crossed. */
function expectSame(forward: TensorGraph, stageOf: Int32Array, count: number): number {
  const whole = withGradients(forward);
  const numbers = given(whole);
  const dense = runDense(whole, numbers);
  const staged = stagedGraph(forward, stageOf, count);
  const inputs = staged.graphs.map((graph, s) => {
    const all = new Map<number, DenseTensor>();
    graph.nodes.forEach((node, i) => {
      if (node.kind !== "placeholder") return;
      const source = staged.sources[s]?.[i] as number;
      const same = whole.nodes.findIndex(({ kind, name }) => kind === "placeholder" && name === node.name);
      const own = source >= 0 ? numbers.get(source) : numbers.get(same);
      all.set(i, own ?? { dims: node.dims, data: new Float64Array(elementsOf(graph, node.dims)) });
    });
    return all;
  });
  let tensors: readonly (readonly (DenseTensor | null)[])[] = [];
  const forwards = staged.graphs.map((_, s) => s);
  // tangents come from behind
  for (const s of [...forwards, ...forwards.toReversed()]) {
    for (const { from, to } of staged.crossings) {
      if (to.stage !== s) continue;
      const there = tensors[from.stage]?.[from.node];
      if (there) inputs[s]?.set(to.node, there);
    }
    const made = runDense(staged.graphs[s] as TensorGraph, inputs[s] as Map<number, DenseTensor>);
    tensors = forwards.map((t) => (t === s ? made : (tensors[t] ?? [])));
  }
  operandsOf(whole.nodes.at(-1) as GraphNode)
    .slice(0, staged.outputs.length)
    .forEach(({ node }, o) => {
      const { stage, node: at } = staged.outputs[o] as { stage: number; node: number };
      expect(near(tensors[stage]?.[at]?.data ?? [], dense[node]?.data ?? [])).toBe(true);
    });
  for (const { parameter, gradient } of whole.gradients) {
    const parts = staged.graphs.flatMap((graph, s) =>
      graph.gradients
        .filter((one) => staged.sources[s]?.[one.parameter] === parameter)
        .map((one) => tensors[s]?.[one.gradient]?.data ?? new Float64Array()),
    );
    const sum = dense[gradient]?.data.map((_, i) => parts.reduce((all, part) => all + (part[i] ?? Number.NaN), 0));
    expect(near(sum ?? [], dense[gradient]?.data ?? []), forward.nodes[parameter]?.name).toBe(true);
    const places = staged.shared.filter((all) =>
      all.some(({ stage, node }) => staged.sources[stage]?.[node] === parameter),
    );
    expect(places.flat().length).toBe(parts.length > 1 ? parts.length : 0);
  }
  return staged.crossings.length;
}

describe("graphs cut into stages", () => {
  it("random graphs cut anywhere make what the whole makes, gradients of what crosses included", () => {
    let crossed = 0;
    fc.assert(
      fc.property(randomTensorGraphs, fc.array(fc.nat(1), { minLength: 8, maxLength: 8 }), (graph, steps) => {
        let [stage, count] = [0, 1];
        const stageOf = Int32Array.from(graph.nodes, (node, i) => {
          if (isWork(node) && steps[i % 8] === 0 && i > 4) {
            stage++;
            count++;
          }
          return stage;
        });
        let isRefused = false;
        try {
          withGradients(graph);
          stagedGraph(graph, stageOf, count);
        } catch (error) {
          // gradients that no graph has, a parameter that one stage only chooses with
          isRefused = /gradient/.test(String(error));
          expect(isRefused, String(error)).toBe(true);
        }
        if (!isRefused) crossed += expectSame(graph, stageOf, count);
      }),
      { numRuns: 200 },
    );
    expect(crossed).toBeGreaterThan(50);
  });

  it.each([
    ["a transformer", transformerGraph(SMALL_LLAMA, sizes)],
    ["a tied one", transformerGraph({ ...SMALL_LLAMA, layers: 3, tied: true }, sizes)],
    ["experts", transformerGraph(SMALL_EXPERTS, sizes)],
  ])("%s: cut between its parts", (_, graph) => {
    const parts = cutParts(graph);
    const count = Math.max(...parts) + 1;
    expect(count).toBeGreaterThanOrEqual(4);
    // one activation goes on from each part to the next, one gradient comes back
    expect(expectSame(graph, parts, count)).toBe(2 * (count - 1));
  });

  it("parts are the layers, what is before them and what is behind", () => {
    const { sizes: model } = modelNamed("gpt2-small");
    if (model.kind !== "transformer") throw new Error(model.kind);
    const graph = transformerGraph(model.config, { batch: 8, sequence: 128, precision: "bf16" });
    const parts = cutParts(graph);
    const of = (name: string): number => parts[graph.nodes.findIndex((node) => node.name === name)] as number;
    expect([of("embedded"), of("logits"), of("loss")]).toEqual([0, 13, 13]);
    for (let layer = 1; layer <= 12; layer++) expect(of(`layer ${layer} sum with attention`)).toBe(layer);
    expect([...cutParts(mlpGraph([4, 8, 16], 2))].every((part) => part === 0)).toBe(true);
  });

  it("says what it does not cut", () => {
    const graph = transformerGraph(SMALL_LLAMA, sizes);
    expect(() => stagedGraph(withGradients(graph), cutParts(graph), 4)).toThrow(/a forward graph/);
    const scores = graph.nodes.findIndex(({ isFused, name }) => isFused && name.startsWith("layer 1"));
    const stageOf = Int32Array.from(graph.nodes, (_, i) => (i > scores ? 1 : 0));
    expect(() => stagedGraph(graph, stageOf, 2)).toThrow(/stays in a kernel/);
    expect(() =>
      stagedGraph(
        graph,
        stageOf.map((stage) => 1 - stage),
        2,
      ),
    ).toThrow(/the stage of node/);
  });
});
