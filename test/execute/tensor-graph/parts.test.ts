import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Random, random } from "../../../src/base/random.ts";
import { computeNode, type DenseTensor, runDense } from "../../../src/execute/tensor-graph/dense.ts";
import { withGradients } from "../../../src/model/tensor-graph/backward.ts";
import { type Dimension, type GraphNode, operandsOf, type TensorGraph } from "../../../src/model/tensor-graph/graph.ts";
import { transformerGraph } from "../../../src/model/tensor-graph/models/transformer.ts";
import { meshOf } from "../../../src/model/tensor-plan/mesh.ts";
import { PARTIAL, shardedAt, stateOn } from "../../../src/model/tensor-plan/patterns.ts";
import { type WorkRule, workRules } from "../../../src/model/tensor-plan/rules.ts";
import { LLAMA_LIKE } from "../../../src/model/workload/transformer/config.ts";
import { randomTensorGraphs } from "../../support/random-tensor-graphs.ts";
import { numbersFor, uniform } from "../../support/tensor-numbers.ts";

const PARTS = 2;

/** Returns the elements of a tensor, or of what is put in its place, whose index along its dimension `at` is in part `part`. */
function dealt({ dimensions }: TensorGraph, { dims, data }: DenseTensor, at: number, part: number): DenseTensor {
  const sizeOf = (dim: number): number => (dimensions[dim] as Dimension).size;
  const size = sizeOf(dims[at] as number);
  const inner = dims.slice(at + 1).reduce((all, dim) => all * sizeOf(dim), 1);
  const isIn = (i: number): boolean => Math.floor((Math.floor(i / inner) % size) / (size / PARTS)) === part;
  return { dims, data: data.filter((_, i) => isIn(i)) };
}

/** Returns what each NPU has of a tensor in a state. */
function partsOf(graph: TensorGraph, tensor: DenseTensor, state: number, draws: Random): DenseTensor[] {
  if (shardedAt(state) >= 0) return [0, 1].map((part) => dealt(graph, tensor, shardedAt(state), part));
  if (state !== PARTIAL) return [tensor, tensor];
  const one = tensor.data.map(() => uniform(draws, -1, 1));
  return [one, tensor.data.map((x, i) => x - one[i])].map((data) => ({ dims: tensor.dims, data }));
}

/** Holds that NPUs that work by a rule have together what one has that works alone. */
function expectRule(
  graph: TensorGraph,
  node: GraphNode,
  tensors: readonly DenseTensor[],
  expected: DenseTensor,
  rule: WorkRule,
  draws: Random,
): void {
  const along = rule.along[0] as number;
  const dimensions = graph.dimensions.map((dim, d) => (d === along ? { ...dim, size: dim.size / PARTS } : dim));
  const given = tensors.map((tensor, k) => partsOf(graph, tensor, stateOn(rule.operands[k] as number, 0), draws));
  const made = [0, 1].map((part) =>
    computeNode(
      { dimensions },
      node,
      given.map((parts) => parts[part] as DenseTensor),
    ),
  ) as [DenseTensor, DenseTensor];
  const state = stateOn(rule.result, 0);
  const wanted =
    state === PARTIAL
      ? [expected.data]
      : shardedAt(state) >= 0
        ? [0, 1].map((part) => dealt(graph, expected, shardedAt(state), part).data)
        : [expected.data, expected.data];
  const have = state === PARTIAL ? [made[0].data.map((x, i) => x + made[1].data[i])] : made.map(({ data }) => data);
  have.forEach((data, part) => {
    const goal = wanted[part] as Float64Array;
    expect(data.length, node.name).toBe(goal.length);
    const far = data.reduce((most, x, i) => Math.max(most, Math.abs(x - goal[i]) / (1 + Math.abs(goal[i]))), 0);
    expect(far, `${node.name} (${node.kind}) along ${graph.dimensions[along]?.name}`).toBeLessThan(1e-9);
  });
}

/** Holds it of all nodes of a graph with its gradients, by all their rules for two NPUs; returns how many. */
function expectAllRules(forward: TensorGraph, of: (name: string, i: number) => number, draws: Random): number {
  const graph = withGradients(forward);
  const tensors = runDense(
    graph,
    numbersFor(graph, (name, _, i) => of(name, i)),
  );
  const mesh = meshOf([PARTS]);
  let held = 0;
  graph.nodes.forEach((node, n) => {
    if (node.kind === "placeholder" || node.kind === "output") return;
    const operands = operandsOf(node).map((operand) => tensors[operand.node] as DenseTensor);
    for (const rule of workRules(graph, node, mesh)) {
      expectRule(graph, node, operands, tensors[n] as DenseTensor, rule, draws);
      held++;
    }
  });
  return held;
}

describe("nodes worked on by two NPUs", () => {
  it("give what one gives, by every rule, in random graphs and their gradients", () => {
    let held = 0;
    fc.assert(
      fc.property(randomTensorGraphs, fc.nat(1000), (graph, seed) => {
        const draws = random(seed);
        held += expectAllRules(graph, () => uniform(draws, -1, 1), draws);
      }),
      { numRuns: 150 },
    );
    expect(held).toBeGreaterThan(2000);
  });

  it("give what one gives, by every rule, in transformers with experts, and with latents", () => {
    const base = { ...LLAMA_LIKE, layers: 1, hidden: 4, heads: 4, vocabulary: 6, sequence: 4, ffn: 2 };
    const experts = {
      count: 2,
      perToken: 1,
      ffn: 2,
      sharedFfn: 2,
      sharedGate: true,
      firstDense: 0,
      every: 1,
      routerBias: true,
    };
    const latent = { queryRank: 2, keyValueRank: 2, plainSize: 2, rotarySize: 2, valueSize: 2 };
    const configs = [
      { ...base, name: "experts", kvHeads: 2, headSize: 4, experts },
      { ...base, name: "latents", kvHeads: 4, headSize: 4, latent },
    ];
    for (const config of configs) {
      const draws = random(5);
      const of = (name: string, i: number): number => {
        if (name === "positions") return i;
        return name === "targets" || name === "ids of tokens" ? draws.below(6) : uniform(draws, -1, 1);
      };
      const graph = transformerGraph(config, { batch: 2, sequence: 4, precision: "fp32" });
      expect(expectAllRules(graph, of, draws)).toBeGreaterThan(400);
    }
  });
});
