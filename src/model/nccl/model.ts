import type { CollectiveKind } from "../collective/collective.ts";
import type { Topology } from "../topology/topology.ts";
import { callOf, type NcclCall } from "./call.ts";
import { type Channels, type NcclChannels, ncclChannels } from "./channels.ts";
import {
  BASE_US,
  LL_BETWEEN_GBPS,
  LL_WITHIN_GBPS,
  MOST_HEADS,
  type NcclAlgorithm,
  type NcclProtocol,
  NETWORK_US,
  NVLINK_US,
  NVLS_EFFICIENCY,
  NVLS_TREE_GBPS,
  RING_LL128_GBPS,
  TREE_CORRECTION,
  TREE_GBPS,
  TREE_LL128_GBPS,
} from "./figures.ts";
import { type NcclNetwork, ncclNetwork } from "./network.ts";

/** What NCCL's own cost model says of a collective: not a measurement. */
export interface NcclEstimate extends NcclCall {
  readonly algorithm: NcclAlgorithm;
  readonly protocol: NcclProtocol;
  readonly us: number;
  /** Of them, what does not depend on the size. */
  readonly latencyUs: number;
}

/** In NCCL's order: the first of equally fast ones is taken. */
const PROTOCOLS: readonly NcclProtocol[] = ["LL", "LL128", "Simple"];
/** Bandwidth of 128-byte lines that carry 120 bytes of data, as tuning.cc rounds it. */
const LINE_PART = 0.92;

const floorLog2 = (value: number): number => 31 - Math.clz32(value);

/** The collectives that NCCL has algorithms for; others are sends and receives to it. */
export type NcclKind = "allreduce" | "allgather" | "reducescatter" | "broadcast" | "reduce";

interface Case {
  readonly network: NcclNetwork;
  readonly channels: NcclChannels;
  readonly kind: NcclKind;
  readonly ranks: number;
  /** Steps of a ring. */
  readonly steps: number;
  /** 0 for one box, 1 for two, 2 for more: the column of the limits. */
  readonly scale: 0 | 1 | 2;
  readonly sizeBytes: number;
}

/** GB/s of the data that is named in the call, and us that do not depend on it; null where NCCL would not use it. */
type Cost = { readonly algbw: number; readonly latencyUs: number } | null;

/** Returns the most that LL brings: by GPU in one box, by CPU between boxes. */
function mostOfLl({ network: { generation, cpu }, scale }: Case): number {
  return scale === 0
    ? LL_WITHIN_GBPS[generation]
    : LL_BETWEEN_GBPS[cpu === "amd" ? "amd" : "other"][scale === 1 ? 0 : 1];
}

/** What it costs to hand a message to a network card, us; three times for Simple. */
const postingUs = ({ cpu }: NcclNetwork, protocol: NcclProtocol): number =>
  (cpu === "amd" ? 2 : 1) * (protocol === "Simple" ? 3 : 1);

function ringCost(of: Case, protocol: NcclProtocol): Cost {
  const { network, channels, kind, ranks, steps, sizeBytes } = of;
  const { boxes, generation } = network;
  const { count, between } = channels.ring;
  let busbw = count * between;
  if (protocol === "LL") busbw = Math.min(mostOfLl(of), busbw * 0.5);
  if (protocol === "LL128") busbw = Math.min(busbw * LINE_PART, count * RING_LL128_GBPS[generation]);
  const hop = NVLINK_US.Ring[protocol];
  let latencyUs = BASE_US.Ring[protocol];
  if (kind === "broadcast" || kind === "reduce") {
    const hops = (boxes > 1 ? NETWORK_US : NVLINK_US)[channels.same || protocol !== "Simple" ? "Ring" : "Tree"];
    latencyUs += (channels.same ? 1 : steps) * hops[protocol];
  } else {
    const remote = (network.gpusPerBox === 1 ? NETWORK_US.Tree : NETWORK_US.Ring)[protocol];
    const remoteSteps = kind === "allreduce" ? 2 * (boxes - 1) : boxes - 1;
    const inner = boxes > 1 ? Math.max(hop, postingUs(network, protocol)) : hop;
    latencyUs += (steps - remoteSteps) * inner + remoteSteps * remote;
  }
  const perRank = Math.floor(sizeBytes / (channels.count * ranks));
  const plateau = protocol === "Simple" && boxes > 1 && kind === "allreduce" && perRank >= 64;
  if (plateau) latencyUs *= generation === "volta" ? 1.9 : 1.4;
  return { algbw: (busbw * ranks) / steps, latencyUs };
}

/** Returns by what a tree's bandwidth is corrected at a size; `rows`: of the table that count. */
function correctionOf(sizeBytes: number, protocol: NcclProtocol, rows: number): number {
  const row = sizeBytes < 64 ? rows : floorLog2(Math.min(Math.floor(sizeBytes / 64), 2 ** 31 - 1));
  return row < rows ? (TREE_CORRECTION[protocol][row] as number) : 1;
}

