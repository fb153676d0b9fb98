import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { withGradients } from "../../../src/model/tensor-graph/backward.ts";
import { graphBuilder } from "../../../src/model/tensor-graph/builder.ts";
import { elementsOf, operandsOf, type TensorGraph } from "../../../src/model/tensor-graph/graph.ts";
import { randomTensorGraphs } from "../../support/random-tensor-graphs.ts";
import { expectGradients, numbersFor, uniform } from "../../support/tensor-numbers.ts";

const names = ({ nodes }: TensorGraph): string[] => nodes.map(({ name }) => name);
const named = ({ nodes }: TensorGraph, name: string) => {
  const node = nodes.find((one) => one.name === name);
  if (node === undefined) throw new Error(`no ${name} among ${nodes.map((one) => one.name).join(", ")}`);
  return node;
};

/** x W, a bias, gelu: what came in is added. */
function block() {
  const builder = graphBuilder(2);
  const s = builder.dimension("samples", 4);
  const h = builder.dimension("hidden", 3);
  const f = builder.dimension("width", 3);
  const x = builder.placeholder("x", "input", [s, h]);
  const layers = [1, 2].reduce((at, i) => {
    const part = builder.part(`layer ${i}`, "layer");
    const w = part.placeholder("weights", "parameter", [h, f]);
    const b = part.placeholder("bias", "parameter", [f]);
    const up = part.einsum("up", [at, w], [s, f]);
    const biased = part.apply("biased", "add", [up, b], { isFused: true });
    const active = part.apply("active", "gelu", [biased]);
    return part.apply("sum", "add", [at, builder.as(active, f, h)]);
  }, x);
  return builder.graph("block", [layers]);
}

describe("gradients of a graph", () => {
  it("are those of central differences, for random graphs", () => {
    let compared = 0;
    fc.assert(
      fc.property(randomTensorGraphs, fc.nat(1000), (graph, seed) => {
        const draws = random(seed);
        const given = numbersFor(graph, () => uniform(draws, -1.2, 1.2));
        compared += expectGradients(graph, given, draws);
      }),
      { numRuns: 400 },
    );
    expect(compared).toBeGreaterThan(5000);
  });

  it("stand behind the graph, each behind its operands, of the dimensions and bytes of their tensors", () => {
    fc.assert(
      fc.property(randomTensorGraphs, (forward) => {
        const graph = withGradients(forward);
        const own = forward.nodes.slice(0, -1);
        expect(graph.nodes.slice(0, own.length)).toEqual(own);
        graph.nodes.forEach((node, n) => {
          for (const operand of operandsOf(node)) {
            expect(operand.node).toBeLessThan(n);
            const of = graph.nodes[operand.node];
            expect(operand.dims.length).toBe(of?.dims.length);
            // seen as a dimension of the same size, or left out
            operand.dims.forEach((dim, i) => {
              expect(elementsOf(graph, [dim])).toBe(elementsOf(graph, [of?.dims[i] as number]));
            });
          }
          expect(new Set(node.dims).size).toBe(node.dims.length);
          expect(node.phase).toBe(n < own.length ? "forward" : "backward");
        });
        expect(new Set(names(graph)).size).toBe(graph.nodes.length);
        for (const { parameter, gradient } of graph.gradients) {
          expect(graph.nodes[gradient]?.dims).toEqual(graph.nodes[parameter]?.dims);
          expect(graph.nodes[gradient]?.elementBytes).toBe(graph.nodes[parameter]?.elementBytes);
        }
        const outputs = operandsOf(forward.nodes[own.length] as (typeof own)[number]).map(({ node }) => node);
        const all = operandsOf(graph.nodes[graph.nodes.length - 1] as (typeof own)[number]).map(({ node }) => node);
        expect(all).toEqual([...outputs, ...graph.gradients.map(({ gradient }) => gradient)]);
        expect(graph.classes.length).toBe(graph.nodes.length);
      }),
      { numRuns: 200 },
    );
  });

  it("are named, fused and of one class as what they are gradients of", () => {
    const graph = withGradients(block());
    expect(names(graph).slice(13)).toEqual([
      "tangent of layer 2 sum",
      "gradient of layer 2 active",
      "gradient of layer 2 biased",
      "gradient of layer 2 bias",
      "gradient of layer 2 up",
      "gradient of layer 1 sum through layer 2 up",
      "gradient of layer 2 weights",
      "gradient of layer 1 sum",
      "gradient of layer 1 active",
      "gradient of layer 1 biased",
      "gradient of layer 1 bias",
      "gradient of layer 1 up",
      "gradient of layer 1 weights",
      "output",
    ]);
    expect(named(graph, "gradient of layer 2 biased").isFused).toBe(true);
    expect(named(graph, "gradient of layer 2 up").isFused).toBe(false);
    const classOf = (name: string): number => graph.classes[names(graph).indexOf(name)] as number;
    for (const what of ["active", "biased", "up", "bias", "weights"]) {
      expect(classOf(`gradient of layer 1 ${what}`)).toBe(classOf(`gradient of layer 2 ${what}`));
    }
    // numbers come without a gap, in order
    const first = [...new Set(graph.classes)];
    expect(first).toEqual(first.map((_, i) => i));
    expect(graph.gradients.map(({ parameter }) => graph.nodes[parameter]?.name)).toEqual([
      "layer 1 weights",
      "layer 1 bias",
      "layer 2 weights",
      "layer 2 bias",
    ]);
  });

  it("give a tensor of several consumers one sum", () => {
    const builder = graphBuilder(4);
    const a = builder.dimension("a", 3);
    const p = builder.placeholder("p", "parameter", [a]);
    const parts = ["tanh", "exp", "silu"].map((of) => builder.apply(of, of, [p]));
    const graph = withGradients(
      builder.graph("three", [builder.apply("all", "multiply", [parts[0] as number, p]), ...parts]),
    );
    const sum = named(graph, "gradient of p");
    expect(sum).toMatchObject({ kind: "elementwise", function: "add" });
    expect(operandsOf(sum).length).toBe(4);
  });

  it("are none where no parameter is behind, nor where it only says what goes where", () => {
    const builder = graphBuilder(4);
    const a = builder.dimension("a", 3);
    const b = builder.dimension("b", 2);
    const x = builder.placeholder("x", "input", [a]);
    const which = builder.placeholder("which", "parameter", [a, b]);
    const there = builder.select("there", [which, builder.apply("y", "tanh", [x])], [b]);
    const graph = withGradients(builder.graph("none", [there]));
    expect(graph.gradients).toEqual([]);
    expect(graph.nodes.length).toBe(5);
  });

  it("are refused where a function has none, or a diagonal is taken", () => {
    const builder = graphBuilder(4);
    const a = builder.dimension("a", 3);
    const b = builder.dimension("b", 3);
    const p = builder.placeholder("p", "parameter", [a, b]);
    const g = builder.apply("slope", "gelu-gradient", [p, p]);
    expect(() => withGradients(builder.graph("second", [g]))).toThrow(
      'the function of node slope is "gelu-gradient"; it must be a function with a gradient, for parameters are behind it',
    );
    const other = graphBuilder(4);
    const c = other.dimension("c", 3);
    const d = other.dimension("d", 3);
    const q = other.placeholder("q", "parameter", [c, d]);
    const trace = other.einsum("trace", [{ node: q, dims: [c, c] }], []);
    expect(() => withGradients(other.graph("diagonal", [trace]))).toThrow(
      "node trace sees two dimensions of q as one; gradients go only where each is seen as another",
    );
  });
});
