import { BYTES_PER_GB, toGBps } from "../numbers/units.ts";
import { GPU_MODELS } from "../topology/gpu-models.ts";
import { isCalibrated } from "../topology/link-classes.ts";
import { inLinks, isNpu, nodeCount, outLinks, type Topology } from "../topology/topology.ts";
import { type Generation, RING_LL128_GBPS } from "./figures.ts";

/** What NCCL would know of a network: equal boxes of GPUs joined by NVLink, and their network cards. GB/s. */
export interface NcclNetwork {
  readonly boxes: number;
  readonly gpusPerBox: number;
  /** NVLink of a GPU, as NCCL counts it; 0 where boxes have one GPU. */
  readonly nvlinkGBps: number;
  /** Network cards of a box, and what each brings; 0 for one box. */
  readonly nics: number;
  readonly nicGBps: number;
  readonly generation: Generation;
  /** NPUs of a box meet in a switch, so that all rings may go the same way round. */
  readonly switched: boolean;
  /** The box's switch duplicates and sums (NVLink SHARP). */
  readonly inNetwork: boolean;
  readonly cpu: "intel" | "amd" | "arm";
}

/**
 * Returns the bytes per second that one thread block moves, as NCCL counts of a channel of its rings (a thread block of each GPU:
 * perChMaxRingLL128Bws of NCCL 2.30, src/graph/tuning.cc: V100 and A100 20, H100 36.7, B200 40 GB/s); null for networks that NCCL
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

/** GB/s of a card of 100 Gb/s: where GPUs have half as much each, two share one. */
const LEAST_CARD = 12.5;

/** Returns how many cards stand behind the ways out of a box. */
const cardsOf = (exits: number, totalGBps: number): number =>
  exits % 2 === 0 && totalGBps / exits === LEAST_CARD / 2 ? exits / 2 : exits;

/** A card of an Ampere box with EPYC processors, GB/s. */
const CARD_OF_EPYC = 25;
const MOST_GPUS_OF_X86 = 16;

/** Returns whose CPUs such boxes have: EPYC in DGX A100 and NDv4, Arm in NVL72, Intel's in the others of our catalogue. */
function cpuOf(generation: Generation, gpusPerBox: number, nicGBps: number): NcclNetwork["cpu"] {
  if (generation === "blackwell" && gpusPerBox > MOST_GPUS_OF_X86) return "arm";
  return generation === "ampere" && nicGBps >= CARD_OF_EPYC ? "amd" : "intel";
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
  const exits = cards[0].size;
  if (boxes > 1 && (exits === 0 || cards.some((card) => card.size !== exits))) return null;

  const labelled = gpusPerBox > 1 ? toGBps(inside.reduce((a, b) => Math.min(a, b))) : 0;
  const part = isCalibrated(topology) || gpusPerBox === 1 ? 1 : countedPart(labelled, hubs > 0);
  if (part === null) return null;
  const nicTotal = cards.map((card) => [...card.values()].reduce((a, b) => a + b, 0)).reduce((a, b) => Math.min(a, b));
  const nics = boxes > 1 ? cardsOf(exits, toGBps(nicTotal)) : 0;
  const nicGBps = boxes > 1 ? toGBps(nicTotal) / nics : 0;
  const rate = gpusPerBox > 1 ? labelled : NVLINK_TO_CARD * nicGBps;
  const generation = (GENERATIONS.find(([upTo]) => rate <= upTo) as (typeof GENERATIONS)[number])[1];
  return {
    boxes,
    gpusPerBox,
    nvlinkGBps: labelled * part,
    nics,
    nicGBps,
    generation,
    switched: hubs > 0,
    inNetwork: hubs > 0 && inNetwork,
    cpu: cpuOf(generation, gpusPerBox, nicGBps),
  };
}
