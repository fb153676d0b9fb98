import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { tensorGraphToJson } from "../../../src/export/tensor-graphs/json.ts";
import { readTensorGraphJson } from "../../../src/import/tensor-graphs/json.ts";
import { readTensorGraph } from "../../../src/import/tensor-graphs/tensor-graph-formats.ts";
import { withGradients } from "../../../src/model/tensor-graph/backward.ts";
import type { TensorGraph } from "../../../src/model/tensor-graph/graph.ts";
import { convolutionGraph } from "../../../src/model/tensor-graph/models/convolution.ts";
import { mlpGraph } from "../../../src/model/tensor-graph/models/mlp.ts";
import { transformerGraph } from "../../../src/model/tensor-graph/models/transformer.ts";
import { RESNETS } from "../../../src/model/workload/tables/resnet.ts";
import { transformerNamed } from "../../model/workload/support.ts";
import { type Refusal, refusalFrom, refused, unexpected } from "../../support/refusals.ts";

const SIZES = { batch: 1, sequence: 480, precision: "bf16" } as const;

const fixture = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`../../fixtures/tensor-graph/${name}`, import.meta.url)));
const joint = (): Uint8Array => {
  const { graph } = JSON.parse(new TextDecoder().decode(fixture("torch-joint.json"))) as { graph: unknown };
  return new TextEncoder().encode(JSON.stringify(graph));
};

/** Names that have to be quoted, a dropped dimension, an infinite constant, an operand and a result without dimensions. */
const ODD: TensorGraph = {
  name: 'odd "one"',
  dimensions: [
    { name: "a b", size: 3 },
    { name: 'q"->,', size: 1 },
    { name: "_", size: 2 },
    { name: "plain", size: 3 },
  ],
  nodes: [
    {
      kind: "placeholder",
      role: "input",
      name: "x",
      dims: [0, 1, 2],
      elementBytes: 2,
      phase: "forward",
      isFused: true,
    },
    {
      ...{ kind: "elementwise", name: "s", dims: [3, 2], elementBytes: 2, phase: "forward", isFused: false },
      ...{
        operands: [{ node: 0, dims: [3, -1, 2] }],
        function: "shift",
        constant: Number.NEGATIVE_INFINITY,
        whole: [],
      },
    },
    {
      ...{ kind: "einsum", name: "e", dims: [], elementBytes: 2, phase: "forward", isFused: false, selects: true },
      operands: [
        { node: 1, dims: [0, 2] },
        { node: 0, dims: [0, -1, 2] },
      ],
    },
    {
      ...{ kind: "einsum", name: "f", dims: [0], elementBytes: 2, phase: "backward", isFused: false, selects: false },
      operands: [
        { node: 2, dims: [] },
        { node: 1, dims: [0, 2] },
      ],
    },
    {
      ...{ kind: "output", name: "output", dims: [], elementBytes: 0, phase: "forward", isFused: false },
      operands: [{ node: 3, dims: [0] }],
    },
  ] as TensorGraph["nodes"],
  gradients: [{ parameter: 0, gradient: 3 }],
  classes: Int32Array.of(0, 1, 2, 3, 4),
};

describe("a tensor graph as JSON of ours", () => {
  it.each<[string, () => TensorGraph]>([
    ["odd names", () => ODD],
    [
      "no operand at all",
      () => ({
        ...ODD,
        nodes: [{ ...(ODD.nodes[4] as object), operands: [] }] as never,
        gradients: [],
        classes: Int32Array.of(0),
      }),
    ],
    ["a joint graph of torch", () => readTensorGraph(joint(), "joint")],
    ["a block of torch", () => readTensorGraph(fixture("torch-block.json"), "block")],
    ["an ONNX model", () => readTensorGraph(fixture("block.onnx"), "block", { batch: 2 })],
    ["perceptrons of a builder, with gradients", () => withGradients(mlpGraph([4, 6, 2], 8))],
    [
      "a transformer with experts of a builder, with gradients",
      () => withGradients(transformerGraph(transformerNamed("mixtral-8x7b"), SIZES)),
    ],
    [
      "a residual network of a builder",
      () => withGradients(convolutionGraph(RESNETS[0] as (typeof RESNETS)[number], { batch: 1, precision: "bf16" })),
    ],
  ])("is read as it was written: %s", (_, made) => {
    const graph = made();
    const text = tensorGraphToJson(graph);
    const again = readTensorGraph(new TextEncoder().encode(text), "graph.json");
    expect(again).toEqual(graph);
    expect(tensorGraphToJson(again)).toBe(text);
  });

  it("is plain to read", () => {
    const line = tensorGraphToJson(readTensorGraph(fixture("torch-linear.json"), "linear")).split("\n");
    expect(line.find((one) => one.includes('"mm"'))).toBe(
      '    {"name":"mm","kind":"einsum","of":["primals_3","primals_1"],"dims":"c d a, a b -> c d b","elementBytes":4,"phase":"forward"},',
    );
  });

  const changed = (of: (file: { nodes: Record<string, unknown>[]; [key: string]: unknown }) => void): unknown => {
    const file = JSON.parse(tensorGraphToJson(readTensorGraph(fixture("torch-linear.json"), "linear")));
    of(file);
    return file;
  };
  const withNode = (at: number, fields: object): unknown =>
    changed((file) => {
      Object.assign(file.nodes[at] as object, fields);
    });
  it.each<[string, unknown, Refusal]>([
    [
      "an unknown dimension",
      withNode(3, { dims: "c d z, a b -> c d b" }),
      refused("unknown-name", "g: node mm: dims", "z"),
    ],
    [
      "a dimension of another size",
      withNode(3, { dims: "c d b, a b -> c d b" }),
      unexpected("g: node mm: of[0]", "others"),
    ],
    ["a dimension twice", withNode(3, { dims: "c d a, a b -> c c b" }), unexpected("g: node mm: dims", "others")],
    ["too few tensors", withNode(3, { dims: "c d a -> c d b" }), unexpected("g: node mm: dims", "c d a -> c d b", 2)],
    ["a node behind its user", withNode(3, { of: ["add", "primals_1"] }), unexpected("g: node mm: of[0]", "add")],
    [
      "an unknown function",
      withNode(4, { function: "magic" }),
      refused("unknown-name", "g: node add: function", "magic"),
    ],
    ["another number of tensors", withNode(4, { function: "relu" }), unexpected("g: node add: of", "2", 1)],
    ["nothing to sum over", withNode(6, { over: "b" }), unexpected("g: node sum_1: over", "others")],
    [
      "a class of other nodes",
      changed((file) => Object.assign(file, { classes: [0, 1, 2, 0, 3, 4, 5, 6, 7] })),
      unexpected("g: classes[3]", 0),
    ],
    [
      "a node behind the output",
      changed(({ nodes }) => nodes.push({ ...nodes[0], name: "late" })),
      unexpected("g: nodes[9]", {
        name: "late",
        kind: "placeholder",
        role: "parameter",
        dims: "a b",
        elementBytes: 4,
        phase: "forward",
      }),
    ],
  ])("is refused with %s", (_, value, sentence) => {
    const error = refusalFrom(() => readTensorGraphJson(value, "g"));
    if (sentence.toString().includes("late")) expect(error.message).toContain("nodes[9]");
    else expect(error).toEqual(sentence);
  });
});
