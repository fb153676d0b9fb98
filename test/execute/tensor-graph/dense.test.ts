import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { computeNode, type DenseTensor, runDense } from "../../../src/execute/tensor-graph/dense.ts";
import { POINTWISE, WHOLE } from "../../../src/execute/tensor-graph/functions.ts";
import { graphBuilder } from "../../../src/model/tensor-graph/builder.ts";
import type { Einsum } from "../../../src/model/tensor-graph/graph.ts";

const SIZES = [2, 3, 2, 3];
const dimensions = SIZES.map((size, i) => ({ name: "abcd"[i] as string, size }));

/** All indices along some dimensions, each as a map from dimension to index. */
function indices(dims: readonly number[]): Map<number, number>[] {
  const [first, ...rest] = dims;
  if (first === undefined) return [new Map()];
  return Array.from({ length: SIZES[first] as number }, (_, i) =>
    indices(rest).map((one) => new Map([[first, i], ...one])),
  ).flat();
}

/** The element at an index, by Horner's rule along the tensor's dimensions. */
const elementAt = (data: Float64Array, seen: readonly number[], index: ReadonlyMap<number, number>): number =>
  data[seen.reduce((at, dim) => at * (SIZES[dim] as number) + (index.get(dim) as number), 0)];

const subset = fc.shuffledSubarray([0, 1, 2, 3]);
const label = (dims: readonly number[]): Einsum => ({
  kind: "einsum",
  name: "e",
  dims,
  elementBytes: 8,
  phase: "forward",
  isFused: false,
  selects: false,
  operands: [],
});

describe("graphs on whole tensors", () => {
  it("do einsums as they are defined, whatever the order of dimensions", () => {
    fc.assert(
      fc.property(fc.array(subset, { minLength: 1, maxLength: 3 }), subset, (seen, dims) => {
        const tensors = seen.map((of, k): DenseTensor => {
          const data = indices(of).map((_, i) => Math.sin(1 + i * (k + 1)));
          return { dims: of, data: Float64Array.from(data) };
        });
        const node = { ...label(dims), operands: seen.map((of, k) => ({ node: k, dims: of })) };
        const summed = [0, 1, 2, 3].filter((dim) => seen.some((of) => of.includes(dim)) && !dims.includes(dim));
        const expected = indices(dims).map((outer) =>
          indices(summed).reduce((sum, inner) => {
            const index = new Map([...outer, ...inner]);
            return sum + tensors.reduce((product, { data }, k) => product * elementAt(data, seen[k] ?? [], index), 1);
          }, 0),
        );
        const { data } = computeNode({ dimensions }, node, tensors);
        expect(data.length).toBe(expected.length);
        data.forEach((value, i) => {
          expect(value).toBeCloseTo(expected[i] as number, 12);
        });
      }),
    );
  });

  it("take a diagonal, and sum it", () => {
    const node = { ...label([]), operands: [{ node: 0, dims: [1, 1] }] };
    const square = { dims: [1, 3], data: Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9) };
    expect([...computeNode({ dimensions }, node, [square]).data]).toEqual([15]);
  });

  it("reduce, repeat, and take what is given in any order of dimensions", () => {
    const builder = graphBuilder(8);
    const a = builder.dimension("a", 2);
    const b = builder.dimension("b", 3);
    const x = builder.placeholder("x", "input", [a, b]);
    const sums = builder.reduce("sums", "sum", x, [b]);
    const most = builder.reduce("most", "max", x, [a]);
    const outer = builder.apply("outer", "subtract", [most, sums], { dims: [a, b] });
    const graph = builder.graph("reductions", [outer]);
    const given = { dims: [b, a], data: Float64Array.of(1, -4, 2, 5, -3, 6) };
    const tensors = runDense(graph, new Map([[x, given]]));
    expect([...(tensors[x] as DenseTensor).data]).toEqual([1, 2, -3, -4, 5, 6]);
    expect([...(tensors[sums] as DenseTensor).data]).toEqual([0, 7]);
    expect([...(tensors[most] as DenseTensor).data]).toEqual([1, 5, 6]);
    expect([...(tensors[outer] as DenseTensor).data]).toEqual([1, 5, 6, -6, -2, -1]);
    expect(tensors[tensors.length - 1]).toBe(null);
  });

  it("say what is not given, and which function is none", () => {
    const builder = graphBuilder(8);
    const a = builder.dimension("a", 2);
    const x = builder.placeholder("x", "input", [a]);
    const graph = builder.graph("one", [builder.apply("y", "sinh", [x])]);
    expect(() => runDense(graph, new Map())).toThrow("the tensor x lacks 2 numbers along a");
    const long = { dims: [a], data: new Float64Array(3) };
    expect(() => runDense(graph, new Map([[x, long]]))).toThrow(
      "the tensor x has 3 numbers along a; it needs 2 numbers along a",
    );
    const right = { dims: [a], data: new Float64Array(2) };
    expect(() => runDense(graph, new Map([[x, right]]))).toThrow('the function of node y is "sinh"; it must be one of');
  });

  it("know the error function to the last digits", () => {
    // by mpmath with 40 digits
    const known = [
      [1, 0.8413447460685429],
      [-1, -0.15865525393145705],
      [3, 2.99595030590511],
      [-5, -1.4332578593959695e-6],
      [0.01, 0.005039893563146316],
    ] as const;
    const gelu = POINTWISE.get("gelu") as (values: number[], constant: number) => number;
    for (const [x, value] of known) expect(Math.abs(gelu([x], 0) - value)).toBeLessThan(2e-16 * (1 + 4 * Math.abs(x)));
  });

  it("lose nothing in softmax and cross-entropy of great numbers", () => {
    const of = (name: string, ...operands: readonly (readonly number[])[]): Float64Array | undefined =>
      WHOLE.get(name)?.of(
        operands.map((one) => Float64Array.from(one)),
        [3],
        0,
      );
    const e = Math.E;
    const sum = 1 + e + e * e;
    expect([...(of("softmax", [1000, 1001, 1002]) as Float64Array)]).toEqual(
      [1, e, e * e].map((x) => expect.closeTo(x / sum, 14)),
    );
    expect((of("cross-entropy", [1000, 1001, 1002], [0, 0, 0]) as Float64Array)[0]).toBeCloseTo(Math.log(sum), 12);
    // a query that sees no key at all
    expect([...(of("causal-softmax", [1, 2, 3], [0, 0, 0], [1, 2, 3]) as Float64Array)]).toEqual([0, 0, 0]);
  });
});
