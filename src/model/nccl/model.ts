import type { CollectiveKind } from "../collective/collective.ts";
import { BYTES_PER_GB, toGBps } from "../numbers/units.ts";
import { GPU_MODELS } from "../topology/gpu-models.ts";
import { isCalibrated } from "../topology/link-classes.ts";
import { inLinks, isNpu, nodeCount, outLinks, type Topology } from "../topology/topology.ts";

/** What NCCL's own cost model says of a collective: not a measurement. */
export interface NcclEstimate {
  readonly algorithm: NcclAlgorithm;
  readonly protocol: NcclProtocol;
  readonly channels: number;
  readonly us: number;
  /** Of them, what does not depend on the size. */
  readonly latencyUs: number;
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
      estimates.push({ algorithm, protocol, channels: cost.channels, us, latencyUs: cost.latencyUs });
    }
  }
  return estimates.length === 0 ? null : estimates.sort((a, b) => a.us - b.us);
}

/** What NCCL would know of a network: equal boxes of GPUs joined by NVLink, and their network cards. GB/s. */
interface NcclNetwork {
  readonly boxes: number;
  readonly gpusPerBox: number;
  /** NVLink of a GPU, as NCCL counts it; 0 where boxes have one GPU. */
  readonly nvlinkGBps: number;
  /** Network cards of a box, and what each brings; 0 for one box. */
  readonly nics: number;
  readonly nicGBps: number;
  readonly generation: Generation;
  /** The box's switch duplicates and sums (NVLink SHARP). */
  readonly inNetwork: boolean;
}

/**
 * Returns the bytes per second that one thread block moves, as NCCL counts of a channel of its rings (a thread block of each GPU:
 * perChMaxRingLL128Bws of NCCL 2.28, src/graph/tuning.cc: V100 and A100 20, H100 36.7, B200 40 GB/s); null for networks that NCCL
 * would not know (see ncclNetwork). O(nodes + links).
 */
export function threadBlockBytesPerSecond(topology: Topology): number | null {
  const network = ncclNetwork(topology);
  return network === null ? null : Math.round(RING_LL128_GBPS[network.generation] * BYTES_PER_GB);
}

/** Returns how many thread blocks a GPU runs at once, one to a multiprocessor; null as above. O(nodes + links). */
export function threadBlocksAtOnce(topology: Topology): number | null {
  const network = ncclNetwork(topology);
  return network === null ? null : MULTIPROCESSORS[network.generation];
}

/** Of V100, A100, H100 SXM and B200; source: NVIDIA's white papers of their architectures. */
const MULTIPROCESSORS: Readonly<Record<Generation, number>> = { volta: 80, ampere: 108, hopper: 132, blackwell: 148 };

/** Bandwidth of a GPU's NVLinks up to which it is of a generation: V100 150, A100 300, H100 450 GB/s. */
const GENERATIONS: readonly (readonly [upTo: number, generation: Generation])[] = [
  [200, "volta"],
  [320, "ampere"],
  [520, "hopper"],
  [Number.POSITIVE_INFINITY, "blackwell"],
];
/** What NCCL counts of links whose maker it does not tell: that of an A100 (20 of 25 GB/s). */
const COUNTED_PART = 0.8;

/** Cards of 12.5, 25 and 50 GB/s came with the GPUs of those generations. */
const NVLINK_TO_CARD = 9;

/**
 * Returns the part of the labelled bandwidth that NCCL counts (src/graph/topo.h); null for direct links that no GPU of NVIDIA
 * has.
 */
function countedPart(gbps: number, switched: boolean): number | null {
  const model = [...GPU_MODELS.values()].find(
    ({ link, links, linkBytesPerSecond }) => link === "nvlink" && toGBps(links * linkBytesPerSecond) === gbps,
  );
  if (model !== undefined) return model.countedBytesPerSecond / model.linkBytesPerSecond;
  return switched ? COUNTED_PART : null;
}

/** [nodes] box of each node, -1 for those outside; null where NPUs are in no box. */
function boxesOf(topology: Topology): { box: Int32Array; boxes: number } | null {
  const box = new Int32Array(nodeCount(topology)).fill(-1);
  const names = new Map<string, number>();
  for (let node = 0; node < box.length; node++) {
    const group = topology.nodeTraits[node]?.group;
    if (group === undefined) continue;
    if (!names.has(group) && isNpu(topology, node)) names.set(group, names.size);
    box[node] = names.get(group) ?? -1;
  }
  if (names.size === 0) {
    box.fill(0, 0, topology.npuCount);
    return { box, boxes: 1 };
  }
  return box.subarray(0, topology.npuCount).includes(-1) ? null : { box, boxes: names.size };
}

