/**
 * The constants of NCCL's cost model and search: NCCL 2.30.7, src/graph/tuning.cc (latencies, limits), search.cc (speeds of
 * channels), src/transport/nvls.cc. Latencies in us, bandwidths in GB/s. Rows by number of boxes: one, two, more.
 */

/** The release of NCCL whose figures and rules these are. */
export const NCCL_VERSION = "2.30.7";

export type Generation = "volta" | "ampere" | "hopper" | "blackwell";
export type NcclAlgorithm = "Ring" | "Tree" | "NVLS" | "NVLSTree" | "PAT";
export type NcclProtocol = "LL" | "LL128" | "Simple";

type ByProtocol = Readonly<Record<NcclProtocol, number>>;
export type ByBoxes = readonly [one: number, two: number, more: number];

const latencies = (LL: number, LL128: number, Simple: number): ByProtocol => ({ LL, LL128, Simple });
const simple = (us: number): ByProtocol => latencies(us, us, us);

/** What every call costs. NVLS has none of its own: its hop says all. */
export const BASE_US: Readonly<Record<NcclAlgorithm, ByProtocol>> = {
  Ring: latencies(6.6, 14, 8.4),
  Tree: latencies(6.8, 14, 8.4),
  NVLS: simple(0),
  NVLSTree: simple(0),
  PAT: simple(8),
};

/** A hop over NVLink. */
export const NVLINK_US: Readonly<Record<NcclAlgorithm, ByProtocol>> = {
  Ring: latencies(0.6, 1.9, 3.4),
  Tree: latencies(0.6, 1.25, 4),
  NVLS: simple(25),
  NVLSTree: simple(25),
  PAT: simple(4),
};

/** A hop between boxes. */
export const NETWORK_US: Readonly<Record<NcclAlgorithm, ByProtocol>> = {
  Ring: latencies(2.7, 4, 14),
  Tree: latencies(5, 8.5, 14),
  NVLS: simple(18),
  NVLSTree: simple(20.9),
  PAT: simple(14),
};

/** Most that LL brings in one box, all channels together. */
export const LL_WITHIN_GBPS: Readonly<Record<Generation, number>> = {
  volta: 39,
  ampere: 87.7,
  hopper: 141,
  blackwell: 282,
};
/** Most that LL brings between boxes, by CPU: two boxes, more. An Arm CPU counts as Intel's. */
export const LL_BETWEEN_GBPS: Readonly<Record<"amd" | "other", readonly [two: number, more: number]>> = {
  other: [39, 20.4],
  amd: [22.5, 19],
};

/** Most per channel. */
export const RING_LL128_GBPS: Readonly<Record<Generation, number>> = {
  volta: 20,
  ampere: 20,
  hopper: 36.7,
  blackwell: 40,
};
export const TREE_LL128_GBPS: Readonly<Record<Generation, ByBoxes>> = {
  volta: [20, 20, 20],
  ampere: [20, 20, 20],
  hopper: [36.7, 36.7, 29],
  blackwell: [55.6, 31.67, 20],
};
export const TREE_GBPS: Readonly<Record<Generation, ByBoxes>> = {
  volta: [26.5, 18.5, 10],
  ampere: [24, 23.6, 17.8],
  hopper: [38.7, 41.4, 36],
  blackwell: [70, 42.8, 24],
};
export const NVLS_TREE_GBPS: Readonly<Record<Generation, ByBoxes>> = {
  volta: [0, 0, 0],
  ampere: [0, 0, 0],
  hopper: [0, 57.7, 45.5],
  blackwell: [0, 96, 80],
};

/** Part of a channel's bandwidth that NVLink SHARP brings; none before Hopper. */
export const NVLS_EFFICIENCY: Readonly<Record<Generation, number>> = {
  volta: 0,
  ampere: 0,
  hopper: 0.85,
  blackwell: 0.74,
};

/** Correction of a tree's bandwidth for 64 B, 128 B, ... 256 MiB (NVLSTree: 512 MiB); 1 above. */
export const TREE_CORRECTION: Readonly<Record<NcclProtocol, readonly number[]>> = {
  LL: [1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1, 1],
  LL128: [1, 1, 1, 1, 1, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1, 1],
  Simple: [
    0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9,
    0.9,
  ],
};

/** Speeds that a channel may have, in a box and where it leaves one. */
const OLD_WITHIN = [40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3];
const OLD_BETWEEN = [48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12];
const HOPPER_BETWEEN = [48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12];
export const SPEEDS_WITHIN: Readonly<Record<Generation, readonly number[]>> = {
  volta: OLD_WITHIN,
  ampere: OLD_WITHIN,
  hopper: [60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3],
  blackwell: [90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18],
};
export const SPEEDS_BETWEEN: Readonly<Record<Generation, readonly number[]>> = {
  volta: OLD_BETWEEN,
  ampere: OLD_BETWEEN,
  hopper: HOPPER_BETWEEN,
  blackwell: [96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12],
};
/** Channels that a search finds at most, that a communicator has at most, and heads of NVLS. */
export const MOST_SEARCHED_CHANNELS = 32;
export const MOST_CHANNELS = 64;
export const MOST_HEADS = 32;
