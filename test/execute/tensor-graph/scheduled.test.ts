import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { draw } from "../../../src/base/random.ts";
import { openEngine } from "../../../src/engine/engine.ts";
import type { Engine } from "../../../src/engine/types.ts";
import { type DenseTensor, runDense } from "../../../src/execute/tensor-graph/dense.ts";
import { DIRECT_CARRIER, runSharded } from "../../../src/execute/tensor-graph/sharded.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { withGradients } from "../../../src/model/tensor-graph/backward.ts";
import { elementsOf, type TensorGraph } from "../../../src/model/tensor-graph/graph.ts";
import { mlpGraph } from "../../../src/model/tensor-graph/models/mlp.ts";
import { transformerGraph } from "../../../src/model/tensor-graph/models/transformer.ts";
import { groupSize, meshGroups, meshOf } from "../../../src/model/tensor-plan/mesh.ts";
import { MOVE_KINDS } from "../../../src/model/tensor-plan/patterns.ts";
import { planOf, planProblem } from "../../../src/model/tensor-plan/problem-of.ts";
import { planSteps } from "../../../src/model/tensor-plan/steps.ts";
import type { Computation } from "../../../src/model/workload/layer-work.ts";
import { LLAMA_LIKE } from "../../../src/model/workload/transformer/config.ts";
import { randomPlan } from "../../model/tensor-plan/random-plan.ts";
import { scheduleCarrier } from "../../support/schedule-carrier.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 0 });
});
afterAll(() => engine.close());

/** Models of sizes that all axes of so many NPUs deal evenly. */
const MODELS: Record<string, (npus: number) => TensorGraph> = {
  perceptron: (npus) => mlpGraph([8, 16, 8, 8], npus),
  transformer: (npus) => transformerGraph(small(npus), { batch: npus, sequence: npus, precision: "bf16" }),
  experts: (npus) => {
    const routed = { count: npus, perToken: 2, ffn: 8, every: 1, firstDense: 0 };
    const experts = { ...routed, sharedFfn: 0, sharedGate: false, routerBias: false };
    return transformerGraph({ ...small(npus), experts }, { batch: npus, sequence: 8, precision: "bf16" });
  },
};
const small = (npus: number) => {
  const heads = { heads: npus, kvHeads: npus, headSize: npus };
  return { ...LLAMA_LIKE, ...heads, name: "small", layers: 1, hidden: 8, ffn: 8, vocabulary: 8, sequence: 8 };
};
const TERMS = {
  memoryBytes: Number.POSITIVE_INFINITY,
  microBatches: 1,
  inFlight: 1,
  optimizerBytes: 12,
  gradientBytes: 2,
};

/** Networks with algorithms; each makes all four kinds, for groups too. */
const NETWORKS = [
  ["ring:4", [2, 2], { algorithm: "tacos", chunks: 2 }],
  ["ring:4", [4], { algorithm: "tacos" }],
  ["fc:4", [2, 2], { algorithm: "direct" }],
  ["fc:4", [4], { algorithm: "tacos", chunks: 3 }],
  ["fc:4", [4], { algorithm: "ring" }],
  ["dgx-h100:1", [2, 4], { algorithm: "tacos" }],
] as const;

/** Returns numbers for placeholders: ids below the vocabulary, positions in order, all else around 0. */
function numbers(graph: TensorGraph, seed: number): Map<number, DenseTensor> {
  const tensors = new Map<number, DenseTensor>();
  graph.nodes.forEach(({ name, dims, kind }, i) => {
    if (kind !== "placeholder") return;
    const of = (at: number): number => {
      if (name === "positions") return at;
      if (name === "ids of tokens" || name === "targets") return draw(seed, i, at) % 8;
      return draw(seed, i, at) / 2 ** 32 - 0.5;
    };
    tensors.set(i, { dims, data: Float64Array.from({ length: elementsOf(graph, dims) }, (_, at) => of(at)) });
  });
  return tensors;
}