function treeCost(of: Case, protocol: NcclProtocol): Cost {
  const { network, channels, kind, scale, sizeBytes } = of;
  if (kind !== "allreduce") return null;
  const { boxes, gpusPerBox, generation } = network;
  const { count, within, between, chained } = channels.tree;
  let busbw = Math.min(count * (boxes <= 2 ? within : between) * LINE_PART, count * TREE_GBPS[generation][scale]);
  if (protocol === "LL") busbw = Math.min(busbw / 3.8, mostOfLl(of));
  if (protocol === "LL128") {
    const part = boxes === 1 ? 7 / 9 : 120 / 128;
    busbw = Math.min(busbw * part, count * TREE_LL128_GBPS[generation][scale]);
  }
  if (chained) busbw *= 0.85;
  const hops = (gpusPerBox - 1) * NVLINK_US.Tree[protocol] + floorLog2(boxes) * NETWORK_US.Tree[protocol];
  return { algbw: (busbw / 2) * correctionOf(sizeBytes, protocol, 23), latencyUs: BASE_US.Tree[protocol] + 2 * hops };
}

function nvlsCost({ network, channels, kind, ranks, steps, scale, sizeBytes }: Case, protocol: NcclProtocol): Cost {
  const { boxes, gpusPerBox, generation, cpu } = network;
  if (channels.nvls === null || protocol !== "Simple" || kind === "broadcast" || kind === "reduce") return null;
  const tree = boxes > 1;
  if (kind !== "allreduce" && (tree || gpusPerBox > MOST_HEADS)) return null;
  const { count, within, between }: Channels = channels.nvls;
  const reached = (within * NVLS_EFFICIENCY[generation] * (count - 1)) / count;
  let speed = kind === "allreduce" ? reached * 2 : (reached * (gpusPerBox - 1)) / gpusPerBox;
  speed = Math.min(speed, boxes === 2 ? between * 2 : between);
  if (tree) speed = Math.min(speed, NVLS_TREE_GBPS[generation][scale]);
  const busbw = count * speed;
  const isCorrected = tree && generation === "blackwell" && cpu !== "arm";
  const algbw = kind === "allreduce" ? (busbw * ranks) / steps : busbw;
  return {
    algbw: algbw * (isCorrected ? correctionOf(sizeBytes, protocol, 24) : 1),
    latencyUs: NVLINK_US.NVLS.Simple + (tree ? 2 * floorLog2(boxes) * NETWORK_US.NVLSTree.Simple : 0),
  };
}

function patCost({ network, channels, kind, ranks }: Case, protocol: NcclProtocol): Cost {
  if (network.gpusPerBox > 1 || protocol !== "Simple" || (kind !== "allgather" && kind !== "reducescatter"))
    return null;
  const { count, between } = channels.tree;
  // tuning.cc reads the graph of trees for PAT: of two boxes the speed within
  const speed = network.boxes <= 2 ? channels.tree.within : between;
  const latencyUs = BASE_US.PAT.Simple + floorLog2(network.boxes) * (NETWORK_US.PAT.Simple / 3.5) + ranks * 2.8;
  return { algbw: count * speed * 0.75, latencyUs };
}

/** In NCCL's order, as the protocols. */
const COSTS: readonly (readonly [NcclAlgorithm, (of: Case, protocol: NcclProtocol) => Cost])[] = [
  ["Tree", treeCost],
  ["Ring", ringCost],
  ["NVLS", (of, protocol) => (of.network.boxes === 1 ? nvlsCost(of, protocol) : null)],
  ["NVLSTree", (of, protocol) => (of.network.boxes > 1 ? nvlsCost(of, protocol) : null)],
  ["PAT", patCost],
];

/**
 * Returns the time of a collective among all NPUs by NCCL's own cost model (NCCL 2.30.7, src/graph/tuning.cc: latency + size /
 * bandwidth) for each algorithm and protocol that NCCL could use, fastest first, so that the first is what NCCL takes where nothing
 * is set; and how it would be launched (channels, threads, chunks: src/enqueue.cc). Null for collectives that NCCL does not
 * model (all-to-all, gather, scatter) and for networks that it would not know (see ncclNetwork). Size as nccl-tests count it.
 *
 * Simplified: the search for channels is what it comes to in boxes that are alike (see ncclChannels); CollNet and buffers that users
 * register are left out; a network adds no latency of its own, for NCCL does not know it. The times hold what a call costs itself
 * (launch), which schedules on the network have not. O(nodes + links).
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
  const channels = ncclChannels(network);
  const asked: Case = { network, channels, kind, ranks, steps, scale, sizeBytes };
  const estimates: NcclEstimate[] = [];
  for (const [algorithm, costOf] of COSTS) {
    for (const protocol of PROTOCOLS) {
      const cost = costOf(asked, protocol);
      if (cost === null || !(cost.algbw > 0)) continue;
      const us = cost.latencyUs + sizeBytes / (1000 * cost.algbw);
      const call = callOf({ network, channels, kind, ranks, sizeBytes }, algorithm, protocol);
      estimates.push({ algorithm, protocol, us, latencyUs: cost.latencyUs, ...call });
    }
  }
  return estimates.length === 0 ? null : estimates.sort((a, b) => a.us - b.us);
}
