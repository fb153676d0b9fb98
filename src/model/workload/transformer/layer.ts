import type { Communication, CommunicationKind, Computation } from "../layer-work.ts";
import type { Kernel, Operation, Product } from "../operations.ts";
import type { GroupName } from "../parallelism.ts";
import { headSizes, type LayerKind, type TransformerConfig } from "./config.ts";
import { activationBytes, type TransformerOptions } from "./options.ts";
import { attendedPairs } from "./parameters.ts";

/** What one NPU has of a micro batch. */
export interface LocalShape {
  readonly config: TransformerConfig;
  readonly options: TransformerOptions;
  /** Tokens that products of all layers have as rows. */
  readonly tokens: number;
  /** Tokens of what is split along the sequence between products. */
  readonly ownTokens: number;
  /** Bytes of a number between products. */
  readonly bytes: number;
}

/** Returns what one NPU has of a micro batch. */
export function localShape(config: TransformerConfig, options: TransformerOptions): LocalShape {
  const { parallelism, microBatch, sequence, pass, precision } = options;
  const { tensor, context } = parallelism;
  const tokens = pass === "decode" ? microBatch : (microBatch * sequence) / context;
  const ownTokens = parallelism.sequence ? tokens / tensor : tokens;
  return { config, options, tokens, ownTokens, bytes: activationBytes(precision) };
}

/** A stream through memory: so many numbers of each token are read and written, forward and backward. */
export function streamed(name: string, numbers: number, backward: number, bytes: number): Kernel {
  const of = (what: string, count: number): Computation => ({
    name: what,
    kind: "memory",
    flops: 0,
    bytes: count * bytes,
  });
  return {
    kind: "kernel",
    forward: of(name, numbers),
    backward: backward === 0 ? null : of(`${name}: gradients`, backward),
    again: false,
  };
}

/** What a collective of the tensor-parallel (or the expert's) group does for a product. */
export function splitProduct(
  shape: LocalShape,
  product: Product,
  side: "columns" | "rows",
  group: GroupName = "tensor",
  rows = shape.tokens,
  width = shape.config.hidden,
): Operation {
  const { tensor, expertTensor, sequence } = shape.options.parallelism;
  if ((group === "tensor" ? tensor : expertTensor) === 1) return { kind: "product", product };
  const of = (name: string, collective: CommunicationKind): Communication => ({
    name: `${product.name}: ${name}`,
    collective,
    group,
    bytes: Math.ceil(rows * width * shape.bytes),
  });
  const sum = (what: string): Communication => of(`sum of ${what}`, sequence ? "reducescatter" : "allreduce");
  if (side === "columns") {
    const gather = sequence ? { gather: of("parts of sequences", "allgather") } : {};
    return { kind: "product", product: { ...product, ...gather, inputSum: sum("gradients") } };
  }
  const gather = sequence ? { outputGather: of("parts of gradients", "allgather") } : {};
  return { kind: "product", product: { ...product, outputSum: sum("outputs"), ...gather } };
}

/**
 * Returns a norm: its input is read and its result written; backward both gradients and the input are read and one written, read
 * once more for the norm's own gradients, and what came past the block is added (3 + 2 + 3 numbers, by kernels of their own).
 */
const norm = ({ ownTokens, config, bytes }: LocalShape, name: string): Operation =>
  streamed(name, 2 * ownTokens * config.hidden, 8 * ownTokens * config.hidden, bytes);

/** Returns the sum with what went by a block; with dropout a byte of its mask besides; backward also the gradients of a bias. */
function residual({ ownTokens, config, bytes }: LocalShape, name: string): Operation {
  const numbers = ownTokens * config.hidden;
  const mask = config.dropout ? 1 / bytes : 0;
  const backward = (config.dropout ? 2 + mask : 0) + (config.biases.output ? 1 : 0);
  return streamed(name, numbers * (3 + mask), numbers * backward, bytes);
}

/** Returns heads of one NPU: of queries, and of keys and values, which are copied where they are fewer than NPUs. */
export function localHeads({ config, options }: LocalShape): { heads: number; kvHeads: number } {
  const { tensor } = options.parallelism;
  return { heads: config.heads / tensor, kvHeads: Math.max(1, config.kvHeads / tensor) };
}

/** Returns numbers of keys and values that one NPU makes of a token, as attention sees them. */
export function keyValueWidth(shape: LocalShape): number {
  const { query, value } = headSizes(shape.config);
  const { heads, kvHeads } = localHeads(shape);
  return (shape.config.latent === null ? kvHeads : heads) * (query + value);
}

