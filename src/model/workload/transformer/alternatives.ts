import { unlessRefused } from "../../../base/errors.ts";
import type { Alternative } from "../memory.ts";
import type { Parallelism } from "../parallelism.ts";
import { transformerStep } from "../transformer.ts";
import type { TransformerConfig } from "./config.ts";
import type { TransformerOptions } from "./options.ts";

/**
 * Returns what takes less memory on as many NPUs, what changes least first: less kept of activations, smaller micro batches, more
 * shared among copies, wider tensor parallelism, more stages, and pairs of the first with the others. Only what divides.
 */
export function smallerSteps(config: TransformerConfig, options: TransformerOptions): Alternative[] {
  const single = changesOf(options);
  const pairs = single.flatMap((first, i) =>
    single.slice(i + 1).flatMap((second) => {
      if (first.key === second.key) return [];
      const both = second.of(first.of(options));
      return [{ what: `${first.what} and ${second.what}`, options: both }];
    }),
  );
  const all = [...single.map(({ what, of }) => ({ what, options: of(options) })), ...pairs];
  return all.flatMap(({ what, options: changed }) => {
    const step = unlessRefused(() => transformerStep(config, changed));
    return step === null ? [] : [{ what, step }];
  });
}

interface Change {
  readonly what: string;
  /** Changes of one kind exclude each other. */
  readonly key: string;
  readonly of: (options: TransformerOptions) => TransformerOptions;
}

function changesOf(options: TransformerOptions): Change[] {
  const { parallelism, recompute, microBatch, flash, pass } = options;
  const { tensor, data, pipeline, zero } = parallelism;
  const changes: Change[] = [];
  const add = (key: string, what: string, of: Partial<TransformerOptions>): void => {
    changes.push({ key, what, of: (before) => ({ ...before, ...of }) });
  };
  const split = (key: string, what: string, of: Partial<Parallelism>): void => {
    const change = (before: TransformerOptions): TransformerOptions => ({
      ...before,
      layersPerPart: null,
      parallelism: { ...before.parallelism, ...of },
    });
    changes.push({ key, what, of: change });
  };
  if (pass === "train") {
    if (!parallelism.sequence && tensor > 1) split("sequence", "sequence parallelism", { sequence: true });
    if (recompute === "none" && !flash) add("recompute", "selective recomputation", { recompute: "selective" });
    if (recompute !== "full") add("recompute", "full recomputation", { recompute: "full" });
  }
  if (microBatch > 1 && microBatch % 2 === 0)
    add("micro batch", `micro batches of ${microBatch / 2}`, { microBatch: microBatch / 2 });
  if (data > 1 && pass === "train") {
    for (const stage of [1, 2, 3] as const) if (stage > zero) split("zero", `ZeRO ${stage}`, { zero: stage });
  }
  if (data % 2 === 0) {
    split("mesh", `tp ${2 * tensor} and dp ${data / 2}`, { tensor: 2 * tensor, data: data / 2 });
    split("mesh", `pp ${2 * pipeline} and dp ${data / 2}`, { pipeline: 2 * pipeline, data: data / 2 });
  }
  if (data % 4 === 0) split("mesh", `tp ${4 * tensor} and dp ${data / 4}`, { tensor: 4 * tensor, data: data / 4 });
  if (data % 8 === 0) split("mesh", `tp ${8 * tensor} and dp ${data / 8}`, { tensor: 8 * tensor, data: data / 8 });
  return changes;
}
