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

/** A residual network of bottleneck blocks on images of 224 x 224 and 1,000 classes. */
export interface ResnetSizes {
  readonly name: string;
  /** Blocks of conv2_x .. conv5_x (He et al. 2016, table 1). */
  readonly blocks: readonly [number, number, number, number];
}

export const RESNETS: readonly ResnetSizes[] = [
  { name: "resnet-50", blocks: [3, 4, 6, 3] },
  { name: "resnet-101", blocks: [3, 4, 23, 3] },
  { name: "resnet-152", blocks: [3, 8, 36, 3] },
];

export const CLASSES = 1000;
export const COLOURS = 3;

/** A convolution as it is for one image. */
export interface Convolution {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Side of its window, and of what it makes. */
  readonly window: number;
  readonly side: number;
}

/**
 * Returns the convolutions of every part: the first one, then block by block. In the first block of conv3_x .. conv5_x the first
 * convolution and the shortcut have the stride (He et al. 2016).
 */
export function convolutions({ blocks }: ResnetSizes): Convolution[][] {
  const parts: Convolution[][] = [[{ name: "conv1", from: COLOURS, to: 64, window: 7, side: 112 }]];
  let from = 64;
  for (const [stage, count] of blocks.entries()) {
    const width = 64 * 2 ** stage;
    const to = 4 * width;
    const side = 56 / 2 ** stage;
    for (let block = 0; block < count; block++) {
      const name = `conv${stage + 2}_${block + 1}`;
      const part: Convolution[] = [
        { name: `${name} narrow`, from, to: width, window: 1, side },
        { name: `${name} window`, from: width, to: width, window: 3, side },
        { name: `${name} wide`, from: width, to, window: 1, side },
      ];
      if (block === 0) part.push({ name: `${name} shortcut`, from, to, window: 1, side });
      parts.push(part);
      from = to;
    }
  }
  return parts;
}

/** A convolution is a product of windows of pixels with weights (Chetlur et al. 2014). */
const productOf = ({ name, from, to, window, side }: Convolution, images: number): Product => ({
  name,
  rows: images * side * side,
  inner: from * window * window,
  columns: to,
  count: 1,
  isFirst: from === COLOURS,
});

/** A scale and a shift of each channel. */
const NORM_PARAMETERS = 2;

/** Returns the layers of a network for so many images: the first convolution, blocks, and the classifier. */
export function resnetLayers(sizes: ResnetSizes, images: number): TableLayer[] {
  const layers = convolutions(sizes).map((part): TableLayer => {
    const made = part.reduce((sum, { to, side }) => sum + images * side * side * to, 0);
    const weights = part.reduce((sum, { from, to, window }) => sum + from * to * window * window, 0);
    const channels = part.reduce((sum, { to }) => sum + to, 0);
    return {
      name: part.length === 1 ? "conv1" : (part[0].name.split(" ")[0] as string),
      products: part.map((one) => productOf(one, images)),
      // norms read twice (mean, then use) and write, activations are part of that
      streamed: 3 * made,
      parameters: weights + NORM_PARAMETERS * channels,
      // what norms and convolutions got
      kept: 2 * made,
    };
  });
  const features = 512 * 4;
  const classifier: Product = { name: "classifier", rows: images, inner: features, columns: CLASSES, count: 1 };
  return [
    ...layers,
    {
      name: "classifier",
      products: [classifier],
      streamed: images * 49 * features,
      parameters: features * CLASSES + CLASSES,
      kept: images * features,
    },
  ];
}

/** Returns a training step of a residual network in copies. Throws InputError where the batch does not divide. */
export function resnetStep(sizes: ResnetSizes, options: TableOptions): TrainingStep {
  const layers = resnetLayers(sizes, samplesEach(options, sizes.name));
  const flops = resnetLayers(sizes, 1).reduce(
    (sum, { products }) => sum + products.reduce((s, p) => s + productFlops(p), 0),
    0,
  );
  return copiedStep(
    sizes.name,
    layers.map((layer) => localLayer(layer, options)),
    options,
    [0, flops],
  );
}
