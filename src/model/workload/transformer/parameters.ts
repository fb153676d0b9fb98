import { headSizes, type LayerKind, layerKinds, type TransformerConfig } from "./config.ts";

/** How parameters are split: among `tensor` NPUs, experts among `expert` and each of them among `expertTensor`. */
export interface Split {
  readonly tensor: number;
  readonly expert: number;
  readonly expertTensor: number;
}

export const WHOLE: Split = { tensor: 1, expert: 1, expertTensor: 1 };

/** Parameters of one NPU. */
export interface Parameters {
  /** The same on every copy of the model. */
  readonly dense: number;
  /** Of experts. */
  readonly experts: number;
}

/** Returns parameters of a feed-forward block: split ones, and those that every NPU has. */
function ffnParameters({ hidden, gated, biases }: TransformerConfig, width: number): { split: number; every: number } {
  const up = gated ? 2 : 1;
  const split = (up + 1) * hidden * width + (biases.ffn ? up * width : 0);
  return { split, every: biases.ffn ? hidden : 0 };
}

/** Returns parameters of one attention on one of `tensor` NPUs; heads of keys and values are copied where they are fewer. */
function attentionParameters(config: TransformerConfig, tensor: number): number {
  const { hidden, headSize, latent, biases, headNorms, sinks } = config;
  const { query, value } = headSizes(config);
  const heads = config.heads / tensor;
  if (latent !== null) {
    const { queryRank, keyValueRank, plainSize, rotarySize } = latent;
    const queries =
      queryRank === null ? hidden * heads * query : hidden * queryRank + queryRank + queryRank * heads * query;
    const keys = hidden * (keyValueRank + rotarySize) + keyValueRank;
    return queries + keys + keyValueRank * heads * (plainSize + value) + heads * value * hidden;
  }
  const kvHeads = Math.max(1, config.kvHeads / tensor);
  const width = headSize * (heads + 2 * kvHeads);
  const matrices = hidden * width + heads * headSize * hidden;
  const extra = (biases.qkv ? width : 0) + (biases.output ? hidden : 0) + (headNorms ? 2 * headSize : 0);
  return matrices + extra + (sinks ? heads : 0);
}

/** Returns the parameters of one layer on one NPU. */
export function layerParameters(config: TransformerConfig, kind: LayerKind, split: Split): Parameters {
  const { hidden, experts, normParameters, normsPerLayer } = config;
  const attentions = kind.crosses ? 2 : 1;
  const norms = (normsPerLayer + attentions - 1) * hidden * normParameters;
  const dense = attentions * attentionParameters(config, split.tensor) + norms;
  if (!kind.hasExperts || experts === null) {
    const block = ffnParameters(config, config.ffn);
    return { dense: dense + block.split / split.tensor + block.every, experts: 0 };
  }
  const one = ffnParameters(config, experts.ffn);
  const router = hidden * experts.count + (experts.routerBias ? experts.count : 0);
  const shared = ffnParameters(config, experts.sharedFfn);
  const common =
    experts.sharedFfn === 0 ? 0 : shared.split / split.tensor + shared.every + (experts.sharedGate ? hidden : 0);
  return {
    dense: dense + router + common,
    experts: (experts.count / split.expert) * (one.split / split.expertTensor + one.every),
  };
}

/** Returns parameters of the embedding on one of `tensor` NPUs: tokens, positions, and what stands beside them. */
export function embeddingParameters(config: TransformerConfig, tensor: number): number {
  const { vocabulary, hidden, positions, relativePositions, finalNorm, normParameters } = config;
  const norm = finalNorm ? 0 : hidden * normParameters;
  return Math.ceil(vocabulary / tensor) * hidden + positions * hidden + relativePositions + norm;
}

