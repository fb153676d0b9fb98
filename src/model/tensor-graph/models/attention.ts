import { headSizes, type Latent, type LayerKind, type TransformerConfig } from "../../workload/transformer/config.ts";
import type { GraphBuilder } from "../builder.ts";
import { norm } from "./norm.ts";

/** What layers of a transformer have in common. */
export interface Frame {
  readonly config: TransformerConfig;
  /** Tokens of a sequence. */
  readonly sequence: number;
  readonly capacityFactor: number;
  readonly samples: number;
  readonly tokens: number;
  /** The same tokens, counted apart from those of queries. */
  readonly keyTokens: number;
  readonly hidden: number;
  /** Returns the node of the positions of tokens, an input that is made when it is first wanted. */
  readonly positions: () => number;
  /** Heads of queries that have a head of keys and values each; heads that share one. Those of size 1 are left out. */
  readonly groups: readonly number[];
  readonly inGroup: readonly number[];
}

/** Base of the frequencies of rotary positions (Su et al. 2021). */
const ROTARY_BASE = 10_000;

const PER_HEAD = { parameters: 1 } as const;

/** Queries, keys and values; parts of the scores are sums over pairs of them. */
interface Projected {
  readonly pairs: readonly { readonly query: number; readonly key: number }[];
  readonly values: number;
  /** By whose root scores are divided. */
  readonly size: number;
}

const valueSizeOf = ({ config }: Frame, part: GraphBuilder): number =>
  part.dimension("size of values", headSizes(config).value);

/** What tokens of queries attend to: a node, and as what its tokens are counted. */
export interface Attended {
  readonly node: number;
  readonly tokens: number;
}

/** Returns queries of each head, and keys and values of what is attended to. */
function projected(frame: Frame, part: GraphBuilder, x: number, attended: Attended): Projected {
  const { config, samples, tokens, hidden, groups, inGroup, positions } = frame;
  const querySize = part.dimension("size of queries", config.headSize);
  const make = (name: string, of: Attended, heads: readonly number[], size: number, hasNorm: boolean): number => {
    const weights = part.placeholder(`${name} weights`, "parameter", [hidden, ...heads, size]);
    let made = part.einsum(
      config.biases.qkv ? `${name} unbiased` : name,
      [of.node, weights],
      [samples, of.tokens, ...heads, size],
    );
    if (config.biases.qkv) {
      made = part.apply(name, "add", [made, part.placeholder(`${name} bias`, "parameter", [...heads, size])]);
    }
    return hasNorm ? norm(part, `${name} norm`, made, [size], PER_HEAD) : made;
  };
  let query = make("queries", { node: x, tokens }, [...groups, ...inGroup], querySize, config.headNorms);
  let key = make("keys", attended, groups, querySize, config.headNorms);
  const values = make("values", attended, groups, valueSizeOf(frame, part), false);
  if (config.positions === 0 && config.relativePositions === 0 && attended.node === x) {
    query = turned(part, "turned queries", query, querySize, positions());
    key = turned(part, "turned keys", key, querySize, positions());
  }
  return { pairs: [{ query, key }], values, size: config.headSize };
}

const turned = (part: GraphBuilder, name: string, x: number, size: number, positions: number): number =>
  part.apply(name, "turn", [x, positions], { whole: [size], constant: ROTARY_BASE });

/**
 * Returns the same made of latents (DeepSeek-V2, 2.1): each head has a part without positions, and a turned one, whose keys all
 * heads share.
 */
function fromLatents(frame: Frame, part: GraphBuilder, x: number, latents: Latent): Projected {
  const { samples, tokens, hidden, groups, positions } = frame;
  const { queryRank, keyValueRank, plainSize, rotarySize } = latents;
  const plain = part.dimension("size of queries", plainSize);
  const rotary = part.dimension("size of rotary queries", rotarySize);
  const make = (name: string, from: number, inner: number, made: readonly number[]): number => {
    const weights = part.placeholder(`${name} weights`, "parameter", [inner, ...made]);
    return part.einsum(name, [from, weights], [samples, tokens, ...made]);
  };
  const latent = (name: string, size: number) => {
    const rank = part.dimension(name, size);
    return { node: norm(part, `${name} norm`, make(name, x, hidden, [rank]), [rank], PER_HEAD), rank };
  };
  const forQueries = queryRank === null ? { node: x, rank: hidden } : latent("latents of queries", queryRank);
  const plainQuery = make("queries", forQueries.node, forQueries.rank, [...groups, plain]);
  const rotaryQuery = make("rotary queries", forQueries.node, forQueries.rank, [...groups, rotary]);
  const forKeys = latent("latents of keys and values", keyValueRank);
  const plainKey = make("keys", forKeys.node, forKeys.rank, [...groups, plain]);
  const values = make("values", forKeys.node, forKeys.rank, [...groups, valueSizeOf(frame, part)]);
  const rotaryKey = make("rotary keys", x, hidden, [rotary]);
  const turnedPair = {
    query: turned(part, "turned queries", rotaryQuery, rotary, positions()),
    key: turned(part, "turned keys", rotaryKey, rotary, positions()),
  };
  return { pairs: [{ query: plainQuery, key: plainKey }, turnedPair], values, size: plainSize + rotarySize };
}

/**
 * Returns the nodes whose sum an attention block adds to what came in. Scores and their softmax are fused (Dao et al. 2022); heads
 * that share keys and values see them, without copies (Ainslie et al. 2023). Tokens attend to each other, or to all of `other`: of
 * those positions are not known.
 */
export function attention(
  frame: Frame,
  part: GraphBuilder,
  x: number,
  { side, window }: LayerKind,
  other?: Attended,
): number[] {
  const { config, samples, tokens, hidden, groups, inGroup, positions } = frame;
  const attended = other ?? { node: x, tokens };
  const keyTokens = other?.tokens ?? frame.keyTokens;
  const seenByQueries = (node: number) => part.as(node, attended.tokens, keyTokens);
  const valueSize = valueSizeOf(frame, part);
  const heads = [...groups, ...inGroup];
  const { pairs, values, size } =
    config.latent === null ? projected(frame, part, x, attended) : fromLatents(frame, part, x, config.latent);
  const FUSED = { isFused: true };
  const parts = pairs.map(({ query, key }, i) =>
    part.einsum(
      i === 0 ? "products" : "rotary products",
      [query, seenByQueries(key)],
      [samples, ...heads, tokens, keyTokens],
      FUSED,
    ),
  );
  const products = parts.length === 1 ? (parts[0] as number) : part.apply("all products", "add", parts, FUSED);
  const scores = part.apply("scores", "scale", [products], { ...FUSED, constant: 1 / Math.sqrt(size) });
  const isCausal = config.causal && side === "decoder" && other === undefined;
  const shares = isCausal
    ? part.apply("shares", "causal-softmax", [scores, positions(), seenByQueries(positions())], {
        ...FUSED,
        whole: [keyTokens],
        constant: window ?? 0,
      })
    : part.apply("shares", "softmax", [scores], { ...FUSED, whole: [keyTokens] });
  const mixed = part.einsum("mixed values", [shares, seenByQueries(values)], [samples, tokens, ...heads, valueSize]);
  const weights = part.placeholder("attention output weights", "parameter", [...heads, valueSize, hidden]);
  const output = part.einsum("attention output", [mixed, weights], [samples, tokens, hidden]);
  return config.biases.output ? [output, part.placeholder("attention output bias", "parameter", [hidden])] : [output];
}
