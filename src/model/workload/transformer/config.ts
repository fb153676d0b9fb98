import { InputError } from "../../../base/errors.ts";

/** Experts in place of one feed-forward block, a few for each token (Shazeer et al. 2017; Fedus et al. 2021). */
export interface Experts {
  readonly count: number;
  readonly perToken: number;
  /** Width of one expert. */
  readonly ffn: number;
  /** Width of what every token takes besides; 0 for none. */
  readonly sharedFfn: number;
  /** The shared part has a gate of `hidden` parameters (Qwen2-MoE). */
  readonly sharedGate: boolean;
  /** Layers before the first with experts. */
  readonly firstDense: number;
  /** From there on the n-th, 2n-th ... layer has experts; 1: all. */
  readonly every: number;
  /** One parameter an expert beside the router's matrix: a bias, or a correction of scores. */
  readonly routerBias: boolean;
}

/** Multi-head latent attention (DeepSeek-V2, 2.1): keys and values are made of a short vector. */
export interface Latent {
  /** Of queries; null where they are not compressed. */
  readonly queryRank: number | null;
  readonly keyValueRank: number;
  /** Per head: without and with rotary positions, and of values. */
  readonly plainSize: number;
  readonly rotarySize: number;
  readonly valueSize: number;
}

/** A transformer by its sizes. */
export interface TransformerConfig {
  readonly name: string;
  /** Of the decoder, or the only ones. */
  readonly layers: number;
  /** Of an encoder, to which each decoder layer then attends too (T5); 0 for none. */
  readonly encoderLayers: number;
  readonly hidden: number;
  readonly heads: number;
  /** Heads of keys and values (Ainslie et al. 2023). */
  readonly kvHeads: number;
  readonly headSize: number;
  /** Width of the feed-forward block of layers without experts. */
  readonly ffn: number;
  /** The block multiplies two projections (Shazeer 2020): three matrices, not two. */
  readonly gated: boolean;
  readonly vocabulary: number;
  /** The output matrix is the embedding's. */
  readonly tied: boolean;
  /** There is an output matrix (or the embedding serves as one). */
  readonly head: boolean;
  /** Rows of a learned table of positions; 0 for none. */
  readonly positions: number;
  /** Parameters of relative positions (T5), in all. */
  readonly relativePositions: number;
  /** Parameters of one norm by hidden size: 1 (a scale), or 2 (and a shift). */
  readonly normParameters: 1 | 2;
  /** Norms of a decoder layer without attention to an encoder: 2, or 4 (Gemma 2). */
  readonly normsPerLayer: number;
  /** There is a norm behind the last layer; else behind the embedding (BERT). */
  readonly finalNorm: boolean;
  readonly biases: { readonly qkv: boolean; readonly output: boolean; readonly ffn: boolean };
  /** Queries and keys are normalised head by head. */
  readonly headNorms: boolean;
  /** One parameter a head beside the scores (GPT-OSS). */
  readonly sinks: boolean;
  /** Tokens see only those before them. */
  readonly causal: boolean;
  /** Dropout in training, whose masks are kept. */
  readonly dropout: boolean;
  /** Tokens that a windowed layer sees; null where all layers see all. */
  readonly window: number | null;
  /** Every n-th layer sees all tokens though there is a window; 0: none does. */
  readonly fullEvery: number;
  readonly experts: Experts | null;
  readonly latent: Latent | null;
  /** Parameters of none of these: segments, poolers. */
  readonly extraParameters: number;
  /** Tokens of a sequence that it was trained with, unless asked otherwise. */
  readonly sequence: number;
}

/** A decoder as Llama's: gated, scales only, rotary positions, no biases. Sizes of a model go over it. */
export const LLAMA_LIKE = {
  encoderLayers: 0,
  gated: true,
  tied: false,
  head: true,
  positions: 0,
  relativePositions: 0,
  normParameters: 1,
  normsPerLayer: 2,
  finalNorm: true,
  biases: { qkv: false, output: false, ffn: false },
  headNorms: false,
  sinks: false,
  causal: true,
  dropout: false,
  window: null,
  fullEvery: 0,
  experts: null,
  latent: null,
  extraParameters: 0,
} as const satisfies Partial<TransformerConfig>;

