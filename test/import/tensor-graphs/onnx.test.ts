import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type DenseTensor, runDense } from "../../../src/execute/tensor-graph/dense.ts";
import { readOnnx } from "../../../src/import/tensor-graphs/onnx.ts";
import { elementsOf, type GraphNode, operandsOf, type TensorGraph } from "../../../src/model/tensor-graph/graph.ts";
import { printedGraph } from "../../../src/model/tensor-graph/print.ts";
import { type HandModel, type HandOnnxNode, onnxBytes } from "../../support/onnx-bytes.ts";
import { damaged, type Refusal, refusalFrom, refused, unexpected } from "../../support/refusals.ts";
import { inOrder } from "../../support/tensor-order.ts";

const fixture = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`../../fixtures/tensor-graph/${name}`, import.meta.url)));
const RESULTS = JSON.parse(new TextDecoder().decode(fixture("onnx-results.json"))) as Record<string, readonly number[]>;

const sizesOf = (graph: TensorGraph, { dims }: GraphNode): number[] =>
  dims.map((dim) => graph.dimensions[dim]?.size as number);

/** Returns what a graph makes of numbers for its placeholders. */
function resultOf(graph: TensorGraph, numbersOf: (node: GraphNode, at: number) => (k: number) => number): number[] {
  let parameters = 0;
  const given = new Map<number, DenseTensor>();
  graph.nodes.forEach((node, i) => {
    if (node.kind !== "placeholder") return;
    const of = numbersOf(node, node.role === "parameter" ? parameters++ : -1);
    given.set(i, {
      dims: node.dims,
      data: Float64Array.from({ length: elementsOf(graph, node.dims) }, (_, k) => of(k)),
    });
  });
  const [first] = operandsOf(graph.nodes.at(-1) as GraphNode);
  const node = graph.nodes[first?.node as number] as GraphNode;
  return inOrder(graph, runDense(graph, given)[first?.node as number] as DenseTensor, node.dims);
}

const hand = (nodes: readonly HandOnnxNode[], more: Partial<HandModel> = {}): Uint8Array =>
  onnxBytes({ inputs: [{ name: "x", sizes: [2, 3, 4] }], nodes, outputs: ["y"], ...more });
const node = (
  operator: string,
  inputs: string,
  attributes: HandOnnxNode["attributes"] = {},
  outputs = "y",
): HandOnnxNode => ({
  operator,
  inputs: inputs.split(" "),
  outputs: outputs.split(" "),
  attributes,
});

describe("readOnnx", () => {
  // of torch's exporters: norms as one node and in parts, gelu by tanh and by erf, masks worked out of shapes and constants
  it.each(Object.keys(RESULTS))("computes of %s what ONNX's reference evaluator does", (file) => {
    const graph = readOnnx(fixture(file), file, { batch: 2 });
    const found = resultOf(graph, (given, parameter) => {
      if (parameter >= 0) return (k) => Math.sin(0.37 * k + parameter) / 4;
      const part = /\.(\d+)\.which$/.exec(given.name)?.[1];
      if (part !== undefined) return (k) => Number(k === Number(part));
      const columns = sizesOf(graph, given).at(-1) as number;
      if (given.name.endsWith(".given") || given.name.endsWith(".mask"))
        return (k) => (k % columns > Math.floor(k / columns) ? -1e30 : 0);
      expect(given.name).toBe("x");
      return Math.cos;
    });
    const wanted = RESULTS[file] as readonly number[];
    expect(found.length).toBe(wanted.length);
    wanted.forEach((number, i) => {
      expect(found[i]).toBeCloseTo(number, 4);
    });
  });

  it("knows a gelu in parts", () => {
    const graph = readOnnx(fixture("block-old.onnx"), "old");
    expect(graph.nodes.filter((one) => one.kind === "elementwise" && one.function === "gelu").length).toBe(1);
  });

  it.each<[string, Uint8Array, string]>([
    [
      "a layer",
      hand([node("Gemm", "t w b", { transB: 1 })].toSpliced(0, 0, node("Reshape", "x s", {}, "t")), {
        weights: [
          { name: "w", sizes: [5, 4] },
          { name: "b", sizes: [5] },
          { name: "s", sizes: [2], ints: [-1, 4] },
        ],
      }),
      `Nodes:
  x: PLACEHOLDER [abc]
  w: PLACEHOLDER [dc]
  b: PLACEHOLDER [d]
  y.product: EINSUM "abc,cd->abd"(x, w) -> [abd]
  y: ELEMENTWISE(y.product[abd], b[d]) -> [abd]
  output: OUTPUT[y[abd]]
`,
    ],
    [
      "rows of a table",
      hand([node("Gather", "w x")], {
        inputs: [{ name: "x", sizes: [2, 3], type: 7 }],
        weights: [{ name: "w", sizes: [9, 4] }],
      }),
      `Nodes:
  x: PLACEHOLDER [ab]
  w: PLACEHOLDER [cd]
  y.places: ELEMENTWISE(x[ab]) -> [abc]
  y: EINSUM "abc,cd->abd"(y.places, w) -> [abd]
  output: OUTPUT[y[abd]]
`,
    ],
    [
      "a softmax of sums, and axes that are dropped",
      hand([node("ReduceSum", "x a", { keepdims: 1 }, "s"), node("Squeeze", "s a", {}, "q"), node("Softmax", "q")], {
        weights: [{ name: "a", sizes: [1], ints: [-2] }],
      }),
      `Nodes:
  x: PLACEHOLDER [abc]
  s: REDUCTION(x[abc]) over{b} -> [adc]
  y: ELEMENTWISE(s[ac]) -> [ac]
  output: OUTPUT[y[ac]]
`,
    ],
  ])("reads %s", (_, bytes, printed) => expect(printedGraph(readOnnx(bytes, "hand"))).toBe(printed));

  it("takes parts and puts them behind each other again", () => {
    const parts = [node("Split", "x", { axis: 2 }, "p q"), node("Concat", "q p", { axis: 2 })];
    const graph = readOnnx(hand(parts), "hand");
    const found = resultOf(graph, ({ name }) => {
      const part = /(?:part |\.)(\d+)\.which$/.exec(name)?.[1];
      return part === undefined ? (k) => k : (k) => Number(k === Number(part));
    });
    expect(found).toEqual(Array.from({ length: 24 }, (_, k) => k - (k % 4) + ((k + 2) % 4)));
  });

  it.each<[string, () => unknown, Refusal]>([
    [
      "a dimension without a size",
      () => readOnnx(fixture("block.onnx"), "m"),
      unexpected("m: input x", 'dimension 0 "batch"'),
    ],
    [
      "an operator without a rule",
      () => readOnnx(hand([node("STFT", "x")]), "m"),
      refused("unknown-name", "m: node y", "STFT"),
    ],
    ["a tensor that nobody makes", () => readOnnx(hand([node("Relu", "z")]), "m"), unexpected("m: node y", "z")],
    [
      "an output that nobody makes",
      () => readOnnx(hand([node("Relu", "x", {}, "z")]), "m"),
      unexpected("m: output y", "y"),
    ],
    [
      "sizes that are made of inputs",
      () => readOnnx(hand([node("Reshape", "x x")]), "m"),
      unexpected("m: node y: input 1", "others"),
    ],
    ["a cut file", () => readOnnx(fixture("block.onnx").subarray(0, 700), "m", { batch: 2 }), damaged("m")],
    ["a file without a graph", () => readOnnx(Uint8Array.of(8, 8), "m"), unexpected("m", "a file without")],
  ])("refuses %s", (_, run, sentence) => expect(refusalFrom(run)).toEqual(sentence));
});
