import { type Experts, LLAMA_LIKE, type TransformerConfig } from "./config.ts";
import type { ListedTransformer } from "./dense-models.ts";

const NO_EXTRAS = { sharedFfn: 0, sharedGate: false, firstDense: 0, every: 1, routerBias: false } as const;

const experts = (count: number, perToken: number, ffn: number, more: Partial<Experts> = {}): Experts => ({
  ...NO_EXTRAS,
  count,
  perToken,
  ffn,
  ...more,
});

/** Buckets of relative positions of a side of T5. */
const T5_BUCKETS = 32;

/**
 * A Switch Transformer: T5's encoder and decoder with `experts` in every n-th block (Fedus et al. 2021). Experts are of two
 * matrices, as the published checkpoints have them; the paper's table 9 has three of two thirds of the width, which are as many
 * parameters and operations. `every` 1: all.
 */
function switchModel(
  name: string,
  [layers, hidden, heads, ffn]: readonly [number, number, number, number],
  count: number,
  every: number,
): ListedTransformer {
  const config: TransformerConfig = {
    ...LLAMA_LIKE,
    name,
    layers,
    encoderLayers: layers,
    hidden,
    heads,
    kvHeads: heads,
    headSize: 64,
    ffn,
    gated: false,
    vocabulary: 32128,
    tied: true,
    relativePositions: 2 * T5_BUCKETS * heads,
    dropout: true,
    experts: count === 0 ? null : experts(count, 1, ffn, { every }),
    sequence: 512,
  };
  return { config, source: "Fedus et al. 2021, table 9; flaxformer's configurations; sequences of 512 as T5's" };
}

const BASE = [12, 768, 12, 3072] as const;
const LARGE = [24, 1024, 16, 4096] as const;

const DEEPSEEK_LATENT = { queryRank: 1536, keyValueRank: 512, plainSize: 128, rotarySize: 64, valueSize: 128 } as const;

const qwen3 = { kvHeads: 4, headSize: 128, vocabulary: 151936, headNorms: true, sequence: 4096 } as const;
const gptOss = {
  hidden: 2880,
  heads: 64,
  kvHeads: 8,
  headSize: 64,
  ffn: 2880,
  vocabulary: 201088,
  biases: { qkv: true, output: true, ffn: true },
  sinks: true,
  window: 128,
  fullEvery: 2,
  sequence: 4096,
} as const;

export const EXPERT_MODELS: readonly ListedTransformer[] = [
  {
    config: {
      ...LLAMA_LIKE,
      ...{ name: "mixtral-8x7b", layers: 32, hidden: 4096, heads: 32, kvHeads: 8, headSize: 128, ffn: 14336 },
      ...{ vocabulary: 32000, experts: experts(8, 2, 14336), sequence: 4096 },
    },
    source: "Jiang et al. 2024, table 1; its config.json",
  },
  {
    config: {
      ...LLAMA_LIKE,
      ...{ name: "mixtral-8x22b", layers: 56, hidden: 6144, heads: 48, kvHeads: 8, headSize: 128, ffn: 16384 },
      ...{ vocabulary: 32000, experts: experts(8, 2, 16384), sequence: 4096 },
    },
    source: "its config.json (v0.1)",
  },
  {
    config: {
      ...LLAMA_LIKE,
      ...{ name: "deepseek-v3", layers: 61, hidden: 7168, heads: 128, kvHeads: 128, headSize: 192, ffn: 18432 },
      ...{ vocabulary: 129280, latent: DEEPSEEK_LATENT, sequence: 4096 },
      experts: experts(256, 8, 2048, { sharedFfn: 2048, firstDense: 3, routerBias: true }),
    },
    aliases: ["deepseek-r1", "deepseek-v3-671b"],
    source: "DeepSeek-V3 report 2024, 4.2; its config.json; without the module that predicts further tokens",
  },
  {
    config: {
      ...LLAMA_LIKE,
      ...{ name: "deepseek-v2", layers: 60, hidden: 5120, heads: 128, kvHeads: 128, headSize: 192, ffn: 12288 },
      ...{ vocabulary: 102400, latent: DEEPSEEK_LATENT, sequence: 4096 },
      experts: experts(160, 6, 1536, { sharedFfn: 2 * 1536, firstDense: 1 }),
    },
    source: "DeepSeek-V2 report 2024, 3.1; its config.json",
  },
  {
    config: {
      ...LLAMA_LIKE,
      ...{ name: "kimi-k2", layers: 61, hidden: 7168, heads: 64, kvHeads: 64, headSize: 192, ffn: 18432 },
      ...{ vocabulary: 163840, latent: DEEPSEEK_LATENT, sequence: 4096 },
      experts: experts(384, 8, 2048, { sharedFfn: 2048, firstDense: 1, routerBias: true }),
    },
    source: "Kimi K2 report 2025, table 2; its config.json",
  },
  {
    config: {
      ...LLAMA_LIKE,
      ...qwen3,
      ...{ name: "qwen3-30b-a3b", layers: 48, hidden: 2048, heads: 32, ffn: 6144, experts: experts(128, 8, 768) },
    },
    source: "Qwen3 report 2025, table 2; its config.json",
  },
  {
    config: {
      ...LLAMA_LIKE,
      ...qwen3,
      ...{ name: "qwen3-235b-a22b", layers: 94, hidden: 4096, heads: 64, ffn: 12288, experts: experts(128, 8, 1536) },
    },
    source: "Qwen3 report 2025, table 2; its config.json",
  },
  {
    config: {
      ...LLAMA_LIKE,
      ...gptOss,
      name: "gpt-oss-120b",
      layers: 36,
      experts: experts(128, 4, 2880, { routerBias: true }),
    },
    source: "gpt-oss model card 2025, table 1; its config.json",
  },
  {
    config: {
      ...LLAMA_LIKE,
      ...gptOss,
      name: "gpt-oss-20b",
      layers: 24,
      experts: experts(32, 4, 2880, { routerBias: true }),
    },
    source: "gpt-oss model card 2025, table 1; its config.json",
  },
  switchModel("t5-base", BASE, 0, 1),
  switchModel("switch-base-8", BASE, 8, 2),
  switchModel("switch-base-16", BASE, 16, 2),
  switchModel("switch-base-32", BASE, 32, 2),
  switchModel("switch-base-64", BASE, 64, 2),
  switchModel("switch-base-128", BASE, 128, 2),
  switchModel("switch-base-256", BASE, 256, 2),
  switchModel("switch-large-128", LARGE, 128, 2),
  switchModel("switch-c-2048", [15, 2080, 32, 6144], 2048, 1),
];
