import { InputError } from "../../base/errors.ts";
import { didYouMean } from "../../model/topology/closest.ts";
import {
  checkedConfig,
  type Experts,
  GPT_LIKE,
  type Latent,
  LLAMA_LIKE,
  type TransformerConfig,
} from "../../model/workload/transformer/config.ts";
import { asFlag, asInteger, asList, asObject, parseJson, placeIn, refuse } from "../text/json.ts";

type Fields = { readonly [key: string]: unknown };

/** The keys of a file. Null counts as absent: that is how these files say "as usual". */
class Keys {
  readonly #fields: Fields;
  readonly #fileName: string;

  constructor(fields: Fields, fileName: string) {
    this.#fields = fields;
    this.#fileName = fileName;
  }

  place(key: string): string {
    return placeIn(this.#fileName, key);
  }

  /** Returns the first of the names that is there, and its value. */
  #first(names: readonly string[]): [string, unknown] {
    const there = names.find((name) => this.#fields[name] !== undefined && this.#fields[name] !== null);
    return [there ?? (names[0] as string), there === undefined ? undefined : this.#fields[there]];
  }

  /** Returns whether the file says null, which is not always the same as nothing. */
  isNull(key: string): boolean {
    return this.#fields[key] === null;
  }

  /** Returns an integer that has to be there, by any of its names. Throws InputError. */
  integer(...names: string[]): number {
    const [name, value] = this.#first(names);
    return asInteger(value, this.place(name), 1);
  }

  /** Returns an integer, or what stands for it where it is absent. */
  integerOr<T extends number | null>(otherwise: T, names: string | readonly string[], least = 1): number | T {
    const [name, value] = this.#first(typeof names === "string" ? [names] : names);
    return value === undefined ? otherwise : asInteger(value, this.place(name), least);
  }

  flagOr(otherwise: boolean, key: string): boolean {
    const [, value] = this.#first([key]);
    return value === undefined ? otherwise : asFlag(value, this.place(key));
  }

  textOr(otherwise: string, key: string): string {
    const [, value] = this.#first([key]);
    if (value === undefined) return otherwise;
    if (typeof value !== "string") refuse(this.place(key), "a text", value);
    return value;
  }

  list(key: string): readonly unknown[] | null {
    const [, value] = this.#first([key]);
    return value === undefined ? null : asList(value, this.place(key));
  }

  object(key: string): Keys | null {
    const [, value] = this.#first([key]);
    return value === undefined ? null : new Keys(asObject<Fields>(value, this.place(key)), this.place(key));
  }
}

type Reader = (keys: Keys, name: string) => TransformerConfig;

/** Files say how long sequences may be at most, which models learn at the end; before, they are trained with no more than this. */
const LONGEST_TRAINED = 8192;

const sequenceOf = (longest: number): number => Math.min(LONGEST_TRAINED, longest);

/** Returns a decoder as Llama's with what its file says; `more` goes over it. */
function llamaLike(keys: Keys, name: string, more: Partial<TransformerConfig> = {}): TransformerConfig {
  const hidden = keys.integer("hidden_size");
  const heads = keys.integer("num_attention_heads");
  const bias = keys.flagOr(false, "attention_bias");
  return {
    ...LLAMA_LIKE,
    name,
    layers: keys.integer("num_hidden_layers"),
    hidden,
    heads,
    kvHeads: keys.integerOr(heads, "num_key_value_heads"),
    headSize: keys.integerOr(hidden / heads, "head_dim"),
    ffn: keys.integer("intermediate_size"),
    vocabulary: keys.integer("vocab_size"),
    tied: keys.flagOr(false, "tie_word_embeddings"),
    biases: { qkv: bias, output: bias, ffn: keys.flagOr(false, "mlp_bias") },
    sequence: sequenceOf(keys.integerOr(4096, "max_position_embeddings")),
    ...more,
  };
}

/**
 * Returns the window, `otherwise` where nothing is said of it and none where null is, and every how many layers all tokens are
 * seen: by the list of layers' types, or else every `usual`-th (0: none). Throws InputError for a list without such a rhythm.
 */
function windowOf(
  keys: Keys,
  otherwise: number | null,
  usual: number,
): Pick<TransformerConfig, "window" | "fullEvery"> {
  const window = keys.isNull("sliding_window") ? null : keys.integerOr(otherwise, "sliding_window");
  const types = keys.list("layer_types");
  if (window === null) return { window: null, fullEvery: 0 };
  if (types === null) return { window, fullEvery: usual };
  const first = types.indexOf("full_attention");
  if (first < 0) return { window, fullEvery: 0 };
  const every = first + 1;
  if (types.some((type, i) => (type === "full_attention") !== ((i + 1) % every === 0))) {
    refuse(keys.place("layer_types"), "layers with full attention at equal distances", types.join(", "));
  }
  return every === 1 ? { window: null, fullEvery: 0 } : { window, fullEvery: every };
}

const PLAIN_EXPERTS = { sharedFfn: 0, sharedGate: false, firstDense: 0, every: 1, routerBias: false } as const;

/** Returns Qwen's experts: every n-th layer has them, none of those that are named as dense. */
function qwenExperts(keys: Keys, shared: Pick<Experts, "sharedFfn" | "sharedGate">): Experts {
  const dense = keys.list("mlp_only_layers") ?? [];
  if (dense.some((layer, i) => layer !== i))
    refuse(keys.place("mlp_only_layers"), "the first layers, in order, or none", dense);
  const every = keys.integerOr(1, "decoder_sparse_step");
  if (dense.length > 0 && every > 1)
    refuse(keys.place("mlp_only_layers"), "none with a decoder_sparse_step above 1", dense);
  return {
    ...PLAIN_EXPERTS,
    ...shared,
    count: keys.integer("num_experts", "num_local_experts"),
    perToken: keys.integer("num_experts_per_tok"),
    ffn: keys.integer("moe_intermediate_size"),
    firstDense: dense.length,
    every,
  };
}

/** Qwen's window holds only where it is asked for, and for the layers behind the first few. */
function qwenWindow(keys: Keys): Pick<TransformerConfig, "window" | "fullEvery"> {
  if (!keys.flagOr(false, "use_sliding_window")) return { window: null, fullEvery: 0 };
  const kept = keys.integerOr(0, "max_window_layers", 0);
  if (kept > 0 && kept < keys.integer("num_hidden_layers")) {
    refuse(keys.place("max_window_layers"), "0 or all layers, where a window is used", kept);
  }
  return kept > 0 ? { window: null, fullEvery: 0 } : windowOf(keys, 4096, 0);
}

/** Returns the sizes of DeepSeek's attention. */
const latentOf = (keys: Keys): Latent => ({
  queryRank: keys.integerOr(null, "q_lora_rank"),
  keyValueRank: keys.integer("kv_lora_rank"),
  plainSize: keys.integer("qk_nope_head_dim"),
  rotarySize: keys.integer("qk_rope_head_dim"),
  valueSize: keys.integer("v_head_dim"),
});

/** `correction`: scores of experts are corrected by a number each (DeepSeek-V3). */
function deepseek(keys: Keys, name: string, correction: boolean): TransformerConfig {
  const latent = latentOf(keys);
  const width = keys.integer("moe_intermediate_size");
  const experts: Experts = {
    ...PLAIN_EXPERTS,
    count: keys.integer("n_routed_experts", "num_local_experts"),
    perToken: keys.integer("num_experts_per_tok"),
    ffn: width,
    sharedFfn: width * keys.integerOr(0, "n_shared_experts", 0),
    firstDense: keys.integerOr(0, "first_k_dense_replace", 0),
    every: keys.integerOr(1, "moe_layer_freq"),
    routerBias: correction,
  };
  const heads = keys.integer("num_attention_heads");
  return llamaLike(keys, name, { kvHeads: heads, headSize: latent.plainSize + latent.rotarySize, latent, experts });
}

function gpt2(keys: Keys, name: string): TransformerConfig {
  const hidden = keys.integer("n_embd", "hidden_size");
  const heads = keys.integer("n_head", "num_attention_heads");
  const positions = keys.integer("n_positions", "max_position_embeddings");
  return {
    ...GPT_LIKE,
    name,
    layers: keys.integer("n_layer", "num_hidden_layers"),
    hidden,
    heads,
    kvHeads: heads,
    headSize: hidden / heads,
    ffn: keys.integerOr(4 * hidden, "n_inner"),
    vocabulary: keys.integer("vocab_size"),
    tied: keys.flagOr(true, "tie_word_embeddings"),
    positions,
    sequence: positions,
  };
}

function gptNeox(keys: Keys, name: string): TransformerConfig {
  const bias = keys.flagOr(true, "attention_bias");
  return llamaLike(keys, name, {
    gated: false,
    normParameters: 2,
    biases: { qkv: bias, output: bias, ffn: true },
    sequence: keys.integerOr(2048, "max_position_embeddings"),
  });
}

/** BERT for masked words; `BertModel` has a pooler in place of the head. */
function bert(keys: Keys, name: string, architecture: string): TransformerConfig {
  const hidden = keys.integer("hidden_size");
  const vocabulary = keys.integer("vocab_size");
  const positions = keys.integer("max_position_embeddings");
  const segments = keys.integerOr(2, "type_vocab_size", 0) * hidden;
  const pooler = hidden * hidden + hidden;
  const masked = pooler + 2 * hidden + vocabulary;
  const parts: Record<string, number> = {
    BertModel: pooler,
    BertForMaskedLM: masked,
    // besides, a product of two columns says whether sentences follow each other
    BertForPreTraining: pooler + masked + 2 * hidden + 2,
  };
  const own = parts[architecture];
  if (own === undefined) refuse(keys.place("architectures"), `one of ${Object.keys(parts).join(", ")}`, architecture);
  return llamaLike(keys, name, {
    ...GPT_LIKE,
    head: architecture !== "BertModel",
    causal: false,
    finalNorm: false,
    positions,
    extraParameters: segments + own,
    sequence: positions,
  });
}

/** T5 and Switch: an encoder and a decoder; sequences are 512, for the files do not say. */
function t5(keys: Keys, name: string, withExperts: boolean): TransformerConfig {
  const hidden = keys.integer("d_model", "hidden_size");
  const heads = keys.integer("num_heads", "num_attention_heads");
  const encoderLayers = keys.integer("num_layers", "num_hidden_layers");
  const layers = keys.integerOr(encoderLayers, "num_decoder_layers");
  const ffn = keys.integer("d_ff");
  return {
    ...LLAMA_LIKE,
    name,
    layers,
    encoderLayers,
    hidden,
    heads,
    kvHeads: heads,
    headSize: keys.integerOr(64, ["d_kv", "head_dim"]),
    ffn,
    gated: !withExperts && keys.textOr("relu", "feed_forward_proj").startsWith("gated"),
    vocabulary: keys.integer("vocab_size"),
    tied: keys.flagOr(true, "tie_word_embeddings"),
    relativePositions: 2 * keys.integerOr(32, "relative_attention_num_buckets") * heads,
    dropout: true,
    experts: withExperts ? switchExperts(keys, layers, encoderLayers, ffn) : null,
    sequence: 512,
  };
}

/** Layer i of each side has experts where i % step is 1, or everywhere for a step of 1; step = layers / sparse layers. */
function switchExperts(keys: Keys, layers: number, encoderLayers: number, ffn: number): Experts | null {
  const step = (all: number, key: string): number => Math.floor(all / keys.integerOr(3, key, 0));
  const every = step(encoderLayers, "num_sparse_encoder_layers");
  if (every !== step(layers, "num_sparse_decoder_layers")) {
    refuse(
      keys.place("num_sparse_decoder_layers"),
      "as many of the decoder's layers as of the encoder's",
      keys.integer("num_sparse_decoder_layers"),
    );
  }
  if (every === Number.POSITIVE_INFINITY) return null;
  if (every > 2)
    refuse(
      keys.place("num_sparse_encoder_layers"),
      "all layers or every second one",
      keys.integer("num_sparse_encoder_layers"),
    );
  return { ...PLAIN_EXPERTS, count: keys.integer("num_experts"), perToken: 1, ffn, every };
}

/** MPT as published: ALiBi, no biases, not in norms either. */
function mpt(keys: Keys, name: string): TransformerConfig {
  const hidden = keys.integer("d_model", "hidden_size");
  const heads = keys.integer("n_heads", "num_attention_heads");
  if (!keys.flagOr(true, "no_bias")) refuse(keys.place("no_bias"), "true", false);
  return {
    ...LLAMA_LIKE,
    name,
    layers: keys.integer("n_layers", "num_hidden_layers"),
    hidden,
    heads,
    kvHeads: keys.object("attn_config")?.integerOr(null, "kv_n_heads") ?? heads,
    headSize: hidden / heads,
    ffn: keys.integerOr(4, "expansion_ratio") * hidden,
    gated: false,
    vocabulary: keys.integer("vocab_size"),
    tied: keys.flagOr(true, "tie_word_embeddings"),
    sequence: sequenceOf(keys.integerOr(2048, "max_seq_len")),
  };
}

/** Readers by `model_type`, with the names of architectures; defaults are those of transformers 5.18's classes. */
const READERS: readonly (readonly [type: string, architectures: readonly string[], read: Reader])[] = [
  ["llama", ["LlamaForCausalLM"], (keys, name) => llamaLike(keys, name)],
  [
    "mistral",
    ["MistralForCausalLM"],
    (keys, name) =>
      llamaLike(keys, name, { ...windowOf(keys, 4096, 0), kvHeads: keys.integerOr(8, "num_key_value_heads") }),
  ],
  [
    "mixtral",
    ["MixtralForCausalLM"],
    (keys, name) =>
      llamaLike(keys, name, {
        ...windowOf(keys, null, 0),
        kvHeads: keys.integerOr(8, "num_key_value_heads"),
        experts: {
          ...PLAIN_EXPERTS,
          count: keys.integer("num_local_experts", "num_experts"),
          perToken: keys.integer("num_experts_per_tok"),
          ffn: keys.integer("intermediate_size"),
        },
      }),
  ],
  [
    "qwen2",
    ["Qwen2ForCausalLM"],
    (keys, name) => llamaLike(keys, name, { ...qwenWindow(keys), biases: { qkv: true, output: false, ffn: false } }),
  ],
  [
    "qwen2_moe",
    ["Qwen2MoeForCausalLM"],
    (keys, name) =>
      llamaLike(keys, name, {
        ...qwenWindow(keys),
        biases: { qkv: keys.flagOr(true, "qkv_bias"), output: false, ffn: false },
        experts: qwenExperts(keys, { sharedFfn: keys.integer("shared_expert_intermediate_size"), sharedGate: true }),
      }),
  ],
  [
    "qwen3",
    ["Qwen3ForCausalLM"],
    (keys, name) =>
      llamaLike(keys, name, { ...qwenWindow(keys), headNorms: true, headSize: keys.integerOr(128, "head_dim") }),
  ],
  [
    "qwen3_moe",
    ["Qwen3MoeForCausalLM"],
    (keys, name) =>
      llamaLike(keys, name, {
        ...qwenWindow(keys),
        headNorms: true,
        experts: qwenExperts(keys, { sharedFfn: 0, sharedGate: false }),
      }),
  ],
  ["deepseek_v2", ["DeepseekV2ForCausalLM"], (keys, name) => deepseek(keys, name, false)],
  ["deepseek_v3", ["DeepseekV3ForCausalLM"], (keys, name) => deepseek(keys, name, true)],
  ["kimi_k2", [], (keys, name) => deepseek(keys, name, true)],
  [
    "gemma2",
    ["Gemma2ForCausalLM"],
    (keys, name) =>
      llamaLike(keys, name, {
        ...windowOf(keys, 4096, 2),
        normsPerLayer: 4,
        headSize: keys.integerOr(256, "head_dim"),
        tied: keys.flagOr(true, "tie_word_embeddings"),
      }),
  ],
  [
    "gpt_oss",
    ["GptOssForCausalLM"],
    (keys, name) => {
      const bias = keys.flagOr(true, "attention_bias");
      return llamaLike(keys, name, {
        ...windowOf(keys, 128, 2),
        headSize: keys.integerOr(64, "head_dim"),
        biases: { qkv: bias, output: bias, ffn: true },
        sinks: true,
        experts: {
          ...PLAIN_EXPERTS,
          count: keys.integer("num_local_experts", "num_experts"),
          perToken: keys.integer("num_experts_per_tok", "experts_per_token"),
          ffn: keys.integer("intermediate_size"),
          routerBias: true,
        },
      });
    },
  ],
  ["gpt2", ["GPT2LMHeadModel"], gpt2],
  ["gpt_neox", ["GPTNeoXForCausalLM"], gptNeox],
  ["bert", ["BertForPreTraining"], (keys, name) => bert(keys, name, "BertForPreTraining")],
  ["bert", ["BertForMaskedLM"], (keys, name) => bert(keys, name, "BertForMaskedLM")],
  ["bert", ["BertModel"], (keys, name) => bert(keys, name, "BertModel")],
  ["t5", ["T5ForConditionalGeneration"], (keys, name) => t5(keys, name, false)],
  ["switch_transformers", ["SwitchTransformersForConditionalGeneration"], (keys, name) => t5(keys, name, true)],
  ["mpt", ["MptForCausalLM", "MPTForCausalLM"], mpt],
];

/**
 * Returns the transformer that a Hugging Face `config.json` describes: by its first architecture, or by its `model_type`. Sizes
 * have to be there, what else is absent is as transformers has it. A composite model is read from its `text_config`. Throws
 * InputError with the key for what is missing, wrong, or of an architecture that is not known. O(text).
 */
export function readHuggingFace(text: string, fileName: string): TransformerConfig {
  const top = asObject<Fields>(parseJson(text, fileName), fileName);
  const inner = top["text_config"];
  const fields =
    inner === undefined || inner === null ? top : asObject<Fields>(inner, placeIn(fileName, "text_config"));
  const keys = new Keys(fields, fileName);
  const name = nameOf(top, fileName);
  const reader = readerOf(top, fields, keys);
  return checkedConfig(reader(keys, name), fileName);
}

/** Returns what the file calls itself, without its owner; else "model". */
function nameOf(top: Fields, fileName: string): string {
  const own = top["_name_or_path"];
  if (typeof own === "string" && /^[\w./-]+$/.test(own)) return own.slice(own.lastIndexOf("/") + 1);
  return fileName.replace(/^.*\//, "").replace(/\.json$/, "") || "model";
}

function readerOf(top: Fields, fields: Fields, keys: Keys): Reader {
  const named = Array.isArray(top["architectures"]) ? (top["architectures"] as unknown[])[0] : undefined;
  const byName = READERS.find(([, architectures]) => typeof named === "string" && architectures.includes(named));
  if (byName !== undefined) return byName[2];
  const type = fields["model_type"] ?? top["model_type"];
  const byType = READERS.find(([known]) => known === type);
  if (byType !== undefined) return byType[2];
  const names = READERS.flatMap(([, architectures]) => architectures);
  const types = [...new Set(READERS.map(([known]) => known))];
  if (typeof named === "string") {
    const expected = `an architecture of ${types.join(", ")}${didYouMean(named, names)}`;
    throw new InputError(keys.place("architectures"), expected, named).as("unknown-name");
  }
  const expected = `one of ${types.join(", ")}`;
  if (type === undefined) throw new InputError(keys.place("model_type"), expected);
  const meant = typeof type === "string" ? didYouMean(type, types) : "";
  throw new InputError(keys.place("model_type"), `${expected}${meant}`, type).as("unknown-name");
}
