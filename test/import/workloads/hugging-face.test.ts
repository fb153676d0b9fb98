import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { readHuggingFace } from "../../../src/import/workloads/hugging-face.ts";
import { modelNamed } from "../../../src/model/workload/models.ts";
import { activeParameterCount, parameterCount } from "../../../src/model/workload/transformer/parameters.ts";

const read = (fields: object) => readHuggingFace(JSON.stringify(fields), "config.json");

/** Sizes in the keys that most files have: hidden, feed-forward, layers, heads, heads of keys and values, vocabulary. */
const usual = (type: string, sizes: readonly number[], more: object = {}) => ({
  model_type: type,
  hidden_size: sizes[0],
  intermediate_size: sizes[1],
  num_hidden_layers: sizes[2],
  num_attention_heads: sizes[3],
  num_key_value_heads: sizes[4],
  vocab_size: sizes[5],
  ...more,
});

const t5 = (d: number, kv: number, ff: number, layers: number, heads: number, more: object = {}) => ({
  architectures: ["T5ForConditionalGeneration"],
  ...{ d_model: d, d_kv: kv, d_ff: ff, num_layers: layers, num_heads: heads, vocab_size: 32128, ...more },
});

const bert = (architecture: string, hidden: number, ffn: number, layers: number, heads: number) => ({
  architectures: [architecture],
  ...usual("bert", [hidden, ffn, layers, heads, heads, 30522], { max_position_embeddings: 512, type_vocab_size: 2 }),
});

const deepseek = { q_lora_rank: 1536, kv_lora_rank: 512, qk_nope_head_dim: 128, qk_rope_head_dim: 64, v_head_dim: 128 };
const V11 = { feed_forward_proj: "gated-gelu", tie_word_embeddings: false };