/** Returns which switches have no neighbour outside one box: NVSwitches, not network cards. */
function innerSwitches(topology: Topology, box: Int32Array): Int32Array {
  const inner = new Int32Array(nodeCount(topology)).fill(-1);
  const out = outLinks(topology);
  const into = inLinks(topology);
  for (let node = topology.npuCount; node < inner.length; node++) {
    let own = -2;
    const meet = (neighbour: number): void => {
      const of = box[neighbour];
      own = own === -2 || own === of ? of : -1;
    };
    for (let k = out.offset[node]; k < out.offset[node + 1]; k++) meet(topology.linkTarget[out.links[k]]);
    for (let k = into.offset[node]; k < into.offset[node + 1]; k++) meet(topology.linkSource[into.links[k]]);
    inner[node] = Math.max(own, -1);
  }
  return inner;
}

/** Returns whether every switch of the one box has links to all NPUs. */
function hubsReachAll(topology: Topology, inner: Int32Array): boolean {
  const out = outLinks(topology);
  for (let node = topology.npuCount; node < inner.length; node++) {
    if (inner[node] < 0) continue;
    const reached = new Set(
      out.links.subarray(out.offset[node], out.offset[node + 1]).map((link) => topology.linkTarget[link]),
    );
    if (reached.size !== topology.npuCount) return false;
  }
  return true;
}

/**
 * Returns the network as NCCL would see it; null where it would not know it: boxes that are not alike, NPUs that are neither
 * in boxes nor all linked with each other or to one switch, direct links that no GPU of NVIDIA has. A network without boxes
 * (NodeTraits.group) is one box. In a box NVLink is what every GPU has at least. O(nodes + links).
 */
export function ncclNetwork(topology: Topology): NcclNetwork | null {
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond, nodeTraits } = topology;
  const placed = boxesOf(topology);
  if (placed === null || npuCount < 2) return null;
  const { box, boxes } = placed;
  const gpusPerBox = npuCount / boxes;
  const inner = innerSwitches(topology, box);
  const inside = new Float64Array(npuCount);
  const peers = Array.from({ length: npuCount }, () => new Set<number>());
  const cards: Map<number, number>[] = Array.from({ length: boxes }, () => new Map());
  let hubs = 0;
  let inNetwork = true;
  for (let link = 0; link < linkSource.length; link++) {
    const [from, to] = [linkSource[link], linkTarget[link]];
    const home = box[from];
    if (home < 0) continue;
    const stays = isNpu(topology, to) ? box[to] === home : inner[to] === home;
    if (stays && from < npuCount) {
      inside[from] += linkBytesPerSecond[link];
      if (isNpu(topology, to)) peers[from].add(to);
      else {
        hubs++;
        inNetwork &&= nodeTraits[to]?.aggregation === true && nodeTraits[to]?.multicast === true;
      }
    } else if (!stays && box[to] !== home)
      cards[home].set(from, (cards[home].get(from) ?? 0) + linkBytesPerSecond[link]);
  }
  const sizes = new Int32Array(boxes);
  for (let npu = 0; npu < npuCount; npu++) sizes[box[npu]]++;
  if (sizes.some((size) => size !== gpusPerBox)) return null;
  const grouped = nodeTraits.some(({ group }) => group !== undefined);
  const joined = hubs > 0 ? hubsReachAll(topology, inner) : peers.every((set) => set.size === gpusPerBox - 1);
  if (gpusPerBox > 1 && (inside.includes(0) || !(grouped || joined))) return null;
  const nics = cards[0].size;
  if (boxes > 1 && (nics === 0 || cards.some((card) => card.size !== nics))) return null;

  const labelled = gpusPerBox > 1 ? toGBps(inside.reduce((a, b) => Math.min(a, b))) : 0;
  const part = isCalibrated(topology) || gpusPerBox === 1 ? 1 : countedPart(labelled, hubs > 0);
  if (part === null) return null;
  const nicTotal = cards.map((card) => [...card.values()].reduce((a, b) => a + b, 0)).reduce((a, b) => Math.min(a, b));
  const nicGBps = boxes > 1 ? toGBps(nicTotal) / nics : 0;
  const rate = gpusPerBox > 1 ? labelled : NVLINK_TO_CARD * nicGBps;
  return {
    boxes,
    gpusPerBox,
    nvlinkGBps: labelled * part,
    nics: boxes > 1 ? nics : 0,
    nicGBps,
    generation: (GENERATIONS.find(([upTo]) => rate <= upTo) as (typeof GENERATIONS)[number])[1],
    inNetwork: hubs > 0 && inNetwork,
  };
}

