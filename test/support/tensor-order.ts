import type { DenseTensor } from "../../src/execute/tensor-graph/dense.ts";
import type { TensorGraph } from "../../src/model/tensor-graph/graph.ts";

/** Returns the numbers of a tensor as another order of its dimensions has them; those that it lacks have size 1. */
export function inOrder(graph: TensorGraph, { dims, data }: DenseTensor, order: readonly number[]): number[] {
  const size = (dim: number): number => graph.dimensions[dim]?.size as number;
  const stride = (dim: number): number =>
    dims.includes(dim) ? dims.slice(dims.indexOf(dim) + 1).reduce((all, one) => all * size(one), 1) : 0;
  let places = [0];
  for (const dim of order)
    places = places.flatMap((at) => Array.from({ length: size(dim) }, (_, i) => at + i * stride(dim)));
  return places.map((at) => data[at] as number);
}
