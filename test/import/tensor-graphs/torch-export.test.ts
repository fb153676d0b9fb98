import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type DenseTensor, runDense } from "../../../src/execute/tensor-graph/dense.ts";
import { readTorchGraph } from "../../../src/import/tensor-graphs/torch-export.ts";
import { elementsOf, type GraphNode, type Operand, operandsOf } from "../../../src/model/tensor-graph/graph.ts";
import { printedGraph } from "../../../src/model/tensor-graph/print.ts";
import { refusalFrom, refused, unexpected } from "../../support/refusals.ts";
import { inOrder } from "../../support/tensor-order.ts";

const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../fixtures/tensor-graph/${name}`, import.meta.url), "utf8"));

type Sizes = readonly number[];
interface Dumped {
  readonly name: string;
  readonly op: string;
  readonly target: string;
  readonly args: readonly unknown[];
  readonly value?: unknown;
}
const of = (shape: Sizes, dtype = "torch.float32"): unknown => ({ shape, dtype });
const ref = (node: string): unknown => ({ node });
const placeholder = (name: string, shape: Sizes, dtype?: string): Dumped => ({
  ...{ name, op: "placeholder", target: name, args: [] },
  value: of(shape, dtype),
});
const call = (name: string, target: string, shape: Sizes, ...args: readonly unknown[]): Dumped => ({
  ...{ name, op: "call_function", target, args },
  value: of(shape),
});
const dump = (nodes: readonly Dumped[], outputs: readonly string[], more: object = {}): unknown => ({
  ...{ format: "banyan-torch-graph", name: "hand" },
  nodes: [...nodes, { name: "output", op: "output", target: "output", args: [outputs.map(ref)] }],
  ...{ parameters: [], constants: [], tangents: [], outputs, gradients: [], ...more },
});

/** Figure 5.2(b) of Zhao 2026, letter by letter. */
const FIGURE = `Nodes:
  primals_1: PLACEHOLDER [ab]
  primals_2: PLACEHOLDER [b]
  primals_3: PLACEHOLDER [cda]
  mm: EINSUM "cda,ab->cdb"(primals_3, primals_1) -> [cdb]
  add: ELEMENTWISE(mm[cdb], primals_2[b]) -> [cdb]
  tangents_1: PLACEHOLDER [cdb]
  sum_1: REDUCTION(tangents_1[cdb]) over{c,d} -> [fgb]
  mm_1: EINSUM "acd,cdb->ab"(primals_3, tangents_1) -> [ab]
  output: OUTPUT[add[cdb], mm_1[ab], sum_1[b]]
