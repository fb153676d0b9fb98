import { headSizes, type LayerKind } from "./config.ts";
import { cachedWidth, keyValueWidth, type LocalShape, localHeads, routedTokens } from "./layer.ts";

/** Bytes of one NPU for one layer and micro batch. */
export interface ActivationBytes {
  /** Kept from the forward to the backward pass; of inference, the keys and values kept for tokens to come. */
  readonly kept: number;
  /** Made again for the backward pass of the layer. */
  readonly again: number;
}

/**
 * Returns what a layer keeps of a micro batch (Korthikanti et al. 2022, 4.1 to 4.2, for any widths: with theirs, s b h (34 + 5 a s
 * / h) bytes on one NPU, 10 + 24 / t + 5 a s / (h t) in place of 34 + 5 a s / h with tensor parallelism, (34 + 5 a s / h) / t with
 * the sequence split too; selective recomputation keeps no scores, full recomputation 2 s b h). Attention in one kernel keeps no
 * scores either.
 */
export function layerActivations(shape: LocalShape, kind: LayerKind): ActivationBytes {
  const { config, options, ownTokens, bytes } = shape;
  const { hidden } = config;
  const { recompute, pass, sequence, microBatch } = options;
  if (pass !== "train") {
    const kept = Math.min(kind.window ?? sequence, sequence) / options.parallelism.context;
    return { kept: microBatch * kept * cachedWidth(shape) * bytes, again: 0 };
  }
  const attentions = kind.crosses ? 2 : 1;
  const [perToken, scores] = attentionActivations(shape);
  const linear =
    attentions * perToken + (kind.hasExperts ? expertActivations(shape) : ffnActivations(shape, config.ffn));
  const all = linear + attentions * scores;
  const input = ownTokens * hidden * bytes;
  if (recompute === "full") return { kept: input, again: all };
  return recompute === "selective" ? { kept: linear, again: attentions * scores } : { kept: all, again: 0 };
}

/** Returns bytes of an attention block: what grows with the tokens, and its scores. */
function attentionActivations(shape: LocalShape): [number, number] {
  const { config, options, tokens, ownTokens, bytes } = shape;
  const { hidden, dropout, latent } = config;
  const { heads } = localHeads(shape);
  const { query, value } = headSizes(config);
  const mask = dropout ? 1 : 0;
  // inputs of the norm and of the projections; with latents, these and their norms
  const whole = hidden * (2 * bytes + mask) + (latent === null ? 0 : latentWidth(latent) * 2 * bytes);
  const split = (heads * query + keyValueWidth(shape) + heads * value) * bytes;
  // the softmax's result; with dropout also its mask and what it leaves
  const scores = options.flash ? 0 : tokens * options.sequence * heads * (dropout ? 2 * bytes + 1 : bytes);
  return [ownTokens * whole + tokens * split, scores];
}

const latentWidth = ({ queryRank, keyValueRank, rotarySize }: NonNullable<LocalShape["config"]["latent"]>): number =>
  (queryRank ?? 0) + keyValueRank + rotarySize;

/** Returns bytes of a feed-forward block: inputs of the norm, of both products and of what is between them. */
function ffnActivations({ config, options, tokens, ownTokens, bytes }: LocalShape, width: number): number {
  const mask = config.dropout ? 1 : 0;
  const inner = ((config.gated ? 3 : 2) * width) / options.parallelism.tensor;
  return ownTokens * config.hidden * (2 * bytes + mask) + tokens * inner * bytes;
}

/** Returns bytes of a block of experts: the tokens that came, what is between the products, what each expert gave back. */
function expertActivations(shape: LocalShape): number {
  const { config, options, tokens, ownTokens, bytes } = shape;
  const { experts, hidden, gated } = config;
  if (experts === null) return 0;
  const { sent, received } = routedTokens(shape);
  const { tensor, expertTensor } = options.parallelism;
  const inner = (gated ? 3 : 2) * (received * (experts.ffn / expertTensor) + (tokens * experts.sharedFfn) / tensor);
  return (2 * ownTokens * hidden + (received + sent) * hidden + inner) * bytes;
}

/** Returns what the head keeps: inputs of its norm and product, and logits of 4 bytes (Korthikanti et al. 2022, 4.3). */
export function headActivations({ config, options, tokens, ownTokens, bytes }: LocalShape): number {
  if (options.pass !== "train") return 0;
  const logits = config.head ? 4 * tokens * Math.ceil(config.vocabulary / options.parallelism.tensor) : 0;
  return 2 * ownTokens * config.hidden * bytes + logits;
}

/** Returns what the embedding keeps: the mask of its dropout. */
export const embeddingActivations = ({ config, options, ownTokens }: LocalShape): number =>
  config.dropout && options.pass === "train" ? ownTokens * config.hidden : 0;
