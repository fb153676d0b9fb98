import { InputError, inWords } from "../../../base/errors.ts";
import type { Precision } from "../../workload/accelerators.ts";
import {
  checkedConfig,
  kindName,
  type LayerKind,
  layerKinds,
  type TransformerConfig,
} from "../../workload/transformer/config.ts";
import { activationBytes } from "../../workload/transformer/options.ts";
import { type GraphBuilder, graphBuilder } from "../builder.ts";
import type { TensorGraph } from "../graph.ts";
import { type Attended, attention, type Frame } from "./attention.ts";
import { expertBlock, feedForward } from "./feed-forward.ts";
import { norm } from "./norm.ts";

export interface GraphSizes {
  /** Sequences of a step, over all NPUs. */
  readonly batch: number;
  /** Tokens of each. */
  readonly sequence: number;
  /** Of weights and of what comes between products; below 16 bits they have 16. */
  readonly precision: Precision;
  /** Places of an expert, by the tokens that it gets of a sequence if all get as many; 1 where not given. */
  readonly capacityFactor?: number;
}

/** Bytes of indices, logits and losses. */
const WORD = 4;

/** Returns what all layers of a side share; names of the encoder's own say so. */
function frameOf(
  builder: GraphBuilder,
  config: TransformerConfig,
  sizes: GraphSizes,
  side: LayerKind["side"] = "decoder",
): Frame {
  const { batch, sequence } = sizes;
  const { heads, kvHeads, latent } = config;
  const of = (name: string, size: number): number => builder.dimension(name, size);
  const unlessOne = (name: string, size: number): number[] => (size === 1 ? [] : [of(name, size)]);
  const behind = side === "encoder" ? " of the encoder" : "";
  const tokens = of(`tokens${behind}`, sequence);
  let positions: number | undefined;
  // latents make keys for every head
  const [groups, inGroup] = latent === null ? [kvHeads, heads / kvHeads] : [heads, 1];
  return {
    config,
    capacityFactor: sizes.capacityFactor ?? 1,
    sequence,
    samples: of("samples", batch),
    tokens,
    keyTokens: of(`tokens of keys${behind}`, sequence),
    hidden: of("hidden", config.hidden),
    positions: () => {
      positions ??= builder.placeholder(`positions${behind}`, "input", [tokens], WORD);
      return positions;
    },
    groups: unlessOne(inGroup === 1 ? "heads" : "groups of heads", groups),
    inGroup: unlessOne(groups === 1 ? "heads" : "heads in a group", inGroup),
  };
}

/** Returns what goes from layer to layer, behind one more; layers that do so attend to what the encoder made. */
function layer(frame: Frame, part: GraphBuilder, x: number, kind: LayerKind, encoded?: Attended): number {
  const { config, hidden } = frame;
  const own = { parameters: config.normParameters };
  /** Returns the sum of what came in and what a block made of it. */
  const sumOf = (name: string, input: number, made: readonly number[]): number => {
    if (config.normsPerLayer <= 2) return part.apply(name, "add", [input, ...made]);
    const whole = made.length === 1 ? (made[0] as number) : part.apply(`${name} of parts`, "add", made);
    return part.apply(name, "add", [input, norm(part, `norm behind ${name}`, whole, [hidden], own)]);
  };
  const attended = attention(frame, part, norm(part, "attention norm", x, [hidden], own), kind);
  let middle = sumOf("sum with attention", x, attended);
  if (kind.crosses && encoded !== undefined) {
    const crossing = part.part("crossing", `${kindName(kind)}, crossing`);
    const made = attention(frame, crossing, norm(crossing, "norm", middle, [hidden], own), kind, encoded);
    middle = sumOf("sum with crossing", middle, made);
  }
  const normed = norm(part, "feed-forward norm", middle, [hidden], own);
  const made =
    kind.hasExperts && config.experts !== null
      ? expertBlock(frame, part, normed, config.experts)
      : feedForward(frame, part, normed);
  return sumOf("sum with feed-forward", middle, made);
}

/** Returns what the layers of a side get, and the table of the embedding, which both sides share. */
function embedding(frame: Frame, builder: GraphBuilder, vocabulary: number, shared?: number) {
  const { config, samples, tokens, hidden, positions } = frame;
  const ids = builder.placeholder("ids of tokens", "input", [samples, tokens], WORD);
  const table = shared ?? builder.placeholder("embedding", "parameter", [vocabulary, hidden]);
  const rows = builder.apply("rows of the embedding", "one-hot", [ids], {
    dims: [samples, tokens, vocabulary],
    whole: [vocabulary],
    isFused: true,
  });
  let x = builder.select("embedded", [rows, table], [samples, tokens, hidden]);
  if (config.positions > 0) {
    const place = builder.dimension("positions", config.positions);
    const ofPositions = builder.placeholder("embedding of positions", "parameter", [place, hidden]);
    const which = builder.apply("rows of positions", "one-hot", [positions()], {
      dims: [tokens, place],
      whole: [place],
      isFused: true,
    });
    const there = builder.select("embedded positions", [which, ofPositions], [tokens, hidden]);
    x = builder.apply("embedded with positions", "add", [x, there]);
  }
  if (!config.finalNorm) x = norm(builder, "embedding norm", x, [hidden], { parameters: config.normParameters });
  return { x, table };
}

