import type { Communication, Computation, LayerWork, Pass } from "../../../src/model/workload/layer-work.ts";
import { modelNamed } from "../../../src/model/workload/models.ts";
import { ALONE, npusOf, type Parallelism } from "../../../src/model/workload/parallelism.ts";
import type { TrainingStep } from "../../../src/model/workload/training-step.ts";
import type { TransformerConfig } from "../../../src/model/workload/transformer/config.ts";
import { defaultOptions, type TransformerOptions } from "../../../src/model/workload/transformer/options.ts";

/** Returns a transformer of the catalogue. */
export function transformerNamed(name: string): TransformerConfig {
  const { sizes } = modelNamed(name);
  if (sizes.kind !== "transformer") throw new Error(`${name} is no transformer`);
  return sizes.config;
}

/** Returns options with a parallelism of which only some factors are said. */
export function optionsOf(
  config: TransformerConfig,
  {
    parallelism,
    ...more
  }: Partial<Omit<TransformerOptions, "parallelism">> & { parallelism?: Partial<Parallelism> } = {},
): TransformerOptions {
  return { ...defaultOptions(config), ...more, parallelism: { ...ALONE, ...parallelism } };
}

export const computationsOf = ({ parts }: Pass): Computation[] =>
  parts.flatMap((part) => ("computation" in part ? [part.computation] : []));

export const communicationsOf = ({ parts }: Pass): Communication[] =>
  parts.flatMap((part) => ("communication" in part ? [part.communication] : []));

/** Returns the layers of one NPU of every stage, one by one. */
export const layersOf = ({ stages }: TrainingStep): LayerWork[] =>
  stages.flat().flatMap(({ layer, count }) => Array.from({ length: count }, () => layer));

/** Returns the operations of a step, over all NPUs and micro batches, but for attention kernels. */
export function operationsOf(step: TrainingStep): number {
  const each = layersOf(step)
    .flatMap(({ forward, backward }) => [...computationsOf(forward), ...computationsOf(backward)])
    .reduce((sum, { flops }) => sum + flops, 0);
  return (each * npusOf(step.parallelism) * step.microBatches) / step.parallelism.pipeline;
}
