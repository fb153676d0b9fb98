import { InputError } from "../../../base/errors.ts";
import { BYTES_OF, type Precision } from "../accelerators.ts";
import { backwardPass, forwardPass, type Operation, type Product, type ProductBytes } from "../operations.ts";
import { npusOf, type Parallelism } from "../parallelism.ts";
import { type LocalLayer, type Optimizer, optimizerBytes, sharedLayers } from "../sharing.ts";
import type { TrainingStep } from "../training-step.ts";
import { activationBytes } from "../transformer/options.ts";

/** How a network that is a table of layers is trained: copies of it, each with its part of the batch. */
export interface TableOptions {
  readonly parallelism: Parallelism;
  /** Samples of a step, over all copies. */
  readonly batch: number;
  readonly precision: Precision;
  readonly optimizer: Optimizer;
  /** Of a gradient, kept and sent. */
  readonly gradientBytes: number;
  /** Of sums of gradients; Infinity: all at once when the last is there, as Themis (2022, 6.2) has it. */
  readonly bucketBytes: number;
}

/** A layer of the table for the samples of one NPU. */
export interface TableLayer {
  readonly name: string;
  readonly products: readonly Product[];
  /** Numbers read and written by all that is no product, forward; backward 1.5 times as many. */
  readonly streamed: number;
  readonly parameters: number;
  /** Numbers kept for the backward pass. */
  readonly kept: number;
}

export const productBytes = ({ precision, gradientBytes }: TableOptions): ProductBytes => ({
  factor: BYTES_OF[precision],
  result: activationBytes(precision),
  gradient: gradientBytes,
});

/** Returns the samples of one NPU. Throws InputError where copies are no whole of the NPUs, or do not divide the batch. */
export function samplesEach({ parallelism, batch }: TableOptions, name: string): number {
  const { data } = parallelism;
  const all = npusOf(parallelism);
  if (data !== all) {
    throw new InputError("dp", `${all}, all NPUs, for ${name} is trained in copies only`, data).as("not-together");
  }
  if (!Number.isSafeInteger(batch) || batch < 1 || batch % data !== 0) {
    const near = [Math.floor(batch / data), Math.ceil(batch / data)].filter((n) => n > 0).map((n) => n * data);
    throw new InputError(
      "the batch",
      `a multiple of the ${data} copies of ${name}, such as ${[...new Set(near)].join(" or ")}`,
      batch,
    );
  }
  return batch / data;
}

/** Returns the operations of a layer: its products, then what else goes through memory. */
export function operationsOf({ name, products, streamed }: TableLayer, bytes: number): Operation[] {
  const of = (what: string, numbers: number) => ({
    name: what,
    kind: "memory" as const,
    flops: 0,
    bytes: numbers * bytes,
  });
  const rest: Operation = {
    kind: "kernel",
    forward: of(`${name}: norms, activations`, streamed),
    backward: of(`${name}: their gradients`, 1.5 * streamed),
    again: false,
  };
  return [...products.map((product): Operation => ({ kind: "product", product })), ...(streamed > 0 ? [rest] : [])];
}

/** Returns a layer of the table as one NPU's work. */
export function localLayer(layer: TableLayer, options: TableOptions): LocalLayer {
  const bytes = activationBytes(options.precision);
  const operations = operationsOf(layer, bytes);
  const size = productBytes(options);
  return {
    name: layer.name,
    forward: forwardPass(operations, size),
    backward: backwardPass(operations, size, "none"),
    dense: layer.parameters,
    experts: 0,
    activations: layer.kept * bytes,
    working: 0,
  };
}

/** Returns the step of layers that every copy has whole. `flops` are the model's for one sample, forward. O(layers). */
export function copiedStep(
  name: string,
  layers: readonly LocalLayer[],
  options: TableOptions,
  [tokens, flops]: readonly [number, number],
): TrainingStep {
  const { parallelism, batch, precision, optimizer, gradientBytes, bucketBytes } = options;
  const weight = activationBytes(precision);
  const bytes = { weight, gradient: gradientBytes, optimizer: optimizerBytes(optimizer, weight) };
  return {
    name,
    parallelism,
    microBatches: 1,
    order: "1f1b",
    overlapped: false,
    trains: true,
    stages: sharedLayers([layers], { parallelism, bytes, bucketBytes, trains: true }),
    boundaryBytes: 0,
    samples: batch,
    tokens: batch * tokens,
    modelFlops: 3 * flops * batch,
  };
}

/** Returns the operations of a product, forward. */
export const productFlops = ({ rows, inner, columns, count }: Product): number => 2 * rows * inner * columns * count;