/** A decoder as GPT-2's: biases, scales and shifts, learned positions, tied, dropout. */
export const GPT_LIKE = {
  ...LLAMA_LIKE,
  gated: false,
  tied: true,
  normParameters: 2,
  biases: { qkv: true, output: true, ffn: true },
  dropout: true,
} as const satisfies Partial<TransformerConfig>;

/** What makes layers differ. */
export interface LayerKind {
  readonly side: "encoder" | "decoder";
  readonly hasExperts: boolean;
  readonly window: number | null;
  /** It attends to the encoder too. */
  readonly crosses: boolean;
}

/** Returns the kind of every layer, the encoder's first. O(layers). */
export function layerKinds(config: TransformerConfig): LayerKind[] {
  const { layers, encoderLayers, experts, window, fullEvery } = config;
  const kindAt = (side: LayerKind["side"], i: number): LayerKind => {
    const after = experts === null ? -1 : i - experts.firstDense;
    return {
      side,
      hasExperts: experts !== null && after >= 0 && (after + 1) % experts.every === 0,
      window: fullEvery > 0 && (i + 1) % fullEvery === 0 ? null : window,
      crosses: side === "decoder" && encoderLayers > 0,
    };
  };
  return [
    ...Array.from({ length: encoderLayers }, (_, i) => kindAt("encoder", i)),
    ...Array.from({ length: layers }, (_, i) => kindAt("decoder", i)),
  ];
}

/** Returns the name of a kind of layer, the same for equal kinds only. */
export function kindName({ side, hasExperts, window, crosses }: LayerKind): string {
  const parts = [side === "encoder" ? "encoder layer" : crosses ? "decoder layer" : "layer"];
  if (hasExperts) parts.push("with experts");
  if (window !== null) parts.push(`with a window of ${window}`);
  return parts.join(" ");
}

/** Per head: numbers of a query (and key), and of a value. */
export const headSizes = ({ latent, headSize }: TransformerConfig): { query: number; value: number } =>
  latent === null
    ? { query: headSize, value: headSize }
    : { query: latent.plainSize + latent.rotarySize, value: latent.valueSize };

/** Each layer is a task of every micro batch. */
const MOST_LAYERS = 10_000;

/** Returns a configuration whose sizes are whole and go together. Throws InputError, at `where`, for the first that does not. */
export function checkedConfig(config: TransformerConfig, where = config.name): TransformerConfig {
  const sizes = ["layers", "hidden", "heads", "kvHeads", "headSize", "ffn", "vocabulary", "sequence"] as const;
  for (const size of sizes) whole(`${where}: ${size}`, config[size], size === "ffn" ? 0 : 1);
  whole(`${where}: encoderLayers`, config.encoderLayers, 0);
  if (config.layers + config.encoderLayers > MOST_LAYERS) {
    throw new InputError(`${where}: layers`, `at most ${MOST_LAYERS}`, config.layers + config.encoderLayers).as(
      "out-of-range",
    );
  }
  if (config.latent === null && config.heads % config.kvHeads !== 0) {
    throw new InputError(`${where}: kvHeads`, `a divisor of the ${config.heads} heads`, config.kvHeads);
  }
  const { experts } = config;
  if (experts !== null) {
    for (const size of ["count", "perToken", "ffn", "every"] as const) {
      whole(`${where}: experts.${size}`, experts[size], 1);
    }
    if (experts.perToken > experts.count) {
      const expected = `at most ${experts.count}, the number of experts`;
      throw new InputError(`${where}: experts.perToken`, expected, experts.perToken);
    }
  }
  return config;
}

function whole(place: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new InputError(place, `an integer of ${least} or more`, value);
  }
}
