import { InputError } from "../../../base/errors.ts";
import { graphBuilder } from "../builder.ts";
import type { TensorGraph } from "../graph.ts";

/**
 * Returns a perceptron of so many numbers between products: `widths[0]` of each of `batch` samples come in; behind every product
 * but the last a ReLU. No biases. Its output is what the last product makes. Throws InputError for fewer than two widths.
 */
export function mlpGraph(widths: readonly number[], batch: number, elementBytes = 2): TensorGraph {
  if (widths.length < 2) throw new InputError("the number of widths of a perceptron", "2 or more", widths.length);
  const builder = graphBuilder(elementBytes);
  const samples = builder.dimension("samples", batch);
  let width = builder.dimension("width 0", widths[0] as number);
  let last = builder.placeholder("x", "input", [samples, width]);
  widths.slice(1).forEach((size, i) => {
    const next = builder.dimension(`width ${i + 1}`, size);
    const part = builder.part(`layer ${i + 1}`, `layer ${i + 1}`);
    const weights = part.placeholder("weights", "parameter", [width, next]);
    last = part.einsum("product", [last, weights], [samples, next]);
    if (i < widths.length - 2) last = part.apply("relu", "relu", [last]);
    width = next;
  });
  return builder.graph("perceptron", [last]);
}
