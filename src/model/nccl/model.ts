import type { CollectiveKind } from "../collective/collective.ts";
import type { Topology } from "../topology/topology.ts";
import {
  BASE_US,
  type Generation,
  LL_GBPS,
  MOST_CHANNELS,
  type NcclAlgorithm,
  type NcclProtocol,
  NETWORK_US,
  NVLINK_US,
  NVLS_EFFICIENCY,
  NVLS_TREE_GBPS,
  RING_LL128_GBPS,
  SPEEDS_BETWEEN,
  SPEEDS_WITHIN,
  TREE_CORRECTION,
  TREE_GBPS,
  TREE_LL128_GBPS,
} from "./figures.ts";
import { type NcclNetwork, ncclNetwork } from "./network.ts";

/** What NCCL's own cost model says of a collective: not a measurement. */
export interface NcclEstimate {
  readonly algorithm: NcclAlgorithm;
  readonly protocol: NcclProtocol;
  readonly channels: number;
  readonly us: number;
}

/** Channels that NCCL's search would find, and GB/s of each, in the box and between boxes. */
interface Channels {
  readonly count: number;
  readonly within: number;
  readonly between: number;
}

const PROTOCOLS: readonly NcclProtocol[] = ["LL", "LL128", "Simple"];
/** Bandwidth of 128-byte lines that carry 120 bytes of data, as tuning.cc rounds it. */
const LINE_PART = 0.92;

const floorLog2 = (value: number): number => 31 - Math.clz32(value);
const fastestUpTo = (speeds: readonly number[], most: number): number => speeds.find((speed) => speed <= most) ?? 0;

/** Returns the fastest channels that fit side by side: the greatest total, of equal ones the fewest channels. */
function channelsWithin(speeds: readonly number[], total: number): { count: number; speed: number } {
  let best = { count: 0, speed: 0 };
  for (const speed of speeds) {
    const count = Math.min(MOST_CHANNELS, Math.floor(total / speed));
    if (count * speed > best.count * best.speed) best = { count, speed };
  }
  return best;
}

/** From Hopper on, a search for channels stops before it doubles them. */
const isLate = (generation: Generation): boolean => generation === "hopper" || generation === "blackwell";

/** Returns the channels of rings: search.cc halves channels of 25 GB/s and more and doubles their number. */
function ringChannels({ boxes, gpusPerBox, nvlinkGBps, nics, nicGBps, generation }: NcclNetwork): Channels {
  let { count, speed } = channelsWithin(SPEEDS_WITHIN[generation], nvlinkGBps);
  if (boxes > 1) {
    count = Math.min(nics, MOST_CHANNELS);
    const share = gpusPerBox > 1 ? nvlinkGBps / count : Number.POSITIVE_INFINITY;
    speed = fastestUpTo(SPEEDS_BETWEEN[generation], Math.min(nicGBps, share));
  }
  const doubles = speed >= 25 && count * 2 <= MOST_CHANNELS && !(isLate(generation) && speed < 50 && count > 4);
  return doubles
    ? { count: count * 2, within: speed / 2, between: speed / 2 }
    : { count, within: speed, between: speed };
}

/** Returns the channels of trees: those of rings, faster within the box where a chain leaves NVLink unused. */
function treeChannels(network: NcclNetwork, ring: Channels): Channels {
  const { gpusPerBox, nvlinkGBps, generation } = network;
  if (network.boxes === 1 || gpusPerBox === 1) return ring;
  const room = Math.min((nvlinkGBps * gpusPerBox) / (gpusPerBox - 1) / ring.count, 2 * ring.between);
  return { ...ring, within: Math.max(ring.within, fastestUpTo(SPEEDS_BETWEEN[generation], room)) };
}

