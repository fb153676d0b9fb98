import { InputError } from "../../../base/errors.ts";
import type { Precision } from "../../workload/accelerators.ts";
import { CLASSES, COLOURS, type Convolution, convolutions, type ResnetSizes } from "../../workload/tables/resnet.ts";
import { activationBytes } from "../../workload/transformer/options.ts";
import { type GraphBuilder, graphBuilder } from "../builder.ts";
import type { TensorGraph } from "../graph.ts";
import { norm } from "./norm.ts";

/** Side of the images that come in, and of what the first pooling makes. */
const IMAGE = 224;
const POOLED = 56;
const POOL_WINDOW = 3;

/** What goes from layer to layer: a node, along samples, rows and columns of a side, and channels. */
interface Image {
  readonly node: number;
  readonly side: number;
  readonly channels: number;
}

/** Dimensions. */
interface Frame {
  readonly samples: number;
  /** Rows and columns of a side. */
  readonly square: (side: number) => readonly [number, number];
  readonly window: (side: number) => readonly [number, number];
  readonly channels: (name: string, size: number) => number;
}

function frameOf({ dimension }: GraphBuilder, batch: number): Frame {
  return {
    samples: dimension("samples", batch),
    square: (side) => [dimension(`rows of ${side}`, side), dimension(`columns of ${side}`, side)],
    window: (side) => [
      dimension(`rows of a window of ${side}`, side),
      dimension(`columns of a window of ${side}`, side),
    ],
    channels: (name, size) => dimension(`channels of ${name}`, size),
  };
}

/** Returns what each window of an image sees, fused. */
function windowsOf(frame: Frame, part: GraphBuilder, name: string, image: Image, side: number, window: number): number {
  const [from, to, within] = [frame.square(image.side), frame.square(side), frame.window(window)];
  return part.apply(name, "windows", [image.node], {
    dims: [frame.samples, image.channels, ...to, ...within],
    whole: [...from, ...to, ...within],
    constant: image.side / side,
    isFused: true,
  });
}

/** Returns an image behind a convolution and its norm. */
function convolved(
  frame: Frame,
  part: GraphBuilder,
  image: Image,
  { name, window, side }: Pick<Convolution, "name" | "window" | "side">,
  channels: number,
): Image {
  const { samples } = frame;
  const isPlain = window === 1 && side === image.side;
  const seen = isPlain ? image.node : windowsOf(frame, part, `${name} windows`, image, side, window);
  const within = isPlain ? [] : frame.window(window);
  const weights = part.placeholder(`${name} weights`, "parameter", [image.channels, ...within, channels]);
  const square = frame.square(side);
  const made = part.einsum(name, [seen, weights], [samples, ...square, channels]);
  return { node: norm(part, `${name} norm`, made, square, { parameters: 2, own: [channels] }), side, channels };
}

const relu = (part: GraphBuilder, name: string, node: number): number => part.apply(name, "relu", [node]);

/**
 * Returns the forward graph of a residual network (He et al. 2016) from images to the mean loss. A convolution is an einsum of
 * weights with what windows see, which is fused: no more than the image goes through memory. Its norm takes mean and variance of
 * each channel of each image alone, as a batch norm does whose batches are of one image (Hoffer et al. 2017: ghost batches), then
 * a scale and a shift: so samples may be dealt. Inputs: images, targets. Throws InputError for a batch that is no positive integer.
 */
export function convolutionGraph(
  sizes: ResnetSizes,
  { batch, precision }: { readonly batch: number; readonly precision: Precision },
): TensorGraph {
  if (!Number.isSafeInteger(batch) || batch < 1) {
    throw new InputError(`the batch of ${sizes.name}`, "an integer of 1 or more", batch);
  }
  const builder = graphBuilder(activationBytes(precision));
  const frame = frameOf(builder, batch);
  const { samples } = frame;
  const colours = frame.channels("images", COLOURS);
  const images = builder.placeholder("images", "input", [samples, ...frame.square(IMAGE), colours]);
  const [[first], ...blocks] = convolutions(sizes) as [[Convolution], ...Convolution[][]];
  const begun = convolved(
    frame,
    builder,
    { node: images, side: IMAGE, channels: colours },
    first,
    frame.channels(first.name, first.to),
  );
  const active = { ...begun, node: relu(builder, "conv1 active", begun.node) };
  const seen = windowsOf(frame, builder, "pooling windows", active, POOLED, POOL_WINDOW);
  let image: Image = {
    ...active,
    side: POOLED,
    node: builder.reduce("pooled", "max", seen, frame.window(POOL_WINDOW)),
  };
  for (const block of blocks) image = blockOf(frame, builder, image, block);
  const square = frame.square(image.side);
  const sum = builder.reduce("sums of channels", "sum", image.node, square);
  const features = builder.apply("features", "scale", [sum], { constant: 1 / image.side ** 2 });
  const classes = builder.dimension("classes", CLASSES);
  const weights = builder.placeholder("classifier weights", "parameter", [image.channels, classes]);
  const product = builder.einsum("classifier", [features, weights], [samples, classes]);
  const bias = builder.placeholder("classifier bias", "parameter", [classes]);
  const bytes = 4;
  const logits = builder.apply("logits", "add", [product, bias], { bytes });
  const targets = builder.placeholder("targets", "input", [samples], bytes);
  const losses = builder.apply("losses", "cross-entropy", [logits, targets], {
    dims: [samples],
    whole: [classes],
    bytes,
  });
  const all = builder.reduce("sum of losses", "sum", losses, [samples], { bytes });
  return builder.graph(sizes.name, [builder.apply("loss", "scale", [all], { bytes, constant: 1 / batch })]);
}

/** Returns an image behind a bottleneck: narrow, window and wide convolutions, and what went by them. */
function blockOf(frame: Frame, builder: GraphBuilder, image: Image, block: readonly Convolution[]): Image {
  const [name, stage] = /^(conv\d+)_\d+/.exec((block[0] as Convolution).name) as unknown as [string, string];
  const hasShortcut = block.length > 3;
  const part = builder.part(name, `${stage} ${hasShortcut ? "first block" : "block"}`);
  const step = (from: Image, at: number, what: string, channels: string): Image => {
    const { to, window, side } = block[at] as Convolution;
    return convolved(frame, part, from, { name: what, window, side }, frame.channels(`${stage}${channels}`, to));
  };
  const narrow = step(image, 0, "narrow", " between");
  const square = { ...narrow, node: relu(part, "narrow active", narrow.node) };
  const window = step(square, 1, "window", " behind windows");
  const wide = step({ ...window, node: relu(part, "window active", window.node) }, 2, "wide", "");
  const by = hasShortcut ? step(image, 3, "shortcut", "").node : image.node;
  return { ...wide, node: relu(part, "active", part.apply("sum", "add", [wide.node, by])) };
}