`;

/** Figure 5.2(a), node by node. */
const FIGURE_GRAPH = dump(
  [
    placeholder("primals_1", [1024, 2048]),
    placeholder("primals_2", [2048]),
    placeholder("primals_3", [64, 4096, 1024]),
    placeholder("tangents_1", [64, 4096, 2048]),
    call("view", "aten.view.default", [262144, 1024], ref("primals_3"), [262144, 1024]),
    call("alias_default_1", "aten.alias.default", [262144, 1024], ref("view")),
    call("mm", "aten.mm.default", [262144, 2048], ref("alias_default_1"), ref("primals_1")),
    call("view_1", "aten.view.default", [64, 4096, 2048], ref("mm"), [64, 4096, 2048]),
    call("add", "aten.add.Tensor", [64, 4096, 2048], ref("view_1"), ref("primals_2")),
    call("alias_default_2", "aten.alias.default", [64, 4096, 2048], ref("add")),
    call("alias_default", "aten.alias.default", [64, 4096, 2048], ref("tangents_1")),
    call("sum_1", "aten.sum.dim_IntList", [1, 1, 2048], ref("alias_default"), [0, 1], true),
    call("view_2", "aten.view.default", [2048], ref("sum_1"), [2048]),
    call("alias_default_4", "aten.alias.default", [2048], ref("view_2")),
    call("view_3", "aten.view.default", [262144, 2048], ref("alias_default"), [262144, 2048]),
    call("permute", "aten.permute.default", [1024, 262144], ref("alias_default_1"), [1, 0]),
    call("mm_1", "aten.mm.default", [1024, 2048], ref("permute"), ref("view_3")),
    call("alias_default_3", "aten.alias.default", [1024, 2048], ref("mm_1")),
  ],
  ["alias_default_2"],
  {
    parameters: ["primals_1", "primals_2"],
    tangents: ["tangents_1"],
    gradients: [
      ["primals_1", "alias_default_3"],
      ["primals_2", "alias_default_4"],
    ],
  },
);

describe("readTorchGraph", () => {
  it("makes of figure 5.2(a) of Zhao 2026 what figure 5.2(b) prints", () => {
    const graph = readTorchGraph(FIGURE_GRAPH, "figure.json");
    expect(printedGraph(graph)).toBe(FIGURE);
    const named = (at: number): string => graph.nodes[at]?.name ?? "";
    expect(graph.gradients.map(({ parameter, gradient }) => [named(parameter), named(gradient)])).toEqual([
      ["primals_1", "mm_1"],
      ["primals_2", "sum_1"],
    ]);
    expect(graph.nodes.map(({ phase }) => phase).join(" ")).toBe(
      `${"forward ".repeat(5)}${"backward ".repeat(4)}`.trim(),
    );
  });

  it("makes the same of what torch makes of the figure's layer", () => {
    expect(printedGraph(readTorchGraph(fixture("torch-linear.json"), "linear.json"))).toBe(FIGURE);
  });

  it("sees queries and keys as two dimensions of one size, and divides the weights' by heads", () => {
    const graph = readTorchGraph(fixture("torch-block.json"), "block.json");
    const node = (name: string): GraphNode => graph.nodes.find((one) => one.name === name) as GraphNode;
    const sizes = (dims: readonly number[]): Sizes => dims.map((dim) => graph.dimensions[dim]?.size as number);
    const attention = "scaled_dot_product_attention";
    const products = node(`${attention}.products`);
    expect(sizes(products.dims)).toEqual([2, 2, 4, 4]);
    expect(new Set(products.dims).size).toBe(4);
    const [queries, keys] = operandsOf(products);
    // the keys' tokens are those of the tensor under another name
    expect(keys?.dims[1]).toBe(products.dims[3]);
    expect(queries?.dims[1]).toBe(products.dims[2]);
    expect(node("split.0").dims).toEqual(node("split.1").dims);
    expect(sizes(node("p_out_weight").dims)).toEqual([8, 2, 4]);
    expect(sizes(node("p_qkv_weight").dims)).toEqual([3, 2, 4, 8]);
    expect(node("p_out_weight").dims[0]).toBe(node("x").dims[2]);
    expect(graph.nodes.filter(({ isFused }) => isFused).map(({ name }) => name)).toContain(`${attention}.weights`);
  });
});

interface Joint {
  readonly graph: unknown;
  readonly ids: readonly number[];
  readonly result: readonly number[];
  readonly gradients: readonly (readonly [number, number])[];
}

describe("a joint graph of torch", () => {
  const { graph: dumped, ids, result, gradients } = fixture("torch-joint.json") as Joint;
  const graph = readTorchGraph(dumped, "joint.json");
  const sizesOf = ({ dims }: GraphNode): Sizes => dims.map((dim) => graph.dimensions[dim]?.size as number);

  /** What the graph only says the sizes of: parts of tensors by their numbers, positions in order. */
  const numbersOf = (node: GraphNode): number[] => {
    const count = elementsOf(graph, node.dims);
    const make = (of: (k: number) => number): number[] => Array.from({ length: count }, (_, k) => of(k));
    const primal = /^primals_(\d+)$/.exec(node.name)?.[1];
    if (node.kind === "placeholder" && node.role === "parameter")
      return make((k) => Math.sin(0.37 * k + Number(primal) - 1) / 4);
    if (node.kind === "placeholder" && node.role === "tangent") return make(Math.cos);
    if (primal !== undefined) return [...ids];
    const part = /(?:part |\.)(\d+)\.which$/.exec(node.name)?.[1];
    if (part !== undefined) return make((k) => Number(k === Number(part)));
    if (/\.(?:queries|keys)$/.test(node.name)) return make((k) => k);
    if (!node.name.endsWith(".places")) throw new Error(`numbers of ${node.name}`);
    const columns = sizesOf(node)[1] as number;
    return make((k) => Number(Math.floor(k / columns) === k % columns));
  };

  it("computes what torch computes, gradients included", () => {
    const given = new Map(
      graph.nodes.flatMap((node, i) =>
        node.kind === "placeholder" ? [[i, { dims: node.dims, data: Float64Array.from(numbersOf(node)) }]] : [],
      ) as [number, DenseTensor][],
    );
    const tensors = runDense(graph, given);
    const output = graph.nodes.at(-1) as GraphNode;
    const [first] = operandsOf(output) as [Operand];
    // batch, tokens, words
    const logits = graph.nodes[first.node] as GraphNode;
    expect(sizesOf(logits)).toEqual([2, 4, 11]);
    const found = inOrder(graph, tensors[first.node] as DenseTensor, logits.dims);
    result.forEach((number, i) => {
      expect(found[i]).toBeCloseTo(number, 10);
    });
    expect(graph.gradients.length).toBe(gradients.length);
    graph.gradients.forEach(({ parameter, gradient }, i) => {
      const numbers = inOrder(graph, tensors[gradient] as DenseTensor, (graph.nodes[parameter] as GraphNode).dims);
      const [weighed, squares] = gradients[i] as readonly [number, number];
      expect(numbers.reduce((sum, one, k) => sum + one * Math.cos(k), 0)).toBeCloseTo(weighed, 8);
      expect(numbers.reduce((sum, one) => sum + one * one, 0)).toBeCloseTo(squares, 8);
    });
  });

  it("gives layers one class, forward and backward, and their parameters and gradients", () => {
    const classOf = (name: string): number =>
      graph.classes[graph.nodes.findIndex((node) => node.name === name)] as number;
    const normed = [0, 2, 4].map((i) =>
      classOf(i === 0 ? "native_layer_norm.normed" : `native_layer_norm_${i}.normed`),
    );
    expect(new Set(normed).size).toBe(1);
    expect(classOf("native_layer_norm_6.normed")).not.toBe(normed[0]);
    // of each layer 12 parameters: two tables before them, two of a norm and the head's behind
    for (let i = 0; i < 12; i++) {
      const same = [0, 1, 2].map((layer) => classOf(`primals_${3 + i + 12 * layer}`));
      expect(new Set(same).size).toBe(1);
      const grads = [0, 1, 2].map((layer) => graph.classes[graph.gradients[2 + i + 12 * layer]?.gradient as number]);
      expect(new Set(grads).size).toBe(1);
    }
    expect(new Set(["primals_1", "primals_2", "primals_39", "primals_40", "primals_41"].map(classOf)).size).toBe(5);
  });
});

describe("readTorchGraph refuses", () => {
  const x = placeholder("x", [4, 6]);
  it.each<[string, unknown, ReturnType<typeof unexpected>]>([
    [
      "an operator without a rule",
      dump([x, call("y", "aten.fft.default", [4, 6], ref("x"))], ["y"]),
      refused("unknown-name", "g: node y", "aten.fft.default"),
    ],
    [
      "sizes that are not known",
      dump([placeholder("x", ["s0" as unknown as number, 6])], ["x"]),
      unexpected("g: node x: value.shape", "s0"),
    ],
    [
      "a view that mixes dimensions",
      dump([x, call("y", "aten.view.default", [6, 4], ref("x"), [6, 4])], ["y"]),
      unexpected("g: node y", "6 x 4"),
    ],
    [
      "another shape than torch's",
      dump([x, call("y", "aten.neg.default", [4, 5], ref("x"))], ["y"]),
      unexpected("g: node y: value", [4, 5]),
    ],
    [
      "sizes that do not go together",
      dump([x, placeholder("w", [5, 2]), call("y", "aten.mm.default", [4, 2], ref("x"), ref("w"))], ["y"]),
      unexpected("g: node y", "of one of 6 and one of 5"),
    ],
    [
      "a node behind its user",
      dump([call("y", "aten.neg.default", [4, 6], ref("x")), x], ["y"]),
      unexpected("g: node y", "x"),
    ],
    ["two nodes of a name", dump([x, x], ["x"]), unexpected("g: node x", "two")],
    [
      "an output that is no node",
      { ...(dump([x], ["x"]) as object), outputs: ["z"] },
      unexpected("g: outputs[0]", "z"),
    ],
    [
      "dropout",
      dump([x, call("y", "aten.dropout.default", [4, 6], ref("x"), 0.5, true)], ["y"]),
      unexpected("g: node y", "with it"),
    ],
  ])("%s", (_, value, sentence) => expect(refusalFrom(() => readTorchGraph(value, "g"))).toEqual(sentence));
});
