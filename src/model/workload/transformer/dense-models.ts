import { GPT_LIKE, LLAMA_LIKE, type TransformerConfig } from "./config.ts";

/** A transformer of the catalogue: other names, and where its sizes are printed. */
export interface ListedTransformer {
  readonly config: TransformerConfig;
  readonly aliases?: readonly string[];
  readonly source: string;
}

type Sizes = Pick<TransformerConfig, "name" | "layers" | "hidden" | "heads" | "vocabulary" | "sequence">;

/** A decoder as GPT-2's: heads share the hidden size, blocks are four times as wide, positions are as many as tokens. */
function gptLike(sizes: Sizes): TransformerConfig {
  const { hidden, heads, sequence } = sizes;
  return { ...GPT_LIKE, ...sizes, kvHeads: heads, headSize: hidden / heads, ffn: 4 * hidden, positions: sequence };
}

/** A decoder as Llama's; heads share the hidden size unless said otherwise. */
function llamaLike(
  sizes: Sizes & Pick<TransformerConfig, "kvHeads" | "ffn"> & Partial<TransformerConfig>,
): TransformerConfig {
  return { ...LLAMA_LIKE, headSize: sizes.hidden / sizes.heads, ...sizes };
}

const NANOGPT = "Radford et al. 2019, table 2; nanoGPT's model.py";
const KORTHIKANTI = "Korthikanti et al. 2022, table 3";
const LLAMA2 = "Touvron et al. 2023 (Llama 2); its config.json";
const LLAMA3 = "Dubey et al. 2024 (Llama 3), table 3; its config.json";
const GEMMA2 = "Gemma 2 report 2024, table 1; its config.json";
const MPT = "MosaicML's llm-foundry, scripts/train/yamls/pretrain";
const QWEN = "its config.json";

const gpt2 = (name: string, layers: number, hidden: number, heads: number): ListedTransformer => ({
  config: gptLike({ name, layers, hidden, heads, vocabulary: 50257, sequence: 1024 }),
  source: NANOGPT,
});

const megatron = (
  name: string,
  layers: number,
  hidden: number,
  heads: number,
  ...aliases: string[]
): ListedTransformer => ({
  config: gptLike({ name, layers, hidden, heads, vocabulary: 51200, sequence: 2048 }),
  aliases,
  source: KORTHIKANTI,
});

/** As llm-foundry counts its parameters: with biases and learned positions. It trains without dropout. */
const mpt = (size: string, layers: number, hidden: number, heads: number): ListedTransformer => ({
  config: {
    ...gptLike({ name: `mpt-${size}`, layers, hidden, heads, vocabulary: 50368, sequence: 2048 }),
    dropout: false,
  },
  source: MPT,
});

const llama3 = { vocabulary: 128256, kvHeads: 8, sequence: 8192 } as const;
const gemma2 = {
  vocabulary: 256000,
  tied: true,
  normsPerLayer: 4,
  window: 4096,
  fullEvery: 2,
  sequence: 8192,
} as const;

/**
 * The group of Themis and TACOS has two layers of it in a public table of LIBRA (Won et al. 2024, inputs/workload/MSFT_1T.txt):
 * gradients of 226,492,416 bytes on one of 128 NPUs are two layers of hidden size 24,576, and operations of scores are those of
 * 1,024 tokens. The number of layers is printed nowhere: 138 make a trillion parameters. Heads are chosen so that 128 NPUs divide them.
 */
const msft1t: ListedTransformer = {
  config: gptLike({ name: "msft-1t", layers: 138, hidden: 24576, heads: 128, vocabulary: 51200, sequence: 1024 }),
  aliases: ["transformer-1t"],
  source: "LIBRA (Won et al. 2024), MSFT_1T.txt; 138 layers and 128 heads are chosen",
};

/** BERT for masked words: embeddings with segments and a norm, layers, and a head of a product, a norm and a bias. */
function bert(name: string, layers: number, hidden: number, heads: number): ListedTransformer {
  const sizes = { name, layers, hidden, heads, vocabulary: 30522, sequence: 512 };
  return {
    config: {
      ...gptLike(sizes),
      causal: false,
      finalNorm: false,
      extraParameters: 2 * hidden + hidden * hidden + hidden + 2 * hidden + sizes.vocabulary,
    },
    source: "Devlin et al. 2019, section 3; its config.json",
  };
}

