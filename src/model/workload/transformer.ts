import { BYTES_OF } from "./accelerators.ts";
import { NOTHING } from "./layer-work.ts";
import { backwardPass, forwardPass, type Operation, type ProductBytes } from "./operations.ts";
import { type LocalLayer, sharedLayers } from "./sharing.ts";
import type { TrainingStep } from "./training-step.ts";
import { embeddingActivations, headActivations, layerActivations } from "./transformer/activations.ts";
import { checkedConfig, kindName, type LayerKind, layerKinds, type TransformerConfig } from "./transformer/config.ts";
import {
  embeddingOperations,
  headOperations,
  type LocalShape,
  layerOperations,
  localShape,
} from "./transformer/layer.ts";
import {
  checkOptions,
  dealtLayers,
  microBatchesOf,
  parameterBytes,
  type TransformerOptions,
} from "./transformer/options.ts";
import { embeddingParameters, forwardFlops, headParameters, layerParameters } from "./transformer/parameters.ts";

/**
 * Returns what every NPU does in a step of a transformer: with tensor parallelism (Shoeybi et al. 2019), with sequences split
 * between products (Korthikanti et al. 2022), in parts of sequences (context), in pipeline stages (Narayanan et al. 2021), with
 * experts dealt among copies (Lepikhin et al. 2021), on copies that share (ZeRO). Gradients of norms are not summed over the
 * tensor-parallel group, nor those of a tied matrix between first and last stage: both are small. Throws InputError where
 * something does not divide. O(layers).
 */
export function transformerStep(asked: TransformerConfig, wanted: TransformerOptions): TrainingStep {
  const config = checkedConfig(asked);
  const options = wanted.pass === "decode" ? withWholeSequences(wanted) : wanted;
  checkOptions(config, options);
  const { parallelism, pass, batch, sequence, order, overlapped, bucketBytes } = options;
  const shape = localShape(config, options);
  const trains = pass === "train";
  const sharing = { parallelism, bytes: parameterBytes(options), bucketBytes, trains };
  return {
    name: config.name,
    parallelism,
    microBatches: microBatchesOf(options),
    order,
    overlapped,
    trains,
    stages: sharedLayers(partsOf(shape), sharing),
    boundaryBytes: shape.ownTokens * config.hidden * shape.bytes,
    samples: batch,
    tokens: pass === "decode" ? batch : batch * sequence,
    modelFlops: batch * modelFlops(config, options),
  };
}

/** One token of each sequence is not split along it, whatever is asked. */
const withWholeSequences = (options: TransformerOptions): TransformerOptions => ({
  ...options,
  parallelism: { ...options.parallelism, sequence: false },
});

/** Returns the model's operations for one sequence. */
function modelFlops(config: TransformerConfig, { pass, sequence, attentionCount }: TransformerOptions): number {
  if (pass !== "decode") return forwardFlops(config, sequence, attentionCount) * (pass === "train" ? 3 : 1);
  // one more token: what the sequence takes with it and without it, all that is before it seen
  return forwardFlops(config, sequence + 1, "causal") - forwardFlops(config, sequence, "causal");
}

/** Returns the layers of one NPU in every part of every stage, [stage x interleaved + part]. */
function partsOf(shape: LocalShape): LocalLayer[][] {
  const { config, options } = shape;
  const { pipeline, interleaved } = options.parallelism;
  const kinds = layerKinds(config);
  const places = pipeline * interleaved;
  const counts = options.layersPerPart ?? dealtLayers(kinds.length, places);
  const known = new Map<string, LocalLayer>();
  const layerOf = (kind: LayerKind): LocalLayer => {
    const name = kindName(kind);
    const layer = known.get(name) ?? localLayer(shape, kind);
    known.set(name, layer);
    return layer;
  };
  let from = 0;
  const byPlace = counts.map((count) => {
    from += count;
    return kinds.slice(from - count, from).map(layerOf);
  });
  byPlace[0].unshift(embeddingLayer(shape));
  byPlace[places - 1].push(headLayer(shape, places > 1));
  return Array.from({ length: places }, (_, i) => byPlace[(i % interleaved) * pipeline + Math.floor(i / interleaved)]);
}

const productBytes = ({ options, bytes }: LocalShape): ProductBytes => ({
  factor: BYTES_OF[options.precision],
  result: bytes,
  gradient: options.gradientBytes,
});

/** Returns both passes of operations; full recomputation is of layers, not of embedding and head. */
function passes(
  shape: LocalShape,
  operations: readonly Operation[],
  isLayer: boolean,
): Pick<LocalLayer, "forward" | "backward"> {
  const { pass, recompute } = shape.options;
  const size = productBytes(shape);
  return {
    forward: forwardPass(operations, size),
    backward: pass === "train" ? backwardPass(operations, size, isLayer ? recompute : "none") : NOTHING,
  };
}

function localLayer(shape: LocalShape, kind: LayerKind): LocalLayer {
  const { kept, again } = layerActivations(shape, kind);
  return {
    name: kindName(kind),
    ...passes(shape, layerOperations(shape, kind), true),
    ...layerParameters(shape.config, kind, shape.options.parallelism),
    activations: kept,
    working: again,
  };
}

const embeddingLayer = (shape: LocalShape): LocalLayer => ({
  name: "embedding",
  ...passes(shape, embeddingOperations(shape), false),
  dense: embeddingParameters(shape.config, shape.options.parallelism.tensor),
  experts: 0,
  activations: embeddingActivations(shape),
  working: 0,
});

const headLayer = (shape: LocalShape, isAlone: boolean): LocalLayer => ({
  name: "head",
  ...passes(shape, headOperations(shape), false),
  dense: headParameters(shape.config, shape.options.parallelism.tensor, isAlone),
  experts: 0,
  activations: headActivations(shape),
  working: 0,
});