/** Returns how far numbers are from what they should be, at most; of large ones as part of them. Infinity where some are missing. */
function distance(numbers: ArrayLike<number>, expected: ArrayLike<number>): number {
  if (numbers.length !== expected.length) return Number.POSITIVE_INFINITY;
  let far = 0;
  for (let i = 0; i < expected.length; i++) {
    const off = Math.abs(numbers[i] - expected[i]) / Math.max(1, Math.abs(expected[i]));
    far = Number.isNaN(off) ? Number.POSITIVE_INFINITY : Math.max(far, off);
  }
  return far;
}

describe("collectives carried by schedules", () => {
  it.each(NETWORKS)("on %s, mesh %j, by %j are what their names say", async (network, shape, by) => {
    const mesh = meshOf(shape);
    const { carrier } = await scheduleCarrier(engine, presetTopology(network), mesh, by);
    for (let axes = 1; axes < 1 << mesh.axes.length; axes++) {
      const size = groupSize(mesh, axes);
      const groups = meshGroups(mesh, axes);
      for (const kind of MOVE_KINDS) {
        // buffers that chunks do not divide, too
        for (const [times, at] of [1, 3, 8].flatMap((times) => [0, groups.length - size].map((at) => [times, at]))) {
          const members = groups.slice(at, at + size);
          const given = [...members].map((npu) =>
            Float64Array.from({ length: times * size }, (_, i) => draw(1, npu, i) / 2 ** 32),
          );
          const carried = carrier(kind, members, given);
          const expected = DIRECT_CARRIER(kind, members, given);
          for (const [m, own] of expected.entries()) expect(distance(carried[m], own), kind).toBeLessThan(1e-12);
        }
      }
    }
  });
});

describe("plans whose collectives are carried by schedules", () => {
  it.each(
    NETWORKS.flatMap(([network, shape, by]) =>
      Object.keys(MODELS).map((model) => [model, network, shape, by] as const),
    ),
  )("give what one NPU gives: %s on %s, mesh %j, by %j", async (model, network, shape, by) => {
    const mesh = meshOf(shape);
    const { carrier, carried } = await scheduleCarrier(engine, presetTopology(network), mesh, by);
    const graph = withGradients(MODELS[model](mesh.npuCount));
    // streams save something
    const costs = {
      computationPs: ({ flops }: Computation) => flops,
      movePs: (_: string, __: number, b: number) => 2 * b,
    };
    const stated = planProblem(graph, mesh, costs, TERMS);
    let streamed = 0;
    const tensors = numbers(graph, 7);
    const dense = runDense(graph, tensors);
    const last = graph.nodes[graph.nodes.length - 1];
    const outputs = last.kind === "output" ? last.operands.map(({ node }) => dense[node]?.data ?? []) : [];
    const data = new Map([...tensors].map(([i, tensor]) => [i, tensor.data]));
    const count = model === "perceptron" ? 12 : 3;
    let tried = 0;
    for (let seed = 0; tried < count && seed < 3000; seed++) {
      const choice = randomPlan(stated.problem, seed);
      if (choice === null) continue;
      tried++;
      const plan = planOf(graph, stated, choice);
      streamed += plan.nodes.filter(({ rule }) => rule?.stream !== undefined).length;
      const sharded = runSharded(plan, planSteps(plan), data, carrier);
      for (const [i, whole] of outputs.entries()) {
        expect(distance(sharded.outputs[i], whole), `seed ${seed}`).toBeLessThan(1e-8);
      }
      for (const [i, { parameter, gradient }] of graph.gradients.entries()) {
        const off = dense[gradient]?.data ?? [];
        const expected = tensors.get(parameter)?.data.map((value, at) => value - off[at]) ?? [];
        expect(distance(sharded.updated[i], expected), `seed ${seed}`).toBeLessThan(1e-8);
      }
    }
    expect(tried).toBe(count);
    expect(streamed).toBeGreaterThan(0);
    // all four kinds were at work
    expect(new Set([...carried.keys()].map((key) => key.split(" ")[0])).size).toBe(MOVE_KINDS.length);
  });
});