export const DENSE_MODELS: readonly ListedTransformer[] = [
  { ...gpt2("gpt2-small", 12, 768, 12), aliases: ["gpt2"] },
  gpt2("gpt2-medium", 24, 1024, 16),
  gpt2("gpt2-large", 36, 1280, 20),
  gpt2("gpt2-xl", 48, 1600, 25),
  megatron("megatron-22b", 48, 6144, 64),
  megatron("gpt3-175b", 96, 12288, 96, "gpt3", "gpt-3", "gpt-3-175b"),
  megatron("mt-nlg-530b", 105, 20480, 128, "turing-530b", "megatron-turing-530b"),
  megatron("megatron-1t", 128, 25600, 160),
  {
    config: gptLike({ name: "turing-nlg-17b", layers: 78, hidden: 4256, heads: 28, vocabulary: 50257, sequence: 1024 }),
    aliases: ["turing-nlg", "t-nlg"],
    source:
      "Microsoft's announcement of 2020: 78 layers, hidden size 4256, 28 heads; vocabulary and sequence as GPT-2's",
  },
  msft1t,
  bert("bert-base", 12, 768, 12),
  bert("bert-large", 24, 1024, 16),
  ...[
    llamaLike({
      name: "llama2-7b",
      layers: 32,
      hidden: 4096,
      heads: 32,
      kvHeads: 32,
      ffn: 11008,
      vocabulary: 32000,
      sequence: 4096,
    }),
    llamaLike({
      name: "llama2-13b",
      layers: 40,
      hidden: 5120,
      heads: 40,
      kvHeads: 40,
      ffn: 13824,
      vocabulary: 32000,
      sequence: 4096,
    }),
    llamaLike({
      name: "llama2-70b",
      layers: 80,
      hidden: 8192,
      heads: 64,
      kvHeads: 8,
      ffn: 28672,
      vocabulary: 32000,
      sequence: 4096,
    }),
  ].map((config) => ({ config, aliases: [config.name.replace("llama2", "llama-2")], source: LLAMA2 })),
  ...[
    llamaLike({ name: "llama3-8b", layers: 32, hidden: 4096, heads: 32, ffn: 14336, ...llama3 }),
    llamaLike({ name: "llama3-70b", layers: 80, hidden: 8192, heads: 64, ffn: 28672, ...llama3 }),
    llamaLike({ name: "llama3-405b", layers: 126, hidden: 16384, heads: 128, ffn: 53248, ...llama3 }),
  ].map((config) => ({
    config,
    aliases: [
      config.name.replace("llama3", "llama-3"),
      config.name.replace("llama3", "llama3.1"),
      config.name.replace("llama3", "llama-3.1"),
    ],
    source: LLAMA3,
  })),
  {
    config: llamaLike({ name: "llama3-119b", layers: 36, hidden: 16384, heads: 128, ffn: 53248, ...llama3 }),
    aliases: ["llama-3-119b"],
    source: "Zhao 2026, 4.6.4: Llama 3.1 405B cut to 36 layers",
  },
  ...[
    llamaLike({
      name: "gemma2-2b",
      layers: 26,
      hidden: 2304,
      heads: 8,
      kvHeads: 4,
      headSize: 256,
      ffn: 9216,
      ...gemma2,
    }),
    llamaLike({
      name: "gemma2-9b",
      layers: 42,
      hidden: 3584,
      heads: 16,
      kvHeads: 8,
      headSize: 256,
      ffn: 14336,
      ...gemma2,
    }),
    llamaLike({
      name: "gemma2-27b",
      layers: 46,
      hidden: 4608,
      heads: 32,
      kvHeads: 16,
      headSize: 128,
      ffn: 36864,
      ...gemma2,
    }),
  ].map((config) => ({ config, aliases: [config.name.replace("gemma2", "gemma-2")], source: GEMMA2 })),
  {
    config: llamaLike({
      name: "mistral-7b",
      layers: 32,
      hidden: 4096,
      heads: 32,
      kvHeads: 8,
      ffn: 14336,
      vocabulary: 32000,
      window: 4096,
      sequence: 8192,
    }),
    source: "Jiang et al. 2023, table 1",
  },
  {
    config: llamaLike({
      name: "qwen3-8b",
      layers: 36,
      hidden: 4096,
      heads: 32,
      kvHeads: 8,
      headSize: 128,
      ffn: 12288,
      vocabulary: 151936,
      headNorms: true,
      sequence: 4096,
    }),
    source: QWEN,
  },
  {
    config: llamaLike({
      name: "qwen3-32b",
      layers: 64,
      hidden: 5120,
      heads: 64,
      kvHeads: 8,
      headSize: 128,
      ffn: 25600,
      vocabulary: 151936,
      headNorms: true,
      sequence: 4096,
    }),
    source: QWEN,
  },
  mpt("125m", 12, 768, 12),
  mpt("350m", 24, 1024, 16),
  mpt("760m", 24, 1536, 12),
  mpt("1b", 24, 2048, 16),
  mpt("3b", 32, 2560, 20),
  mpt("7b", 32, 4096, 32),
  mpt("13b", 40, 5120, 40),
  mpt("30b", 48, 7168, 56),
  mpt("70b", 80, 8192, 64),
];