/**
 * The constants of NCCL's cost model: NCCL 2.28, src/graph/tuning.cc (latencies, limits) and search.cc (speeds of channels).
 * Latencies in us, bandwidths in GB/s. Rows by number of boxes: one, two, more.
 */

type Generation = "volta" | "ampere" | "hopper" | "blackwell";
type NcclAlgorithm = "Ring" | "Tree" | "NVLS" | "NVLSTree" | "PAT";
type NcclProtocol = "LL" | "LL128" | "Simple";

type ByProtocol = Readonly<Record<NcclProtocol, number>>;
type ByBoxes = readonly [one: number, two: number, more: number];

const latencies = (LL: number, LL128: number, Simple: number): ByProtocol => ({ LL, LL128, Simple });
const simple = (us: number): ByProtocol => latencies(us, us, us);

/** What every call costs. NVLS has none of its own: its hop says all. */
const BASE_US: Readonly<Record<NcclAlgorithm, ByProtocol>> = {
  Ring: latencies(6.6, 14, 8.4),
  Tree: latencies(6.8, 14, 8.4),
  NVLS: simple(0),
  NVLSTree: simple(0),
  PAT: simple(8),
};

/** A hop over NVLink. */
const NVLINK_US: Readonly<Record<NcclAlgorithm, ByProtocol>> = {
  Ring: latencies(0.6, 1.9, 3.4),
  Tree: latencies(0.6, 1.25, 4),
  NVLS: simple(25),
  NVLSTree: simple(25),
  PAT: simple(4),
};

/** A hop between boxes. */
const NETWORK_US: Readonly<Record<NcclAlgorithm, ByProtocol>> = {
  Ring: latencies(2.7, 4, 14),
  Tree: latencies(5, 8.5, 14),
  NVLS: simple(18),
  NVLSTree: simple(20.9),
  PAT: simple(14),
};

/** Most that LL brings, all channels together: in one box by GPU; between boxes by CPU (an Intel one: the first row). */
const LL_GBPS: Readonly<Record<Generation, ByBoxes>> = {
  volta: [39, 39, 20.4],
  ampere: [87.7, 39, 20.4],
  hopper: [141, 39, 20.4],
  blackwell: [282, 39, 20.4],
};

/** Most per channel. */
const RING_LL128_GBPS: Readonly<Record<Generation, number>> = {
  volta: 20,
  ampere: 20,
  hopper: 36.7,
  blackwell: 40,
};
const TREE_LL128_GBPS: Readonly<Record<Generation, ByBoxes>> = {
  volta: [20, 20, 20],
  ampere: [20, 20, 20],
  hopper: [36.7, 36.7, 29],
  blackwell: [55.6, 31.67, 20],
};
const TREE_GBPS: Readonly<Record<Generation, ByBoxes>> = {
  volta: [26.5, 18.5, 10],
  ampere: [24, 23.6, 17.8],
  hopper: [38.7, 41.4, 36],
  blackwell: [70, 42.8, 24],
};
const NVLS_TREE_GBPS: Readonly<Record<Generation, ByBoxes>> = {
  volta: [0, 0, 0],
  ampere: [0, 0, 0],
  hopper: [0, 57.7, 45.5],
  blackwell: [0, 96, 80],
};

/** Part of a channel's bandwidth that NVLink SHARP brings; none before Hopper. */
const NVLS_EFFICIENCY: Readonly<Record<Generation, number>> = {
  volta: 0,
  ampere: 0,
  hopper: 0.85,
  blackwell: 0.74,
};

/** Correction of a tree's bandwidth for 64 B, 128 B, ... 256 MiB; 1 above. */
const TREE_CORRECTION: Readonly<Record<NcclProtocol, readonly number[]>> = {
  LL: [1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1, 1],
  LL128: [1, 1, 1, 1, 1, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1, 1],
  Simple: [
    0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9,
  ],
};

/** Speeds that a channel may have, in a box and where it leaves one. */
const OLD_WITHIN = [40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3];
const OLD_BETWEEN = [48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12];
const HOPPER_BETWEEN = [48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12];
const SPEEDS_WITHIN: Readonly<Record<Generation, readonly number[]>> = {
  volta: OLD_WITHIN,
  ampere: OLD_WITHIN,
  hopper: [60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3],
  blackwell: [90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18],
};
const SPEEDS_BETWEEN: Readonly<Record<Generation, readonly number[]>> = {
  volta: OLD_BETWEEN,
  ampere: OLD_BETWEEN,
  hopper: HOPPER_BETWEEN,
  blackwell: [96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12],
};
const MOST_CHANNELS = 32;