/** Returns the products that make queries, keys and values. */
function projections(shape: LocalShape, name: string): Operation[] {
  const { config, tokens, ownTokens, bytes } = shape;
  const { hidden, latent, headSize } = config;
  const { heads, kvHeads } = localHeads(shape);
  const product = (what: string, rows: number, inner: number, columns: number): Product => ({
    name: `${name} ${what}`,
    rows,
    inner,
    columns,
    count: 1,
  });
  if (latent === null) {
    const columns = headSize * (heads + 2 * kvHeads);
    return [splitProduct(shape, product("queries, keys, values", tokens, hidden, columns), "columns")];
  }
  const { queryRank, keyValueRank, plainSize, rotarySize, valueSize } = latent;
  const query = plainSize + rotarySize;
  const down = (queryRank ?? 0) + keyValueRank + rotarySize;
  const keys = product("keys, values from latents", tokens, keyValueRank, heads * (plainSize + valueSize));
  const compressed: Operation[] = [
    { kind: "product", product: product("latents", ownTokens, hidden, down) },
    streamed(`${name} norm of latents`, 2 * ownTokens * down, 3 * ownTokens * down, bytes),
    splitProduct(shape, keys, "columns", "tensor", tokens, keyValueRank + rotarySize),
  ];
  const queries =
    queryRank === null
      ? splitProduct(shape, product("queries", tokens, hidden, heads * query), "columns")
      : splitProduct(
          shape,
          product("queries from latents", tokens, queryRank, heads * query),
          "columns",
          "tensor",
          tokens,
          queryRank,
        );
  return [...compressed, queries];
}

/** Returns the scores and their use: one kernel, or products with a softmax through memory between them. */
function core(shape: LocalShape, name: string, pairs: number): Operation[] {
  const { config, options, tokens, bytes } = shape;
  const { query, value } = headSizes(config);
  const { heads } = localHeads(shape);
  const moved = tokens * heads * (query + value) + tokens * keyValueWidth(shape);
  if (options.flash) {
    const flops = 2 * pairs * heads * (query + value);
    const kernel = (what: string, times: number): Computation => ({
      name: what,
      kind: "attention",
      flops: times * flops,
      bytes: times * moved * bytes,
    });
    // five products where the forward pass has two, for scores are made again (Dao et al. 2022)
    return [{ kind: "kernel", forward: kernel(name, 1), backward: kernel(`${name}: gradients`, 2.5), again: false }];
  }
  const scores = tokens * options.sequence * heads;
  const product = (what: string, width: number): Operation => {
    const of = (title: string, times: number): Computation => ({
      name: title,
      kind: "attention",
      flops: 2 * times * scores * width,
      bytes: times * (scores + moved / 2) * bytes,
    });
    return { kind: "kernel", forward: of(what, 1), backward: of(`${what}: gradients`, 2), again: true };
  };
  const mask = config.dropout ? 1 / bytes : 0;
  const softmax = streamed(
    `${name} softmax`,
    scores * (config.dropout ? 4 + mask : 2),
    scores * (config.dropout ? 5 + mask : 3),
    bytes,
  );
  return [product(`${name} scores`, query), { ...softmax, again: true }, product(`${name} values`, value)];
}

/** Returns the attention to what is kept of all tokens before: it is read from memory once. */
function cached({ config, options, tokens, bytes }: LocalShape, name: string, keys: number, width: number): Operation {
  const { latent } = config;
  const heads = config.heads / options.parallelism.tensor;
  const { query, value } = headSizes(config);
  // with latents, queries and outputs are taken to the latents' side (DeepSeek-V2, 2.1.2)
  const each = latent === null ? query + value : 2 * latent.keyValueRank + latent.rotarySize;
  const forward: Computation = {
    name,
    kind: "attention",
    flops: 2 * tokens * keys * heads * each,
    bytes: tokens * keys * width * bytes,
  };
  return { kind: "kernel", forward, backward: null, again: false };
}

/** Returns numbers that are kept of a token for tokens to come, on one NPU. */
export const cachedWidth = (shape: LocalShape): number =>
  shape.config.latent === null
    ? keyValueWidth(shape)
    : shape.config.latent.keyValueRank + shape.config.latent.rotarySize;

/**
 * Returns an attention block. Along the context axis, keys and values of all parts are brought together before it and once more in
 * the backward pass, which sums their gradients back to their parts (Llama 3, Dubey et al. 2024, 3.3.2); parts are paired so that
 * each has as many pairs.
 */
