import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type DenseTensor, runDense } from "../../../../src/execute/tensor-graph/dense.ts";
import { withGradients } from "../../../../src/model/tensor-graph/backward.ts";
import { graphBuilder } from "../../../../src/model/tensor-graph/builder.ts";
import { elementsOf, type TensorGraph } from "../../../../src/model/tensor-graph/graph.ts";
import { transformerGraph } from "../../../../src/model/tensor-graph/models/transformer.ts";
import { GPT_LIKE, LLAMA_LIKE, type TransformerConfig } from "../../../../src/model/workload/transformer/config.ts";
import { pythonWithTorch } from "../../../support/python-run.ts";

interface Facts {
  readonly loss: number;
  /** By parameter, its elements in row-major order. */
  readonly gradients: Readonly<Record<string, readonly number[]>>;
}

const at = (name: string): string => fileURLToPath(new URL(`../../../fixtures/tensor-graph/${name}`, import.meta.url));
const FACTS = JSON.parse(readFileSync(at("torch-gradients.json"), "utf8"));

/** The numbers of a tensor, as the script makes them. */
function numbers(name: string, count: number): Float64Array {
  const salt = [...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
  const around = name.endsWith(" scale") ? 1 : 0;
  return Float64Array.from({ length: count }, (_, i) => around + 0.4 * Math.sin(salt + 0.7 * i + 0.01 * i * i));
}

const BATCH = 2;
const SEQUENCE = 5;
const VOCABULARY = 7;
const sizes = { hidden: 6, vocabulary: VOCABULARY, sequence: SEQUENCE } as const;
const grouped = { ...LLAMA_LIKE, ...sizes, heads: 4, kvHeads: 2, headSize: 4, ffn: 8 };
const ONE_EXPERTS = { sharedGate: false, firstDense: 0, every: 1, routerBias: false } as const;
const CONFIGS: Readonly<Record<string, TransformerConfig>> = {
  llama: { ...grouped, name: "llama", layers: 2 },
  experts: {
    ...{ ...grouped, name: "experts", layers: 1 },
    experts: { ...ONE_EXPERTS, count: 4, perToken: 2, ffn: 3, sharedFfn: 4 },
  },
  latent: {
    ...{ ...LLAMA_LIKE, ...sizes, name: "latent", layers: 1, heads: 2, kvHeads: 2, headSize: 6, ffn: 8 },
    latent: { queryRank: 5, keyValueRank: 4, plainSize: 4, rotarySize: 2, valueSize: 3 },
  },
  gpt: {
    ...{ ...GPT_LIKE, ...sizes, name: "gpt", layers: 2, heads: 2, kvHeads: 2, headSize: 3, ffn: 8 },
    positions: SEQUENCE + 1,
  },
};

/** What is no parameter, by name. */
const GIVEN: Readonly<Record<string, (i: number) => number>> = {
  positions: (i) => i,
  "ids of tokens": (i) => (3 * i) % VOCABULARY,
  targets: (i) => (5 * i) % VOCABULARY,
  "tangent of loss": () => 1,
};

/** Holds the loss of a graph, and all of its gradients, against those of PyTorch; they are printed with 9 digits. */
function expectFacts(forward: TensorGraph, { loss, gradients }: Facts): void {
  const graph = withGradients(forward);
  const given = new Map<number, DenseTensor>();
  graph.nodes.forEach(({ kind, name, dims }, n) => {
    if (kind !== "placeholder") return;
    const count = elementsOf(graph, dims);
    const of = GIVEN[name];
    given.set(n, {
      dims,
      data: of === undefined ? numbers(name, count) : Float64Array.from({ length: count }, (_, i) => of(i)),
    });
  });
  const tensors = runDense(graph, given);
  const output = tensors[forward.nodes.length - 2] as DenseTensor;
  expect(output.data[0]).toBeCloseTo(loss, 12);
  const found = graph.gradients.map(({ parameter }) => graph.nodes[parameter]?.name);
  expect([...found].sort()).toEqual(Object.keys(gradients).sort());
  for (const { parameter, gradient } of graph.gradients) {
    const name = graph.nodes[parameter]?.name as string;
    const { data } = tensors[gradient] as DenseTensor;
    const expected = gradients[name] as readonly number[];
    expect(data.length, name).toBe(expected.length);
    data.forEach((value, i) => {
      const far = Math.abs(value - (expected[i] as number)) / (1e-3 + Math.abs(value));
      expect(far, `${name}[${i}]: ${value}, by PyTorch ${expected[i]}`).toBeLessThan(1e-8);
    });
  }
}

describe("losses and gradients are PyTorch's", () => {
  it.each(Object.keys(CONFIGS))("of a small transformer: %s", (name) => {
    // as many places as tokens: nobody is dropped
    const options = { batch: BATCH, sequence: SEQUENCE, precision: "fp32", capacityFactor: 2 } as const;
    expectFacts(transformerGraph(CONFIGS[name] as TransformerConfig, options), FACTS[name]);
  });

  it("of a convolution, a norm and a GELU by tanh", () => {
    const builder = graphBuilder(4);
    const [s, c, rows, columns, down, across, high, wide, to] = [2, 3, 6, 6, 3, 3, 3, 3, 4].map((size, i) =>
      builder.dimension(`d${i}`, size),
    ) as [number, number, number, number, number, number, number, number, number];
    const images = builder.placeholder("images", "parameter", [s, c, rows, columns]);
    const seen = builder.apply("seen", "windows", [images], {
      dims: [s, c, down, across, high, wide],
      whole: [rows, columns, down, across, high, wide],
      constant: 2,
    });
    const weights = builder.placeholder("weights", "parameter", [to, c, high, wide]);
    const made = builder.einsum("made", [seen, weights], [s, to, down, across]);
    const normed = builder.apply("normed", "layer-norm", [made], { whole: [down, across], constant: 1e-5 });
    const active = builder.apply("active", "gelu-tanh", [normed]);
    const factors = builder.placeholder("factors", "input", [s, to, down, across]);
    const loss = builder.einsum("loss", [active, factors], []);
    expectFacts(builder.graph("convolution", [loss]), FACTS.convolution);
  });

  const python = process.env["BANYAN_PYTHON"] ?? pythonWithTorch();
  it.skipIf(python === null)("which writes these facts (skipped where no python has torch)", () => {
    const { stdout, status } = spawnSync(python as string, [at("torch-gradients.py")], { encoding: "utf8" });
    expect(status).toBe(0);
    const written = JSON.parse(stdout);
    for (const [name, facts] of Object.entries(FACTS as Record<string, Facts>)) {
      if (name === "torch") continue;
      expect(written[name].loss).toBeCloseTo(facts.loss, 12);
      for (const [parameter, values] of Object.entries(facts.gradients)) {
        values.forEach((value, i) => {
          expect(written[name].gradients[parameter][i]).toBeCloseTo(value, 7);
        });
      }
    }
  });
});
