import type { Product } from "../operations.ts";
import type { TrainingStep } from "../training-step.ts";
import {
  copiedStep,
  localLayer,
  productFlops,
  samplesEach,
  type TableLayer,
  type TableOptions,
} from "./table-layers.ts";

/** A translator of long short-term memories with attention (Wu et al. 2016). */
export interface GnmtSizes {
  readonly name: string;
  readonly source: string;
  /** Of encoder and decoder each; the encoder's first runs both ways. */
  readonly layers: number;
  readonly hidden: number;
  readonly vocabulary: number;
  /** Tokens of a sentence, both languages. */
  readonly sentence: number;
}

/** Sentences of WMT16 have some 25 to 30 tokens, and at most 50 are trained on; 30 is chosen. */
const SENTENCE = 30;

export const GNMT_8: GnmtSizes = {
  name: "gnmt",
  source: "NVIDIA's GNMT v2 (MLPerf's translator): 4 + 4 layers of 1024; sentences of 30 tokens are chosen",
  layers: 4,
  hidden: 1024,
  vocabulary: 32317,
  sentence: SENTENCE,
};

export const GNMT_16: GnmtSizes = {
  name: "gnmt-16",
  source: "Wu et al. 2016: 8 + 8 layers of 1024; cells, vocabulary and sentences as gnmt's",
  layers: 8,
  hidden: 1024,
  vocabulary: 32317,
  sentence: SENTENCE,
};

/** Gates of a long short-term memory. */
const GATES = 4;

/** Returns a layer of cells: all tokens' inputs at once, then a product a token with what the cell remembers. */
function cells(name: string, input: number, hidden: number, sentences: number, tokens: number, ways = 1): TableLayer {
  const columns = GATES * hidden;
  const inputs: Product = { name: `${name} inputs`, rows: sentences * tokens, inner: input, columns, count: ways };
  const steps: Product = { name: `${name} steps`, rows: sentences, inner: hidden, columns, count: ways * tokens };
  return {
    name,
    products: [inputs, steps],
    // gates are read, state and output written
    streamed: ways * sentences * tokens * (columns + 3 * hidden),
    // two biases, as cuDNN has them
    parameters: ways * (columns * (input + hidden) + 2 * columns),
    kept: ways * sentences * tokens * (input + columns + 2 * hidden),
  };
}

/**
 * Returns the layers for so many pairs of sentences: embedding (shared by both sides), encoder, decoder, whose first layer attends
 * (two maps, two vectors and a scalar: normalised Bahdanau attention) and whose others get what was attended to, and classifier.
 */
export function gnmtLayers({ layers, hidden, vocabulary, sentence }: GnmtSizes, sentences: number): TableLayer[] {
  const rows = sentences * sentence;
  const all: TableLayer[] = [
    { name: "embedding", products: [], streamed: 4 * rows * hidden, parameters: vocabulary * hidden, kept: 0 },
  ];
  for (let i = 0; i < layers; i++) {
    const input = i === 1 ? 2 * hidden : hidden;
    all.push(cells(`encoder ${i + 1}`, input, hidden, sentences, sentence, i === 0 ? 2 : 1));
  }
  for (let i = 0; i < layers; i++) {
    all.push(cells(`decoder ${i + 1}`, i === 0 ? hidden : 2 * hidden, hidden, sentences, sentence));
    if (i > 0) continue;
    const map = (name: string): Product => ({
      name: `attention ${name}`,
      rows,
      inner: hidden,
      columns: hidden,
      count: 1,
    });
    all.push({
      name: "attention",
      products: [map("keys"), map("queries")],
      // each pair of tokens: sum, hyperbolic tangent and weight over the hidden size
      streamed: 2 * rows * sentence * hidden,
      parameters: 2 * hidden * hidden + 2 * hidden + 1,
      kept: 2 * rows * hidden + rows * sentence,
    });
  }
  const classifier: Product = { name: "classifier", rows, inner: hidden, columns: vocabulary, count: 1 };
  const parameters = hidden * vocabulary + vocabulary;
  all.push({
    name: "classifier",
    products: [classifier],
    streamed: 4 * rows * vocabulary,
    parameters,
    kept: rows * vocabulary,
  });
  return all;
}

/** Returns a training step of the translator in copies. Throws InputError where the batch does not divide. */
export function gnmtStep(sizes: GnmtSizes, options: TableOptions): TrainingStep {
  const layers = gnmtLayers(sizes, samplesEach(options, sizes.name)).map((layer) => localLayer(layer, options));
  const flops = gnmtLayers(sizes, 1).reduce(
    (sum, { products }) => sum + products.reduce((s, p) => s + productFlops(p), 0),
    0,
  );
  return copiedStep(sizes.name, layers, options, [2 * sizes.sentence, flops]);
}