/** Returns the channels of NVLS: each GPU is the head of one. */
function nvlsChannels({ boxes, gpusPerBox, nvlinkGBps, nics, nicGBps, generation }: NcclNetwork): Channels {
  const speeds = boxes > 1 ? SPEEDS_BETWEEN[generation] : SPEEDS_WITHIN[generation];
  const within = fastestUpTo(speeds, nvlinkGBps / gpusPerBox);
  const between = boxes > 1 ? fastestUpTo(speeds, Math.min(within, (nicGBps * nics) / gpusPerBox)) : 0;
  return { count: gpusPerBox, within, between };
}

interface Case {
  readonly network: NcclNetwork;
  readonly kind: "allreduce" | "allgather" | "reducescatter" | "broadcast" | "reduce";
  readonly ranks: number;
  /** Steps of a ring. */
  readonly steps: number;
  /** 0 for one box, 1 for two, 2 for more: the column of the limits. */
  readonly scale: 0 | 1 | 2;
  readonly sizeBytes: number;
}

/** GB/s of the data that is named in the call, and us that do not depend on it; null where NCCL would not use it. */
type Cost = { readonly algbw: number; readonly latencyUs: number; readonly channels: number } | null;

function ringCost({ network, kind, ranks, steps, scale, sizeBytes }: Case, protocol: NcclProtocol): Cost {
  const { boxes, generation } = network;
  const { count, between } = ringChannels(network);
  let busbw = count * between;
  if (protocol === "LL") busbw = Math.min(LL_GBPS[generation][scale], busbw * 0.5);
  if (protocol === "LL128") busbw = Math.min(busbw * LINE_PART, count * RING_LL128_GBPS[generation]);
  const hop = NVLINK_US.Ring[protocol];
  const remote = (network.gpusPerBox === 1 ? NETWORK_US.Tree : NETWORK_US.Ring)[protocol];
  let latencyUs = BASE_US.Ring[protocol];
  if (kind === "broadcast" || kind === "reduce") latencyUs += boxes > 1 ? NETWORK_US.Ring[protocol] : hop;
  else {
    // posting to the network: 1 us, three times for Simple (an Intel CPU)
    const posting = boxes > 1 ? (protocol === "Simple" ? 3 : 1) : 0;
    const remoteSteps = kind === "allreduce" ? 2 * (boxes - 1) : boxes - 1;
    latencyUs += (steps - remoteSteps) * Math.max(hop, posting) + remoteSteps * remote;
  }
  const plateau = protocol === "Simple" && boxes > 1 && kind === "allreduce" && sizeBytes / (count * ranks) >= 64;
  if (plateau) latencyUs *= generation === "volta" ? 1.9 : 1.4;
  return { algbw: (busbw * ranks) / steps, latencyUs, channels: count };
}

function treeCost({ network, kind, scale, sizeBytes }: Case, protocol: NcclProtocol): Cost {
  if (kind !== "allreduce") return null;
  const { boxes, gpusPerBox, generation } = network;
  const { count, within, between } = treeChannels(network, ringChannels(network));
  let busbw = Math.min(count * (boxes <= 2 ? within : between) * LINE_PART, count * TREE_GBPS[generation][scale]);
  if (protocol === "LL") busbw = Math.min(busbw / 3.8, LL_GBPS[generation][scale]);
  if (protocol === "LL128") {
    const part = boxes === 1 ? 7 / 9 : 120 / 128;
    busbw = Math.min(busbw * part, count * TREE_LL128_GBPS[generation][scale]);
  }
  // the network cards of a box all meet one GPU
  if (isLate(generation)) busbw *= 0.85;
  const correction =
    sizeBytes < 64 ? 1 : (TREE_CORRECTION[protocol][floorLog2(Math.min(sizeBytes / 64, 2 ** 31 - 1))] ?? 1);
  const hops = (gpusPerBox - 1) * NVLINK_US.Tree[protocol] + floorLog2(boxes) * NETWORK_US.Tree[protocol];
  return { algbw: (busbw / 2) * correction, latencyUs: BASE_US.Tree[protocol] + 2 * hops, channels: count };
}

