import { describe, expect, it } from "vitest";
import { random } from "../../../../src/base/random.ts";
import { withGradients } from "../../../../src/model/tensor-graph/backward.ts";
import { elementsOf, type GraphNode, operandsOf, type TensorGraph } from "../../../../src/model/tensor-graph/graph.ts";
import { convolutionGraph } from "../../../../src/model/tensor-graph/models/convolution.ts";
import { mlpGraph } from "../../../../src/model/tensor-graph/models/mlp.ts";
import { transformerGraph } from "../../../../src/model/tensor-graph/models/transformer.ts";
import { meshOf } from "../../../../src/model/tensor-plan/mesh.ts";
import { MOST_DIMENSIONS } from "../../../../src/model/tensor-plan/patterns.ts";
import { workRules } from "../../../../src/model/tensor-plan/rules.ts";
import { RESNETS, resnetLayers } from "../../../../src/model/workload/tables/resnet.ts";
import { productFlops } from "../../../../src/model/workload/tables/table-layers.ts";
import {
  GPT_LIKE,
  kindName,
  LLAMA_LIKE,
  layerKinds,
  type TransformerConfig,
} from "../../../../src/model/workload/transformer/config.ts";
import { DENSE_MODELS } from "../../../../src/model/workload/transformer/dense-models.ts";
import { EXPERT_MODELS } from "../../../../src/model/workload/transformer/expert-models.ts";
import { forwardFlops, parameterCount } from "../../../../src/model/workload/transformer/parameters.ts";
import { expectGradients, numbersFor, uniform } from "../../../support/tensor-numbers.ts";
import { transformerNamed } from "../../workload/support.ts";

const LISTED = [...DENSE_MODELS, ...EXPERT_MODELS].map(({ config }) => config);
/** All experts of all models get as many tokens of a sequence as others, or, of those with more, of a longer one. */
const SEQUENCE = 480;
const LONG = 2048;
const SIZES = { batch: 1, sequence: SEQUENCE, precision: "bf16" } as const;

const isParameter = (node: GraphNode): boolean => node.kind === "placeholder" && node.role === "parameter";
const parametersOf = (graph: TensorGraph): number =>
  graph.nodes.filter(isParameter).reduce((sum, { dims }) => sum + elementsOf(graph, dims), 0);

/** Operations of products: two for each multiplication. */
const flopsOf = (graph: TensorGraph, phase: "forward" | "backward"): number =>
  graph.nodes.reduce((sum, node) => {
    if (node.kind !== "einsum" || node.selects || node.phase !== phase) return sum;
    return sum + 2 * elementsOf(graph, [...new Set(node.operands.flatMap(({ dims }) => dims))]);
  }, 0);

const classOf = (graph: TensorGraph, name: string): number => {
  const n = graph.nodes.findIndex((node) => node.name === name);
  expect(n, name).toBeGreaterThanOrEqual(0);
  return graph.classes[n] as number;
};

/** Returns what is wrong with a node of a graph that is sound. */
function faultsOf(graph: TensorGraph, node: GraphNode, n: number): string[] {
  const faults: string[] = [];
  const { dims, name } = node;
  if (dims.length > MOST_DIMENSIONS) faults.push(`${name} has too many dimensions`);
  for (const operand of operandsOf(node)) {
    const of = graph.nodes[operand.node] as GraphNode;
    if (operand.node >= n) faults.push(`${name} comes before ${of.name}`);
    const isSeen = operand.dims.every(
      (dim, i) => elementsOf(graph, [dim]) === elementsOf(graph, [of.dims[i] as number]),
    );
    if (operand.dims.length !== of.dims.length || !isSeen) faults.push(`${name} sees ${of.name} in other sizes`);
  }
  const seen = [...new Set(operandsOf(node).flatMap((operand) => operand.dims))];
  if (node.kind === "einsum" && dims.some((dim) => !seen.includes(dim))) faults.push(`${name} repeats`);
  if (node.kind === "elementwise" && seen.some((dim) => !dims.includes(dim) && !node.whole.includes(dim))) {
    faults.push(`${name} loses a dimension`);
  }
  return faults;
}

/** Holds what every graph has to be; nodes of a class are alike. */
function expectSound(graph: TensorGraph): void {
  expect(graph.nodes.flatMap((node, n) => faultsOf(graph, node, n))).toEqual([]);
  expect(new Set(graph.nodes.map(({ name }) => name)).size).toBe(graph.nodes.length);
  const classes = [...new Set(graph.classes)];
  expect(classes).toEqual(classes.map((_, i) => i));
  const alike = graph.nodes.map((node, n) => {
    const { name: _, ...rest } = node;
    return [graph.classes[n], JSON.stringify({ ...rest, operands: operandsOf(node).map(({ dims }) => dims) })];
  });
  expect(new Set(alike.map((one) => one.join(" "))).size).toBe(classes.length);
}

