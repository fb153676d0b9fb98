/** A Hugging Face configuration of our own making: 4 layers. */
export const TINY_LLAMA = {
  architectures: ["LlamaForCausalLM"],
  model_type: "llama",
  hidden_size: 1024,
  num_hidden_layers: 4,
  num_attention_heads: 8,
  num_key_value_heads: 8,
  intermediate_size: 4096,
  vocab_size: 32000,
  max_position_embeddings: 2048,
  tie_word_embeddings: false,
};
