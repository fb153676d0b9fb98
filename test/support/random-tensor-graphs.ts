import fc from "fast-check";
import { graphBuilder, type Taken } from "../../src/model/tensor-graph/builder.ts";
import { DROPPED, type TensorGraph } from "../../src/model/tensor-graph/graph.ts";

/** What one node is made of: numbers that are taken modulo what there is. */
interface Draw {
  readonly kind: number;
  readonly of: number;
  readonly operands: readonly [number, number, number];
  /** Bits: which dimensions are kept, repeated, seen as their twins. */
  readonly keeps: number;
  readonly twins: number;
}

const draw: fc.Arbitrary<Draw> = fc.record({
  kind: fc.nat(9),
  of: fc.nat(30),
  operands: fc.tuple(fc.nat(30), fc.nat(30), fc.nat(30)),
  keeps: fc.nat(63),
  twins: fc.nat(63),
});

/** Dimensions, and by which other of the same size a node may see each. */
const SIZES = [2, 3, 2, 3, 1] as const;
const TWIN = [2, 3, 0, 1, 4] as const;
const UNIT = 4;
const SMOOTH = ["tanh", "gelu", "gelu-tanh", "silu", "sigmoid", "square", "copy", "negate", "scale", "shift"] as const;
const OF_TWO = ["add", "subtract", "multiply"] as const;
const ALONG = ["softmax", "rms-norm", "layer-norm"] as const;

const chosen = (dims: readonly number[], bits: number): number[] => dims.filter((dim) => (bits >> dim) & 1);

/**
 * Small graphs of einsums of one to three operands, elementwise nodes and reductions on shared tensors, which see dimensions as
 * others, drop those of size 1, repeat, and sum.
 */
export const randomTensorGraphs: fc.Arbitrary<TensorGraph> = fc
  .tuple(
    fc.array(fc.nat(31), { minLength: 3, maxLength: 4 }),
    fc.array(draw, { minLength: 1, maxLength: 7 }),
    fc.nat(30),
  )
  .map(([placeholders, draws, alsoOut]) => {
    const builder = graphBuilder(4);
    for (const [i, size] of SIZES.entries()) builder.dimension("abcde"[i] as string, size);
    const all = [0, 1, 2, 3, 4];
    const nodes = placeholders.map((bits, k) =>
      builder.placeholder(`p${k}`, k === 0 ? "input" : "parameter", chosen(all, bits)),
    );
    const count = nodes.length;
    draws.forEach(({ kind, of, operands, keeps, twins }, i) => {
      const name = `n${i}`;
      const taken = (k: number): Exclude<Taken, number> => {
        const node = nodes[(operands[k] as number) % nodes.length] as number;
        const turn = (dim: number): number =>
          (twins >> (2 * k + (dim % 2))) & 1 && dim !== UNIT ? (TWIN[dim] as number) : dim;
        const drops = (twins >> 5) & 1;
        return { node, dims: builder.dimsOf(node).map((dim) => (dim === UNIT && drops ? DROPPED : turn(dim))) };
      };
      const seen = (takens: readonly Exclude<Taken, number>[]): number[] =>
        all.filter((dim) => takens.some(({ dims }) => dims.includes(dim)));
      const more = (dims: readonly number[]): number[] =>
        all.filter((dim) => dims.includes(dim) || (keeps >> 5 && dim === keeps % 5));
      if (kind < 4) {
        const takens = [taken(0), taken(1), taken(2)].slice(0, 1 + (of % 3));
        nodes.push(builder.einsum(name, takens, more(chosen(seen(takens), keeps))));
      } else if (kind === 4) {
        // the input says what goes where
        const takens = [{ node: 0, dims: builder.dimsOf(0) }, taken(1)];
        nodes.push(builder.select(name, takens, chosen(seen(takens), keeps)));
      } else if (kind < 7) {
        const two = kind === 6;
        const takens = two ? [taken(0), taken(1)] : [taken(0)];
        const what = two ? OF_TWO[of % OF_TWO.length] : SMOOTH[of % SMOOTH.length];
        nodes.push(builder.apply(name, what as string, takens, { dims: more(seen(takens)), constant: 0.7 }));
      } else if (kind === 7) {
        const takens = [taken(0)];
        const dims = more(seen(takens));
        const whole = chosen(dims, of);
        nodes.push(builder.apply(name, ALONG[of % 3] as string, takens, { dims, whole, constant: 0.2 }));
      } else {
        const operand = taken(0);
        nodes.push(builder.reduce(name, kind === 8 ? "sum" : "max", operand, chosen(seen([operand]), keeps)));
      }
    });
    const last = nodes[nodes.length - 1] as number;
    return builder.graph("random", [last, nodes[count + (alsoOut % (nodes.length - count))] as number]);
  });