function attention(shape: LocalShape, kind: LayerKind, name: string, isCross: boolean): Operation[] {
  const { config, options, tokens, bytes } = shape;
  const { microBatch, sequence, pass, parallelism } = options;
  const { context } = parallelism;
  const { heads } = localHeads(shape);
  const { query, value } = headSizes(config);
  const isCausal = config.causal && kind.side === "decoder" && !isCross;
  const window = isCross ? null : kind.window;
  const operations: Operation[] = [norm(shape, `${name} norm`), ...projections(shape, name)];
  const rotates = config.positions === 0 && config.relativePositions === 0;
  const turned = tokens * (heads * query + keyValueWidth(shape) / 2);
  if (rotates) operations.push(streamed(`${name} positions`, 2 * turned, 2 * turned, bytes));
  if (config.headNorms) operations.push(streamed(`${name} head norms`, 2 * turned, 3 * turned, bytes));
  if (pass === "decode") {
    operations.push(cached(shape, name, Math.min(window ?? sequence, sequence), cachedWidth(shape)));
  } else {
    const pairs = (microBatch * attendedPairs(sequence, isCausal, window)) / context;
    const of = (what: string, collective: CommunicationKind): Communication => ({
      name: `${name} ${what}`,
      collective,
      group: "context",
      bytes: microBatch * sequence * keyValueWidth(shape) * bytes,
    });
    const gather = of("keys, values of all parts", "allgather");
    if (context > 1) {
      operations.push({
        kind: "exchange",
        forward: gather,
        backward: of("sum of gradients of keys, values", "reducescatter"),
      });
    }
    operations.push(...core(shape, name, pairs));
    if (context > 1) operations.push({ kind: "exchange", forward: null, backward: gather });
  }
  const output: Product = {
    name: `${name} output`,
    rows: tokens,
    inner: heads * value,
    columns: config.hidden,
    count: 1,
  };
  operations.push(splitProduct(shape, output, "rows"));
  if (config.normsPerLayer > 2) operations.push(norm(shape, `${name} norm behind`));
  operations.push(residual(shape, `${name} residual`));
  return operations;
}

/** Returns a feed-forward block of a width on rows, without norm and residual. */
function ffn(shape: LocalShape, name: string, width: number): Operation[] {
  const { config, options, tokens, bytes } = shape;
  const own = width / options.parallelism.tensor;
  const up: Product = {
    name: `${name} up`,
    rows: tokens,
    inner: config.hidden,
    columns: own * (config.gated ? 2 : 1),
    count: 1,
  };
  const down: Product = { name: `${name} down`, rows: tokens, inner: own, columns: config.hidden, count: 1 };
  return [
    splitProduct(shape, up, "columns"),
    activation(config, name, tokens * own, bytes),
    splitProduct(shape, down, "rows"),
  ];
}

/** Returns the activation between two products: backward it reads its input and the gradient, and those of a bias once more. */
const activation = ({ gated, biases }: TransformerConfig, name: string, numbers: number, bytes: number): Operation => {
  const backward = (gated ? 5 : 3) + (biases.ffn ? (gated ? 2 : 1) : 0);
  return streamed(`${name} activation`, numbers * (gated ? 3 : 2), numbers * backward, bytes);
};

/** Tokens of one NPU that go to experts, with each of them once; and how many come to it. */
export function routedTokens({ config, options, ownTokens }: LocalShape): { sent: number; received: number } {
  const { expertTensor, sequence } = options.parallelism;
  const sent = ownTokens * (config.experts?.perToken ?? 0) * options.capacityFactor;
  return { sent, received: sequence ? sent * expertTensor : sent };
}

/**
 * Returns a block of experts: tokens go to their experts and back (an all-to-all each way, forward and backward; Lepikhin et al.
 * 2021), and all experts get as many, as a loss that balances them wants it.
 */
