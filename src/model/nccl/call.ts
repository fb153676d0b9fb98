import type { NcclChannels } from "./channels.ts";
import type { NcclAlgorithm, NcclProtocol } from "./figures.ts";
import type { NcclNetwork } from "./network.ts";

/** How NCCL launches a collective. */
export interface NcclCall {
  /** Channels that share the data, a thread block of each GPU for each. */
  readonly channels: number;
  /** Of a thread block. */
  readonly threads: number;
  /** Bytes that a channel works on at a time: a ring's of each rank's part, a tree's of the data. */
  readonly chunkBytes: number;
  /** Parts of a chunk that travel one by one. */
  readonly slices: number;
  /** Such parts that a connection holds. */
  readonly slots: number;
}

/** What is asked. */
interface Asked {
  readonly network: NcclNetwork;
  readonly channels: NcclChannels;
  readonly kind: string;
  readonly ranks: number;
  readonly sizeBytes: number;
}

/** Most threads of a block, and bytes of a call for each of them. */
const MOST_THREADS: Readonly<Record<NcclProtocol, number>> = { LL: 512, LL128: 640, Simple: 512 };
const BYTES_A_THREAD: Readonly<Record<NcclProtocol, number>> = { LL: 8, LL128: 8, Simple: 64 };
/** Of rings that all together are no faster than PCIe 3.0, GB/s. */
const SLOW_GBPS = 12;
const THREADS_OF_SLOW = 256;
const WARP = 32;
const ALL_THREADS = 640;
const LEAST_THREADS = 3 * WARP;

/** Steps of a connection's buffer, and bytes of data in a step: 4 MiB / 8; LL: half are flags, LL128: an eighth of a line's words. */
const STEPS = 8;
const STEP_BYTES: Readonly<Record<NcclProtocol, number>> = { Simple: 524_288, LL: 32_768, LL128: 576_000 };
/** Bytes of which chunks are a multiple. */
const GRAIN_BYTES: Readonly<Record<NcclProtocol, number>> = { Simple: 512, LL: 16, LL128: 1920 };

const KIB = 1024;

/** Returns a chunk halved down to a size for as long as there are too few of it. */
function halved(chunk: number, least: number, isTooFew: (chunk: number) => boolean): number {
  let bytes = chunk;
  while (bytes > least && isTooFew(bytes)) bytes = Math.floor(bytes / 2);
  return bytes;
}

/** Returns the bytes of a chunk of NVLS: [smaller than this, taken from this many times it on] by how much data there is for each head. */
function nvlsChunk(
  sizeBytes: number,
  heads: number,
  start: number,
  rungs: readonly (readonly [number, number])[],
): number {
  let chunk = start;
  for (const [smaller, times] of rungs) if (chunk > smaller && sizeBytes < times * heads * chunk) chunk = smaller;
  return chunk;
}

const NVLS_RUNGS = [
  [64 * KIB, 64],
  [32 * KIB, 8],
  [16 * KIB, 2],
] as const;
const NVLS_TREE_RUNGS = [
  [256 * KIB, 32],
  [128 * KIB, 16],
  [64 * KIB, 4],
  [32 * KIB, 1],
] as const;

/** Returns the greatest chunk of NVLS trees (src/transport/nvls.cc); Blackwell's by cards and boxes. */
function mostOfNvlsTree({ boxes, gpusPerBox, nicGBps, generation }: NcclNetwork): number {
  if (generation !== "blackwell") return (boxes >= 4 ? 64 : 128) * KIB;
  if (boxes === 2 && nicGBps >= 48) return (gpusPerBox <= 4 ? 256 : gpusPerBox <= 8 && nicGBps >= 96 ? 128 : 64) * KIB;
  if (nicGBps >= 96) return 256 * KIB;
  return (nicGBps >= 48 || boxes >= 4 ? 64 : 128) * KIB;
}

function chunkOf(asked: Asked, algorithm: NcclAlgorithm, protocol: NcclProtocol, channels: number): number {
  const { network, kind, ranks, sizeBytes } = asked;
  const heads = channels * (asked.channels.nvls?.count ?? 0);
  const step = STEP_BYTES[protocol];
  switch (algorithm) {
    case "NVLS":
      return nvlsChunk(sizeBytes, heads, 128 * KIB, NVLS_RUNGS);
    case "NVLSTree":
      return nvlsChunk(sizeBytes, heads, mostOfNvlsTree(network), NVLS_TREE_RUNGS);
    case "PAT":
      return halved(step, 64 * KIB, (chunk) => chunk * channels * (kind === "allgather" ? 32 : 16) > sizeBytes);
    case "Tree": {
      if (protocol !== "LL128") return step;
      const perBox = ranks / network.boxes;
      const depth = 1 + (31 - Math.clz32(network.boxes)) + 0.1 * perBox;
      const isTooFew = (times: number) => (chunk: number) =>
        Math.floor(sizeBytes / (channels * chunk)) < (depth * times) / perBox;
      return halved(halved(step, 128 * KIB, isTooFew(64)), 32 * KIB, isTooFew(16));
    }
    case "Ring":
      return step * chunkSteps(kind, algorithm, protocol);
  }
}

/** Returns the steps of a buffer that a chunk takes. */
const chunkSteps = (kind: string, algorithm: NcclAlgorithm, protocol: NcclProtocol): number =>
  algorithm === "Ring" && protocol === "Simple" && kind !== "broadcast" && kind !== "reduce" ? STEPS / 2 : 1;

/** Returns channels and threads of a call: for little data fewer channels, then fewer threads. */
function sharesOf(asked: Asked, algorithm: NcclAlgorithm, protocol: NcclProtocol) {
  const { channels, ranks, sizeBytes } = asked;
  if (algorithm === "NVLS" || algorithm === "NVLSTree") return { channels: channels.nvlsCount, threads: ALL_THREADS };
  if (algorithm === "PAT") return { channels: channels.count, threads: ALL_THREADS };
  const { ring } = channels;
  const isSlow = algorithm === "Ring" && protocol === "Simple" && ring.count * ring.within <= SLOW_GBPS;
  let threads = isSlow ? THREADS_OF_SLOW : MOST_THREADS[protocol];
  const bytesAThread = BYTES_A_THREAD[protocol] * (algorithm === "Ring" && protocol === "LL" ? ranks : 1);
  const most = Math.max(1, Math.min(channels.count, Math.floor(sizeBytes / (threads * bytesAThread))));
  while (sizeBytes < most * threads * bytesAThread && threads % 128 === 0) threads /= 2;
  if (protocol === "Simple") threads += WARP;
  return { channels: most, threads: algorithm === "Tree" ? ALL_THREADS : Math.max(LEAST_THREADS, threads) };
}

/**
 * Returns how NCCL (2.30.7, src/enqueue.cc: topoGetAlgoInfo, calcCollChunking) launches a collective of a size by an algorithm and
 * a protocol, with its default buffers of 4 MiB for Simple. O(1).
 */
export function callOf(asked: Asked, algorithm: NcclAlgorithm, protocol: NcclProtocol): NcclCall {
  const shares = sharesOf(asked, algorithm, protocol);
  const steps = chunkSteps(asked.kind, algorithm, protocol);
  const grain = GRAIN_BYTES[protocol];
  const chunkBytes = Math.floor(chunkOf(asked, algorithm, protocol, shares.channels) / grain) * grain;
  // a slice of a long chunk is two steps
  return { ...shares, chunkBytes, slices: steps > 1 ? steps / 2 : 1, slots: steps > 1 ? STEPS / 2 : STEPS };
}