/** Returns parameters behind the last layer on one of `tensor` NPUs; `alone`: the embedding is on another, so a tied matrix is here again. */
export function headParameters(config: TransformerConfig, tensor: number, alone = false): number {
  const { vocabulary, hidden, tied, head, finalNorm, normParameters, encoderLayers, extraParameters } = config;
  const norms = finalNorm ? (encoderLayers > 0 ? 2 : 1) * hidden * normParameters : 0;
  const matrix = head && (!tied || alone) ? Math.ceil(vocabulary / tensor) * hidden : 0;
  return norms + matrix + extraParameters;
}

/** Returns how many parameters a model has, as its publishers count them (a tied matrix once, buffers not). O(layers). */
export function parameterCount(config: TransformerConfig): number {
  let all = embeddingParameters(config, 1) + headParameters(config, 1);
  for (const kind of layerKinds(config)) {
    const { dense, experts } = layerParameters(config, kind, WHOLE);
    all += dense + experts;
  }
  return all;
}

/** Returns how many parameters one token uses: of the experts only those that it takes; embedding and head are counted. */
export function activeParameterCount(config: TransformerConfig): number {
  const { experts } = config;
  let all = parameterCount(config);
  if (experts === null) return all;
  for (const kind of layerKinds(config)) {
    all -= layerParameters(config, kind, WHOLE).experts * (1 - experts.perToken / experts.count);
  }
  return all;
}

/** How attention is counted: half of the pairs where tokens see only those before them, or all (Korthikanti et al. 2022, eq. 7). */
export type AttentionCount = "causal" | "full";

/** Returns how many pairs of query and key one layer works on in a sequence; exact but for half a token each. */
export function attendedPairs(sequence: number, causal: boolean, window: number | null): number {
  const seen = window === null ? sequence : Math.min(window, sequence);
  if (!causal) return sequence * seen;
  return seen * sequence - (seen * seen) / 2;
}

/**
 * Returns the operations (2 per multiply-add) of a forward pass over one sequence of the model as published: all products with
 * matrices, the head's too, and the two of attention; no lookups, norms or biases, no prediction of further tokens, nothing
 * computed again. An encoder has as many tokens as its decoder. A training step takes 3 times as many (Narayanan et al. 2021,
 * appendix; Korthikanti et al. 2022, eq. 7). O(layers).
 */
export function forwardFlops(config: TransformerConfig, sequence: number, attention: AttentionCount): number {
  const { hidden, experts, gated, heads, head, vocabulary } = config;
  const { query, value } = headSizes(config);
  const ffnMatrices = gated ? 3 : 2;
  const projections = projectionSizes(config);
  let all = head ? 2 * sequence * hidden * vocabulary : 0;
  for (const kind of layerKinds(config)) {
    const causal = config.causal && kind.side === "decoder" && attention === "causal";
    const scores = attendedPairs(sequence, causal, kind.window) + (kind.crosses ? sequence * sequence : 0);
    const width =
      !kind.hasExperts || experts === null ? config.ffn : experts.perToken * experts.ffn + experts.sharedFfn;
    const router = kind.hasExperts && experts !== null ? hidden * experts.count : 0;
    const matrices = projections * (kind.crosses ? 2 : 1) + ffnMatrices * hidden * width + router;
    all += 2 * sequence * matrices + 2 * scores * heads * (query + value);
  }
  return all;
}

/** Returns the size of the matrices of one attention. */
function projectionSizes({ hidden, heads, kvHeads, headSize, latent }: TransformerConfig): number {
  if (latent === null) return hidden * headSize * (heads + 2 * kvHeads) + heads * headSize * hidden;
  const { queryRank, keyValueRank, plainSize, rotarySize, valueSize } = latent;
  const query = plainSize + rotarySize;
  const queries = queryRank === null ? hidden * heads * query : hidden * queryRank + queryRank * heads * query;
  const keys = hidden * (keyValueRank + rotarySize) + keyValueRank * heads * (plainSize + valueSize);
  return queries + keys + heads * valueSize * hidden;
}
