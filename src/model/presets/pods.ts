import { InputError } from "../../base/errors.ts";
import { bandwidthFromGBps, latencyFromUs } from "../numbers/units.ts";
import type { Topology } from "../topology/topology.ts";
import { type Expression, sizes } from "./expression.ts";
import { type Dimension, type DimensionKind, productTopology } from "./product.ts";

/** TPU and Trainium pods: grids of chips. GB/s per link and direction; the sources stand beside the figures. */

const LATENCY_US = 1;
const LATENCY_SOURCE = "link latency 1 us: as in ASTRA-sim's TPU v3 inputs, a model figure for the other pods";

/** A pod; TPU slices are cut from it. */
interface Pod {
  readonly description: string;
  /** Chips along each axis of the whole pod. */
  readonly shape: readonly number[];
  /** Per axis, or one for all. */
  readonly gbps: readonly number[];
  /** `cubes`: wraps where all sides are multiples of 4; `whole`: only the whole pod wraps; absent: no slices. */
  readonly slices?: "cubes" | "whole";
  readonly sources: readonly string[];
}

const CUBES = "a slice wraps around where all its sides are multiples of 4; twisted tori are not modelled";
const WHOLE = "a slice smaller than the pod is a mesh";

export const PODS: Readonly<Record<string, Pod>> = {
  "tpu-v2": {
    description: "TPU v2 pod, 16x16 torus",
    shape: [16, 16],
    gbps: [62],
    slices: "whole",
    sources: ["4 links x 496 Gb/s: Jouppi et al., CACM 2020 (not verified)", WHOLE],
  },
  "tpu-v3": {
    description: "TPU v3 pod, 32x32 torus",
    shape: [32, 32],
    gbps: [82],
    slices: "whole",
    sources: ["4 links x 656 Gb/s, as the all-reduce rate of cloud.google.com/tpu/docs/v3 suggests", WHOLE],
  },
  "tpu-v4": {
    description: "TPU v4 pod, 16x16x16 torus",
    shape: [16, 16, 16],
    gbps: [46.9],
    slices: "cubes",
    sources: ["bisection 24 TB/s over 512 links: cloud.google.com/tpu/docs/v4", CUBES],
  },
  "tpu-v5e": {
    description: "TPU v5e pod, 16x16 torus",
    shape: [16, 16],
    gbps: [50],
    slices: "whole",
    sources: ["400 GB/s a chip both ways over 4 ports: docs.cloud.google.com/tpu/docs/v5e", WHOLE],
  },
  "tpu-v5p": {
    description: "TPU v5p pod, 16x20x28 torus",
    shape: [16, 20, 28],
    gbps: [100],
    slices: "cubes",
    sources: ["1200 GB/s a chip both ways over 6 ports: docs.cloud.google.com/tpu/docs/v5p", CUBES],
  },
  "tpu-v6e": {
    description: "TPU v6e pod, 16x16 torus",
    shape: [16, 16],
    gbps: [100],
    slices: "whole",
    sources: ["800 GB/s a chip both ways over 4 ports: docs.cloud.google.com/tpu/docs/v6e", WHOLE],
  },
  "tpu-7x": {
    description: "TPU 7x pod, 9,216 chips, 16x24x24 torus",
    shape: [16, 24, 24],
    gbps: [100],
    slices: "cubes",
    sources: [
      "1200 GB/s a chip both ways, 9,216 chips: docs.cloud.google.com/tpu/docs/tpu7x",
      "16x24x24 is our reading of 9,216 chips in cubes of 4x4x4",
      CUBES,
    ],
  },
  trn1: {
    description: "AWS trn1.32xlarge, 4x4 torus",
    shape: [4, 4],
    gbps: [48],
    sources: ["384 GB/s a chip both ways over 4 links: AWS Neuron trn1 page (not verified)"],
  },
  trn2: {
    description: "AWS trn2.48xlarge, 4x4 torus",
    shape: [4, 4],
    gbps: [128],
    sources: ["1,024 GB/s a chip over 4 links: AWS Neuron trn2 page"],
  },
  "trn2-ultra": {
    description: "AWS Trn2 UltraServer, four 4x4 tori joined by rings of 4",
    shape: [4, 4, 4],
    gbps: [128, 128, 64],
    sources: ["128 GB/s in a server, 64 GB/s between servers: ml-engineering; AWS Neuron trn2 page"],
  },
};

/** Returns a pod, or for a TPU the slice `tpu-v4:4x4x4` of it. Throws InputError for a slice of another shape. */
export function podTopology(expression: Expression): Topology {
  const { text } = expression;
  const [factor] = expression.factors;
  const pod = PODS[factor.name];
  const shape = factor.args === "" ? pod.shape : sizes(factor, text);
  const chips = (sides: readonly number[]): number => sides.reduce((product, side) => product * side, 1);
  const whole = shape.join("x") === pod.shape.join("x");
  if (pod.slices === undefined && !whole)
    throw new InputError(text, `${factor.name} with its ${chips(pod.shape)} chips`, factor.args);
  if (shape.length !== pod.shape.length || chips(shape) > chips(pod.shape)) {
    throw new InputError(text, `a slice of ${pod.shape.length} sides within ${pod.shape.join("x")} chips`, factor.args);
  }
  const wraps = whole || (pod.slices === "cubes" && shape.every((side) => side % 4 === 0));
  const kind: DimensionKind = wraps ? "ring" : "line";
  const dimensions = shape.map((size, axis): Dimension => {
    const gbps = pod.gbps[Math.min(axis, pod.gbps.length - 1)];
    return { kind, size, bytesPerSecond: bandwidthFromGBps(gbps, text), latencyPs: latencyFromUs(LATENCY_US, text) };
  });
  return productTopology(text, dimensions, [...pod.sources, LATENCY_SOURCE]);
}