function expertBlock(shape: LocalShape, name: string): Operation[] {
  const { config, options, ownTokens, bytes } = shape;
  const { experts, hidden, gated } = config;
  if (experts === null) return [];
  const { expert, expertTensor } = options.parallelism;
  const { sent, received } = routedTokens(shape);
  // of few tokens, not all experts get one; the others' weights stay where they are
  const count = Math.min(experts.count / expert, received);
  const rows = received / count;
  const width = experts.ffn / expertTensor;
  const exchange = (what: string): Operation => {
    const of: Communication = {
      name: `${name} ${what}`,
      collective: "alltoall",
      group: "experts",
      bytes: Math.ceil(sent * hidden * bytes),
    };
    return { kind: "exchange", forward: of, backward: of };
  };
  const router: Product = {
    name: `${name} router`,
    rows: ownTokens,
    inner: hidden,
    columns: experts.count,
    count: 1,
    sixteenBits: true,
  };
  const product = (what: string, inner: number, columns: number): Product => ({
    name: `${name} ${what}`,
    rows,
    inner,
    columns,
    count,
    ...(options.groupedExperts && { isGrouped: true }),
  });
  const moved = sent * hidden;
  const operations: Operation[] = [
    { kind: "product", product: router },
    streamed(`${name} dealing`, ownTokens * hidden + moved, moved + ownTokens * hidden, bytes),
  ];
  if (expert > 1) operations.push(exchange("tokens to experts"));
  operations.push(
    splitProduct(shape, product("up", hidden, width * (gated ? 2 : 1)), "columns", "expertTensor", received),
    activation(config, name, received * width, bytes),
    splitProduct(shape, product("down", width, hidden), "rows", "expertTensor", received),
  );
  if (expert > 1) operations.push(exchange("tokens from experts"));
  operations.push(
    streamed(`${name} sum of experts`, moved + ownTokens * hidden, 2 * moved + ownTokens * hidden, bytes),
  );
  if (experts.sharedFfn > 0) operations.push(...ffn(shape, "shared expert", experts.sharedFfn));
  return operations;
}

/** Returns what one NPU does for a layer of a kind with a micro batch. */
export function layerOperations(shape: LocalShape, kind: LayerKind): Operation[] {
  const name = kind.hasExperts ? "experts" : "feed-forward";
  const operations = attention(shape, kind, "attention", false);
  if (kind.crosses) operations.push(...attention(shape, kind, "attention to the encoder", true));
  operations.push(norm(shape, `${name} norm`));
  operations.push(...(kind.hasExperts ? expertBlock(shape, name) : ffn(shape, name, shape.config.ffn)));
  if (shape.config.normsPerLayer > 2) operations.push(norm(shape, `${name} norm behind`));
  operations.push(residual(shape, `${name} residual`));
  return operations;
}

/** Returns what the first stage does before the layers: rows of the table, summed over the NPUs that have parts of it. */
export function embeddingOperations({ config, options, tokens, ownTokens, bytes }: LocalShape): Operation[] {
  const { tensor, sequence } = options.parallelism;
  const operations: Operation[] = [
    streamed("embedding", 2 * tokens * config.hidden, 3 * tokens * config.hidden, bytes),
  ];
  if (tensor > 1) {
    const of = (collective: CommunicationKind): Communication => ({
      name: "sum of embeddings",
      collective,
      group: "tensor",
      bytes: tokens * config.hidden * bytes,
    });
    const backward = sequence ? of("allgather") : null;
    operations.push({ kind: "exchange", forward: of(sequence ? "reducescatter" : "allreduce"), backward });
  }
  if (config.dropout || !config.finalNorm) {
    operations.push(streamed("embedding dropout", 2 * ownTokens * config.hidden, 2 * ownTokens * config.hidden, bytes));
  }
  return operations;
}

/** Bytes of what the NPUs of a tensor-parallel group tell each other of a token's loss: greatest, sum, own logit; 4 each. */
const LOSS_BYTES = 12;

/** Returns what the last stage does behind the layers: logits and, in training, the loss; else of the last token only. */
export function headOperations(shape: LocalShape): Operation[] {
  const { config, options, tokens, bytes } = shape;
  const { tensor } = options.parallelism;
  const operations: Operation[] = config.finalNorm ? [norm(shape, "head norm")] : [];
  if (!config.head) return operations;
  const rows = options.pass === "train" ? tokens : options.microBatch;
  const columns = Math.ceil(config.vocabulary / tensor);
  const product: Product = { name: "head", rows, inner: config.hidden, columns, count: 1, sixteenBits: true };
  if (options.pass !== "train") return [...operations, { kind: "product", product }];
  operations.push(splitProduct(shape, product, "columns"));
  // logits are read and written in 4 bytes: made, their greatest taken, exponents summed; then gradients of them
  operations.push(streamed("loss", (rows * columns * 10) / bytes, (rows * columns * 6) / bytes, bytes));
  if (tensor > 1) {
    const forward: Communication = {
      name: "loss sums",
      collective: "allreduce",
      group: "tensor",
      bytes: rows * LOSS_BYTES,
    };
    operations.push({ kind: "exchange", forward, backward: null });
  }
  return operations;
}