/** Configurations with the number of parameters that is published for each. */
const PUBLISHED: readonly (readonly [string, object, number])[] = [
  ["Llama 2 7B", usual("llama", [4096, 11008, 32, 32, 32, 32000]), 6_738_415_616],
  ["Llama 3 8B", usual("llama", [4096, 14336, 32, 32, 8, 128256]), 8_030_261_248],
  ["Llama 3.1 405B", usual("llama", [16384, 53248, 126, 128, 8, 128256]), 405_853_388_800],
  [
    "Llama 3.2 1B",
    usual("llama", [2048, 8192, 16, 32, 8, 128256], { head_dim: 64, tie_word_embeddings: true }),
    1_235_814_400,
  ],
  ["Mistral 7B", usual("mistral", [4096, 14336, 32, 32, 8, 32000], { sliding_window: 4096 }), 7_241_732_096],
  ["Mistral Nemo", usual("mistral", [5120, 14336, 40, 32, 8, 131072], { head_dim: 128 }), 12_247_782_400],
  [
    "Mixtral 8x7B",
    usual("mixtral", [4096, 14336, 32, 32, 8, 32000], { num_local_experts: 8, num_experts_per_tok: 2 }),
    46_702_792_704,
  ],
  ["Qwen2 0.5B", usual("qwen2", [896, 4864, 24, 14, 2, 151936], { tie_word_embeddings: true }), 494_032_768],
  ["Qwen2 72B", usual("qwen2", [8192, 29568, 80, 64, 8, 152064]), 72_706_203_648],
  ["Qwen3 0.6B", usual("qwen3", [1024, 3072, 28, 16, 8, 151936], { tie_word_embeddings: true }), 596_049_920],
  ["Qwen3 32B", usual("qwen3", [5120, 25600, 64, 64, 8, 151936], { head_dim: 128 }), 32_762_123_264],
  [
    "Qwen3 30B-A3B",
    usual("qwen3_moe", [2048, 6144, 48, 32, 4, 151936], {
      head_dim: 128,
      num_experts: 128,
      num_experts_per_tok: 8,
      moe_intermediate_size: 768,
    }),
    30_532_122_624,
  ],
  ["Gemma 2 2B", usual("gemma2", [2304, 9216, 26, 8, 4, 256000], { sliding_window: 4096 }), 2_614_341_888],
  ["Gemma 2 27B", usual("gemma2", [4608, 36864, 46, 32, 16, 256000], { head_dim: 128 }), 27_227_128_320],
  [
    "DeepSeek V3",
    usual("deepseek_v3", [7168, 18432, 61, 128, 128, 129280], {
      ...deepseek,
      ...{
        n_routed_experts: 256,
        n_shared_experts: 1,
        num_experts_per_tok: 8,
        moe_intermediate_size: 2048,
        first_k_dense_replace: 3,
      },
    }),
    671_026_419_200,
  ],
  [
    "DeepSeek V2 Lite",
    usual("deepseek_v2", [2048, 10944, 27, 16, 16, 102400], {
      ...{ ...deepseek, q_lora_rank: null, n_routed_experts: 64, n_shared_experts: 2 },
      ...{ num_experts_per_tok: 6, moe_intermediate_size: 1408, first_k_dense_replace: 1 },
    }),
    15_706_484_224,
  ],
  [
    "GPT-OSS 20B",
    usual("gpt_oss", [2880, 2880, 24, 64, 8, 201088], {
      num_local_experts: 32,
      num_experts_per_tok: 4,
      sliding_window: 128,
    }),
    20_914_757_184,
  ],
  [
    "GPT-2",
    { model_type: "gpt2", n_embd: 768, n_layer: 12, n_head: 12, n_positions: 1024, vocab_size: 50257 },
    124_439_808,
  ],
  ["GPT-NeoX 20B", usual("gpt_neox", [6144, 24576, 44, 64, 64, 50432]), 20_554_567_680],
  ["Pythia 70M", usual("gpt_neox", [512, 2048, 6, 8, 8, 50304]), 70_426_624],
  ["BERT base", bert("BertModel", 768, 3072, 12, 12), 109_482_240],
  ["BERT large, masked words", bert("BertForMaskedLM", 1024, 4096, 24, 16), 335_174_458],
  ["BERT large, both losses", bert("BertForPreTraining", 1024, 4096, 24, 16), 336_226_108],
  ["T5 small", t5(512, 64, 2048, 6, 8), 60_506_624],
  ["T5 11B", t5(1024, 128, 65536, 24, 128), 11_307_321_344],
  ["T5 1.1 XXL", t5(4096, 64, 10240, 24, 64, V11), 11_135_332_352],
  [
    "Switch Base 8",
    {
      ...t5(768, 64, 3072, 12, 12, { num_experts: 8, num_sparse_encoder_layers: 6, num_sparse_decoder_layers: 6 }),
      architectures: ["SwitchTransformersForConditionalGeneration"],
    },
    619_339_008,
  ],
  ["MPT 7B", { model_type: "mpt", d_model: 4096, n_heads: 32, n_layers: 32, vocab_size: 50432 }, 6_649_286_656],
];