/**
 * Returns the forward graph of a transformer from the ids of tokens to the mean loss over all of them (without a head, to what the
 * last layer makes); an encoder has as many tokens. Inputs: positions (0 .. sequence - 1), ids, targets. Logits and losses have 4 bytes;
 * logits are no fused tensor, so they are kept as PyTorch keeps them. Nodes of layers of one kind are of one class, place by place.
 * Left out: dropout, caps of logits, scales of embeddings (Gemma), sinks of attention (gpt-oss: one parameter a head and layer),
 * what stands beside the layers (BERT: segments, pooler), relative positions (T5: 32 parameters a head and side); experts take all logits as they are, whatever the model's own way of
 * scoring. 30 nodes a layer as Llama's, parameters included, up to 63 with experts and latents. Throws InputError for sizes that
 * are none, and for an encoder with latents or a table of positions. O(layers).
 */
export function transformerGraph(asked: TransformerConfig, sizes: GraphSizes): TensorGraph {
  const config = checkedConfig(asked);
  for (const size of ["batch", "sequence"] as const) {
    if (!Number.isSafeInteger(sizes[size]) || sizes[size] < 1) {
      throw new InputError(`the ${size} of ${config.name}`, "an integer of 1 or more", sizes[size]);
    }
  }
  if (config.encoderLayers > 0 && (config.positions > 0 || config.latent !== null)) {
    throw new InputError(
      "the model",
      "without a table of positions or latents, as it has an encoder",
      inWords(config.name),
    ).as("not-applicable");
  }
  if (config.positions > 0 && sizes.sequence > config.positions) {
    const expected = `at most ${config.positions}, the positions that it knows`;
    throw new InputError(`the sequence of ${config.name}`, expected, sizes.sequence).as("out-of-range");
  }
  if (!config.causal && config.window !== null) {
    throw new InputError(`the window of ${config.name}`, "null where tokens see all others", config.window);
  }
  const builder = graphBuilder(activationBytes(sizes.precision));
  const frame = frameOf(builder, config, sizes);
  const { samples, tokens, hidden } = frame;
  const vocabulary = builder.dimension("vocabulary", config.vocabulary);
  const kinds = layerKinds(config);
  let encoded: (Attended & { readonly table: number }) | undefined;
  if (config.encoderLayers > 0) {
    const own = frameOf(builder, config, sizes, "encoder");
    let { x, table } = embedding(own, builder.part("encoder", "encoder"), vocabulary);
    kinds.slice(0, config.encoderLayers).forEach((kind, i) => {
      x = layer(own, builder.part(`encoder layer ${i + 1}`, kindName(kind)), x, kind);
    });
    const parameters = config.normParameters;
    if (config.finalNorm) x = norm(builder, "final norm of the encoder", x, [hidden], { parameters });
    encoded = { node: x, tokens: own.tokens, table };
  }
  const { x: embedded, table } = embedding(frame, builder, vocabulary, encoded?.table);
  let x = embedded;
  kinds.slice(config.encoderLayers).forEach((kind, i) => {
    x = layer(frame, builder.part(`layer ${i + 1}`, kindName(kind)), x, kind, encoded);
  });
  if (config.finalNorm) x = norm(builder, "final norm", x, [hidden], { parameters: config.normParameters });
  if (!config.head) return builder.graph(config.name, [x]);
  const head = config.tied ? table : builder.placeholder("head weights", "parameter", [vocabulary, hidden]);
  const bytes = WORD;
  const logits = builder.einsum("logits", [x, head], [samples, tokens, vocabulary], { bytes });
  const targets = builder.placeholder("targets", "input", [samples, tokens], bytes);
  const losses = builder.apply("losses", "cross-entropy", [logits, targets], {
    dims: [samples, tokens],
    whole: [vocabulary],
    bytes,
  });
  const sum = builder.reduce("sum of losses", "sum", losses, [samples, tokens], { bytes });
  const mean = 1 / (sizes.batch * sizes.sequence);
  return builder.graph(config.name, [builder.apply("loss", "scale", [sum], { bytes, constant: mean })]);
}
