import { unlessRefused } from "../../../base/errors.ts";
import { BYTES_OF } from "../accelerators.ts";
import type { Alternative } from "../memory.ts";
import { npusOf, type Parallelism } from "../parallelism.ts";
import { transformerStep } from "../transformer.ts";
import type { TransformerConfig } from "./config.ts";
import type { TransformerOptions } from "./options.ts";

/**
 * Returns what takes less memory, what changes least first: less kept of activations, smaller micro batches, more shared among
 * copies, wider tensor parallelism, more stages, pairs of these, of inference fewer sequences or weights of 8 bits; then the same on
 * more NPUs. Only what divides.
 */
export function smallerSteps(config: TransformerConfig, options: TransformerOptions): Alternative[] {
  const single = changesOf(options);
  const pairs = single.flatMap((first, i) =>
    single.slice(i + 1).flatMap((second) => (first.key === second.key ? [] : [[first, second]])),
  );
  const all = [...single.map((one) => [one]), ...pairs, ...moreNpus(options).map((one) => [one])];
  return all.flatMap((changes) => {
    const changed = changes.reduce((before, { of }) => of(before), options);
    const step = unlessRefused(() => transformerStep(config, changed));
    return step === null ? [] : [{ changes: changes.map(({ what }) => what), step }];
  });
}

interface Change {
  readonly what: string;
  /** Changes of one kind exclude each other. */
  readonly key: string;
  readonly of: (options: TransformerOptions) => TransformerOptions;
}

/** Returns the same with more NPUs: wider tensor parallelism, then more stages. */
function moreNpus({ parallelism }: TransformerOptions): Change[] {
  const npus = npusOf(parallelism);
  const { tensor, pipeline } = parallelism;
  return [2, 4, 8, 16].flatMap((times) => {
    const grown = (what: string, of: Partial<Parallelism>): Change => ({
      what: `${what} on ${times * npus} NPUs`,
      key: "more NPUs",
      of: (before) => ({ ...before, layersPerPart: null, parallelism: { ...before.parallelism, ...of } }),
    });
    return [
      grown(`tp ${times * tensor}`, { tensor: times * tensor }),
      grown(`pp ${times * pipeline}`, { pipeline: times * pipeline }),
    ];
  });
}

function changesOf(options: TransformerOptions): Change[] {
  const { parallelism, recompute, microBatch, batch, flash, pass, precision } = options;
  const { tensor, context, data, pipeline, zero } = parallelism;
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
  if (pass !== "train") {
    const half = { batch: batch / 2, microBatch: Math.min(microBatch, batch / 2 / data) };
    add("batch", `a batch of ${batch / 2}`, half);
    if (BYTES_OF[precision] === 2) add("precision", "weights of 8 bits", { precision: "fp8" });
  }
  if (data * context > 1 && pass === "train") {
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