function nvlsCost({ network, kind, ranks, steps, scale }: Case, protocol: NcclProtocol): Cost {
  const { boxes, gpusPerBox, generation, inNetwork } = network;
  if (!inNetwork || protocol !== "Simple" || gpusPerBox < 2 || kind === "broadcast" || kind === "reduce") return null;
  const tree = boxes > 1;
  if (tree && kind !== "allreduce") return null;
  const { count, within, between } = nvlsChannels(network);
  const reached = (within * NVLS_EFFICIENCY[generation] * (count - 1)) / count;
  let speed = kind === "allreduce" ? reached * 2 : (reached * (gpusPerBox - 1)) / gpusPerBox;
  if (tree) speed = Math.min(speed, boxes === 2 ? between * 2 : between, NVLS_TREE_GBPS[generation][scale]);
  const busbw = count * speed;
  const algbw = kind === "allreduce" ? (busbw * ranks) / steps : busbw;
  const latencyUs = NVLINK_US.NVLS.Simple + (tree ? 2 * floorLog2(boxes) * NETWORK_US.NVLSTree.Simple : 0);
  return { algbw, latencyUs, channels: count };
}

function patCost({ network, kind, ranks }: Case, protocol: NcclProtocol): Cost {
  if (network.gpusPerBox > 1 || protocol !== "Simple" || (kind !== "allgather" && kind !== "reducescatter"))
    return null;
  const { count, between } = ringChannels(network);
  const latencyUs = BASE_US.PAT.Simple + floorLog2(network.boxes) * (NETWORK_US.Tree.Simple / 3.5) + ranks * 2.8;
  return { algbw: count * between * 0.75, latencyUs, channels: count };
}

const COSTS: readonly (readonly [NcclAlgorithm, (of: Case, protocol: NcclProtocol) => Cost])[] = [
  ["Ring", ringCost],
  ["Tree", treeCost],
  ["NVLS", (of, protocol) => (of.network.boxes === 1 ? nvlsCost(of, protocol) : null)],
  ["NVLSTree", (of, protocol) => (of.network.boxes > 1 ? nvlsCost(of, protocol) : null)],
  ["PAT", patCost],
];

/**
 * Returns the time of a collective among all NPUs by NCCL's own cost model (NCCL 2.28, src/graph/tuning.cc: latency + size /
 * bandwidth) for each algorithm and protocol that NCCL could use, fastest first; null for collectives that NCCL does not
 * model (all-to-all, gather, scatter) and for networks that it would not know (see ncclNetwork). Size as nccl-tests count it.
 *
 * Simplified: the search for channels is replaced by the tabulated speeds that fit into a GPU's NVLinks and a box's network
 * cards; CPUs are Intel's; a network adds no latency of its own; CollNet and user buffers are left out; the network's latencies
 * are not looked at, for NCCL does not know them. The times hold what a call costs itself (launch), which schedules on the network
 * have not. O(nodes + links).
 */
export function ncclEstimates(
  topology: Topology,
  kind: CollectiveKind,
  sizeBytes: number,
): readonly NcclEstimate[] | null {
  if (kind === "alltoall" || kind === "gather" || kind === "scatter" || kind === "custom") return null;
  const network = ncclNetwork(topology);
  if (network === null) return null;
  const ranks = topology.npuCount;
  const steps = kind === "allreduce" ? 2 * (ranks - 1) : kind === "broadcast" || kind === "reduce" ? ranks : ranks - 1;
  const scale = network.boxes > 2 ? 2 : network.boxes === 2 ? 1 : 0;
  const asked: Case = { network, kind, ranks, steps, scale, sizeBytes };
  const estimates: NcclEstimate[] = [];
  for (const [algorithm, costOf] of COSTS) {
    for (const protocol of PROTOCOLS) {
      const cost = costOf(asked, protocol);
      if (cost === null || !(cost.algbw > 0)) continue;
      const us = cost.latencyUs + sizeBytes / (1000 * cost.algbw);
      estimates.push({ algorithm, protocol, channels: cost.channels, us });
    }
  }
  return estimates.length === 0 ? null : estimates.sort((a, b) => a.us - b.us);
}