describe("graphs of transformers", () => {
  it.each(LISTED.map((config) => [config.name, config] as const))(
    "of %s have the parameters and the operations that the model has",
    (_, config) => {
      const { count, perToken } = config.experts ?? { count: 1, perToken: 1 };
      const sequence = (SEQUENCE * perToken) % count === 0 ? SEQUENCE : LONG;
      const graph = transformerGraph(config, { ...SIZES, sequence });
      // one number a head beside the scores of gpt-oss, what stands beside BERT's layers, and relative positions
      const left =
        (config.sinks ? config.layers * config.heads : 0) + config.extraParameters + config.relativePositions;
      expect(parametersOf(graph)).toBe(parameterCount(config) - left);
      // windows are masks: all pairs are worked on
      const flops = forwardFlops({ ...config, window: null }, sequence, "full");
      expect(flopsOf(graph, "forward")).toBe(flops);
      const whole = withGradients(graph);
      expect(flopsOf(whole, "backward")).toBe(2 * flops);
      expect(whole.gradients.length).toBe(graph.nodes.filter(isParameter).length);
    },
  );

  it.each(["gpt2-small", "llama3-8b", "gemma2-2b", "mixtral-8x7b", "deepseek-v3", "gpt-oss-20b", "bert-base"])(
    "of %s are sound, with equal layers of equal classes, backward too",
    (name) => {
      const config = transformerNamed(name);
      const forward = transformerGraph(config, { ...SIZES, batch: 8 });
      expectSound(forward);
      const graph = withGradients(forward);
      expectSound(graph);
      const kinds = layerKinds(config).map(kindName);
      // the gradient of the last layer comes from the head alone, that of others from the layer behind, of whatever kind
      const inner = config.layers - 1;
      for (const kind of new Set(kinds)) {
        const layers = kinds.flatMap((one, i) => (one === kind && i < inner ? [i + 1] : []));
        const of = (i: number) =>
          graph.nodes.flatMap((node, n) => {
            const [, prefix, at, rest] = /^(gradient of |)layer (\d+) (.*?)( through .*|)$/.exec(node.name) ?? [];
            return Number(at) === i && !(prefix !== "" && rest === "sum with feed-forward")
              ? [`${prefix}${rest}: ${graph.classes[n]}`]
              : [];
          });
        for (const i of layers) expect(of(i)).toEqual(of(layers[0] as number));
      }
      const perLayer = forward.nodes.filter((node) => node.name.startsWith(`layer ${inner} `)).length;
      expect(perLayer).toBeLessThanOrEqual({ "llama3-8b": 30, "gpt2-small": 39, "mixtral-8x7b": 37 }[name] ?? 63);
    },
  );

  it("have nothing of attention's scores in memory, nor of indices, gates that are made again and norms", () => {
    const { nodes } = withGradients(transformerGraph(transformerNamed("llama3-8b"), SIZES));
    const fused = nodes.filter(({ name, isFused }) => isFused && /layer 32/.test(name)).map(({ name }) => name);
    const made = [
      "attention norm unscaled",
      "products",
      "scores",
      "shares",
      "feed-forward norm unscaled",
      "opened gate",
    ];
    expect(fused.filter((name) => !name.startsWith("gradient"))).toEqual(made.map((name) => `layer 32 ${name}`));
    for (const name of made) expect(fused).toContain(`gradient of layer 32 ${name}`);
    expect(fused.filter((name) => name.endsWith("to be summed")).length).toBe(2);
  });

  it("can be worked on in parts of samples, of tokens of queries, of heads, of experts", () => {
    const graph = transformerGraph(transformerNamed("mixtral-8x7b"), { ...SIZES, batch: 8 });
    const along = (name: string): string[] => {
      const node = graph.nodes.find((one) => one.name === name) as GraphNode;
      return workRules(graph, node, meshOf([2])).flatMap((rule) =>
        rule.along[0] === undefined || rule.along[0] < 0 ? [] : [graph.dimensions[rule.along[0]]?.name as string],
      );
    };
    const heads = ["groups of heads", "heads in a group"];
    expect(along("layer 1 shares").sort()).toEqual([...heads, "samples", "tokens"]);
    expect(along("layer 1 turned keys").sort()).toEqual(["groups of heads", "samples", "tokens"]);
    expect(along("layer 1 experts' up")).toEqual(["samples", "experts", "places", "hidden", "width of experts"]);
    expect(along("layer 1 routes")).toEqual(["samples"]);
  });

  it("tie the head to the embedding where the model does", () => {
    const graph = withGradients(transformerGraph(transformerNamed("gpt2-small"), SIZES));
    expect(graph.nodes.filter(({ name }) => name === "head weights")).toEqual([]);
    expect(graph.nodes.find(({ name }) => name === "gradient of embedding")).toMatchObject({ function: "add" });
    expect(classOf(graph, "layer 1 queries")).not.toBe(classOf(graph, "layer 1 keys"));
  });

  const small = {
    hidden: 3,
    vocabulary: 4,
    sequence: 3,
    layers: 1,
    heads: 2,
    kvHeads: 1,
    headSize: 2,
    ffn: 3,
  } as const;
  const SMALL: readonly TransformerConfig[] = [
    { ...LLAMA_LIKE, ...small, name: "norms of heads", headNorms: true, normsPerLayer: 4, window: 2, tied: true },
    {
      ...{ ...LLAMA_LIKE, ...small, name: "experts with biases", biases: { qkv: true, output: true, ffn: true } },
      experts: {
        count: 3,
        perToken: 2,
        ffn: 2,
        sharedFfn: 2,
        sharedGate: true,
        firstDense: 0,
        every: 1,
        routerBias: true,
      },
    },
    { ...GPT_LIKE, ...small, name: "both ways", causal: false, finalNorm: false, positions: 4 },
    { ...LLAMA_LIKE, ...small, name: "an encoder", encoderLayers: 1, tied: true },
    {
      ...{ ...LLAMA_LIKE, ...small, name: "latents of keys alone", kvHeads: 2, head: false },
      latent: { queryRank: null, keyValueRank: 3, plainSize: 2, rotarySize: 2, valueSize: 1 },
    },
  ];
  it.each(SMALL.map((config) => [config.name, config] as const))(
    "with %s have gradients as by differences",
    (_, config) => {
      // tokens beyond the places of experts are dropped
      const graph = transformerGraph(config, { batch: 2, sequence: 3, precision: "fp32", capacityFactor: 0.5 });
      expectSound(graph);
      expect(parametersOf(graph)).toBe(parameterCount(config));
      const draws = random(11);
      const given = numbersFor(graph, (name, role, i) => {
        if (name === "positions") return i;
        if (role === "input") return draws.below(4);
        return uniform(draws, -0.8, 0.8) + (name.endsWith("scale") ? 1 : 0);
      });
      expect(expectGradients(graph, given, draws)).toBe(parameterCount(config));
    },
  );

  it("are refused for sizes that are none, and encoders with a table of positions", () => {
    const both = { ...GPT_LIKE, ...small, name: "both", encoderLayers: 1, positions: 4 };
    expect(() => transformerGraph(both, { ...SIZES, sequence: 3 })).toThrow(
      "the model is both; it must be without a table of positions or latents, as it has an encoder",
    );
    const gpt = transformerNamed("gpt2-small");
    expect(() => transformerGraph(gpt, { ...SIZES, sequence: 2048 })).toThrow(
      "the sequence of gpt2-small is 2048; it must be at most 1024, the positions that it knows",
    );
    expect(() => transformerGraph(gpt, { ...SIZES, batch: 0 })).toThrow(
      "the batch of gpt2-small is 0; it must be an integer of 1 or more",
    );
  });
});