describe("a Hugging Face configuration", () => {
  it.each(PUBLISHED)("of %s has the parameters that are published", (_, fields, total) => {
    expect(parameterCount(read(fields))).toBe(total);
  });

  it("is the catalogue's model, but for its name and the length of sequences", () => {
    const { sizes } = modelNamed("llama3-70b");
    if (sizes.kind !== "transformer") throw new Error("no transformer");
    const own = read(
      usual("llama", [8192, 28672, 80, 64, 8, 128256], {
        max_position_embeddings: 8192,
        _name_or_path: "meta/llama3-70b",
      }),
    );
    expect(own).toEqual(sizes.config);
  });

  it("is trained with sequences of 8,192 tokens at most, unless asked otherwise", () => {
    const lengths = [2048, 131072, undefined].map(
      (longest) => read({ ...usual("llama", [64, 128, 2, 4, 2, 100]), max_position_embeddings: longest }).sequence,
    );
    expect(lengths).toEqual([2048, 8192, 4096]);
  });

  it("counts experts that one token takes", () => {
    const fields = PUBLISHED.find(([name]) => name === "Mixtral 8x7B")?.[1] ?? {};
    expect(activeParameterCount(read(fields))).toBe(12_879_925_248);
  });

  it("is read by its architecture, from the text part of a composite model, and with other names of keys", () => {
    const sizes = usual("other", [64, 128, 2, 4, 2, 100]);
    expect(read({ ...sizes, architectures: ["LlamaForCausalLM"] }).layers).toBe(2);
    expect(
      read({ architectures: ["Other"], text_config: { ...sizes, model_type: "llama" }, model_type: "llava" }).kvHeads,
    ).toBe(2);
    expect(
      read({
        model_type: "gpt2",
        hidden_size: 64,
        num_hidden_layers: 3,
        num_attention_heads: 4,
        n_positions: 8,
        vocab_size: 9,
      }).layers,
    ).toBe(3);
  });

  it("takes null for absent: as many heads of keys and values as heads, no window", () => {
    const nulls = { num_key_value_heads: null, head_dim: null, sliding_window: null };
    const config = read({ ...usual("mistral", [64, 128, 2, 4, 2, 100]), ...nulls, num_key_value_heads: 4 });
    expect([config.kvHeads, config.headSize, config.window]).toEqual([4, 16, null]);
    expect(read({ ...usual("llama", [64, 128, 2, 4, 2, 100]), ...nulls }).kvHeads).toBe(4);
  });

  it("has windows as its layers' types say, every second layer of Gemma 2's without", () => {
    const types = ["sliding_attention", "sliding_attention", "full_attention", "sliding_attention"];
    const sizes = usual("mistral", [64, 128, 4, 4, 2, 100], { sliding_window: 8 });
    expect(read({ ...sizes, layer_types: types })).toMatchObject({ window: 8, fullEvery: 3 });
    expect(read(sizes)).toMatchObject({ window: 8, fullEvery: 0 });
    expect(read({ ...sizes, sliding_window: undefined })).toMatchObject({ window: 4096 });
    expect(read({ ...sizes, model_type: "gemma2" })).toMatchObject({ window: 8, fullEvery: 2 });
    expect(read({ ...sizes, layer_types: types.map(() => "full_attention") }).window).toBe(null);
  });

  it.each<[string, object]>([
    [
      "config.json: num_hidden_layers is missing; it must be an integer of 1 or more",
      { ...usual("llama", [64, 128, 2, 4, 2, 100]), num_hidden_layers: undefined },
    ],
    [
      'config.json: hidden_size is "64"; it must be an integer of 1 or more',
      { ...usual("llama", [64, 128, 2, 4, 2, 100]), hidden_size: "64" },
    ],
    ["config.json: model_type is missing", { hidden_size: 64 }],
    ['config.json: model_type is "lama"', { model_type: "lama" }],
    ['config.json: architectures is "MambaForCausalLM"', { architectures: ["MambaForCausalLM"], model_type: "mamba" }],
    ["config.json: headSize is 12.8; it must be an integer of 1 or more", usual("llama", [64, 128, 2, 5, 5, 100])],
    ["config.json: kvHeads is 3; it must be a divisor of the 4 heads", usual("llama", [64, 128, 2, 4, 3, 100])],
    [
      "config.json: layer_types is",
      usual("mistral", [64, 128, 3, 4, 2, 100], {
        sliding_window: 8,
        layer_types: ["full_attention", "sliding_attention", "full_attention"],
      }),
    ],
    [
      "config.json: no_bias is false; it must be true",
      { model_type: "mpt", d_model: 64, n_heads: 4, n_layers: 2, vocab_size: 10, no_bias: false },
    ],
    ["config.json is [1]; it must be an object", [1]],
    [
      "config.json: num_sparse_encoder_layers is 4; it must be all layers or every second one",
      {
        ...t5(64, 16, 128, 12, 4, { num_experts: 8, num_sparse_encoder_layers: 4, num_sparse_decoder_layers: 4 }),
        architectures: ["SwitchTransformersForConditionalGeneration"],
      },
    ],
    [
      "config.json: mlp_only_layers is [5]; it must be the first layers, in order, or none",
      usual("qwen3_moe", [64, 128, 8, 4, 2, 100], {
        ...{ mlp_only_layers: [5], num_experts: 4, num_experts_per_tok: 2, moe_intermediate_size: 32, head_dim: 16 },
      }),
    ],
  ])("is refused: %s", (sentence, fields) => {
    expect(() => read(fields)).toThrow(InputError);
    expect(() => read(fields)).toThrow(sentence);
  });

  it("is refused as text with the place of its mistake", () => {
    expect(() => readHuggingFace('{"model_type": llama}', "config.json")).toThrow(/config.json line 1, column 16/);
  });
});