describe("graphs of residual networks", () => {
  it.each(RESNETS.map((sizes) => [sizes.name, sizes] as const))("of %s are those of its table", (_, sizes) => {
    const images = 4;
    const graph = convolutionGraph(sizes, { batch: images, precision: "bf16" });
    expectSound(graph);
    const layers = resnetLayers(sizes, images);
    expect(parametersOf(graph)).toBe(layers.reduce((sum, { parameters }) => sum + parameters, 0));
    const products = layers.flatMap((layer) => layer.products);
    const flops = products.reduce((sum, product) => sum + productFlops(product), 0);
    expect(flopsOf(graph, "forward")).toBe(flops);
    const whole = withGradients(graph);
    expectSound(whole);
    // nobody needs the gradients of the images
    expect(flopsOf(whole, "backward")).toBe(2 * flops - productFlops(products[0] as (typeof products)[number]));
    expect(whole.gradients.length).toBe(graph.nodes.filter(isParameter).length);
    expect(classOf(whole, "gradient of conv4_3 window")).toBe(classOf(whole, "gradient of conv4_5 window"));
  });

  it("see windows as padding and steps have it", () => {
    const graph = convolutionGraph(RESNETS[0] as (typeof RESNETS)[number], { batch: 1, precision: "bf16" });
    const steps = graph.nodes.flatMap((node) =>
      node.kind === "elementwise" && node.function === "windows" && node.constant !== 1 ? [node.name] : [],
    );
    expect(steps).toEqual([
      "conv1 windows",
      "pooling windows",
      ...[3, 4, 5].flatMap((stage) => [`conv${stage}_1 narrow windows`, `conv${stage}_1 shortcut windows`]),
    ]);
  });
});

describe("graphs of perceptrons", () => {
  it("are products with a ReLU between them", () => {
    const graph = mlpGraph([3, 5, 2], 4);
    expectSound(graph);
    expect(graph.nodes.map(({ name }) => name)).toEqual([
      "x",
      "layer 1 weights",
      "layer 1 product",
      "layer 1 relu",
      "layer 2 weights",
      "layer 2 product",
      "output",
    ]);
    const draws = random(2);
    expect(
      expectGradients(
        graph,
        numbersFor(graph, () => uniform(draws, -1, 1)),
        draws,
      ),
    ).toBe(3 * 5 + 5 * 2);
    expect(() => mlpGraph([3], 4)).toThrow("the number of widths of a perceptron is 1; it must be 2 or more");
  });
});
