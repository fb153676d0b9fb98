import {
  type Generation,
  MOST_CHANNELS,
  MOST_HEADS,
  MOST_SEARCHED_CHANNELS,
  SPEEDS_BETWEEN,
  SPEEDS_WITHIN,
} from "./figures.ts";
import type { NcclNetwork } from "./network.ts";

/**
 * What NCCL's search for channels (src/graph/search.cc, connect.cc) finds in boxes that are alike. Of PCIe, which our networks do
 * not have, is assumed: every network card is as near to its GPUs as can be (one PCIe switch), a GPU's slot carries what its card
 * does, and from Hopper on GPUs do not share one.
 */

/** Channels of a search, and GB/s of each, in the box and between boxes. */
export interface Channels {
  readonly count: number;
  readonly within: number;
  readonly between: number;
}

/** Channels of an NCCL communicator. */
export interface NcclChannels {
  readonly ring: Channels;
  /** `chained`: cards of a box all meet one GPU of a channel, which costs a tree bandwidth. */
  readonly tree: Channels & { readonly chained: boolean };
  /** One for each head; null where the switch does not sum. */
  readonly nvls: Channels | null;
  /** Channels that rings and trees are run on: each that was found twice, or four times. */
  readonly count: number;
  /** As many of NVLS. */
  readonly nvlsCount: number;
  /** All rings pass the GPUs in the same order. */
  readonly same: boolean;
}

const fastestUpTo = (speeds: readonly number[], most: number): number => speeds.find((speed) => speed <= most) ?? 0;

/** Returns the fastest channels that fit side by side: the greatest total, of equal ones the fewest channels. */
function channelsWithin(speeds: readonly number[], total: number): { count: number; speed: number } {
  let best = { count: 0, speed: 0 };
  for (const speed of speeds) {
    const count = Math.min(MOST_SEARCHED_CHANNELS, Math.floor(total / speed));
    if (count * speed > best.count * best.speed) best = { count, speed };
  }
  return best;
}

/** From Hopper on, a search for channels stops before it doubles them. */
const isLate = (generation: Generation): boolean => generation === "hopper" || generation === "blackwell";

/** Returns how much of NVLink the chains of a box have that do not come back to where they begin, as if it were rings'. */
const ofChains = ({ nvlinkGBps, gpusPerBox }: NcclNetwork): number => (nvlinkGBps * gpusPerBox) / (gpusPerBox - 1);

/** Returns the channels of rings: channels of 25 GB/s and more are halved and doubled in number. */
function ringChannels(network: NcclNetwork): Channels {
  const { boxes, gpusPerBox, nvlinkGBps, nics, nicGBps, generation } = network;
  let { count, speed } = channelsWithin(SPEEDS_WITHIN[generation], nvlinkGBps);
  if (boxes > 1) {
    count = Math.min(nics, MOST_SEARCHED_CHANNELS);
    const share = gpusPerBox > 1 ? ofChains(network) / count : Number.POSITIVE_INFINITY;
    speed = fastestUpTo(SPEEDS_BETWEEN[generation], Math.min(nicGBps, share));
  }
  const doubles =
    speed >= 25 && count * 2 <= MOST_SEARCHED_CHANNELS && !(isLate(generation) && speed < 50 && count > 4);
  return doubles
    ? { count: count * 2, within: speed / 2, between: speed / 2 }
    : { count, within: speed, between: speed };
}

/** Of more chains than this a search does not find those that take all of NVLink, but among two GPUs. */
const FEW_CHAINS = 8;

/** Returns the channels of trees: those of rings, faster within the box where a chain leaves NVLink unused. */
function treeChannels(network: NcclNetwork, ring: Channels): NcclChannels["tree"] {
  const { boxes, gpusPerBox, nvlinkGBps, generation } = network;
  if (gpusPerBox === 1) {
    const within = fastestUpTo(SPEEDS_BETWEEN[generation], 2 * ring.between);
    return { ...ring, within: Math.max(ring.within, within), chained: true };
  }
  if (boxes > 1) {
    const room = Math.min(ofChains(network) / ring.count, 2 * ring.between);
    const within = Math.max(ring.within, fastestUpTo(SPEEDS_BETWEEN[generation], room));
    return { ...ring, within, chained: isLate(generation) };
  }
  const needed = ring.count * (gpusPerBox - 1) + (gpusPerBox > 2 && ring.count > FEW_CHAINS ? 1 : 0);
  const speed = SPEEDS_WITHIN[generation].find((one) => gpusPerBox * Math.floor(nvlinkGBps / one) >= needed) ?? 0;
  if (speed <= ring.within || !network.switched) return { ...ring, chained: false };
  return { ...ring, within: speed, between: speed, chained: isLate(generation) && gpusPerBox > 3 };
}

/** Returns the channels of NVLS, each with a head that sends and receives twice; cards between boxes have one each. */
function nvlsChannels({
  boxes,
  gpusPerBox,
  nvlinkGBps,
  nics,
  nicGBps,
  generation,
  inNetwork,
}: NcclNetwork): Channels | null {
  if (!inNetwork || gpusPerBox < 2) return null;
  const speeds = boxes > 1 ? SPEEDS_BETWEEN[generation] : SPEEDS_WITHIN[generation];
  const count = Math.min(boxes > 1 ? nics : gpusPerBox, gpusPerBox, MOST_HEADS);
  const most = boxes > 1 ? nicGBps : Number.POSITIVE_INFINITY;
  const within = fastestUpTo(speeds, Math.min(nvlinkGBps / (count + 1), most));
  // faster cards are made use of up to twice that speed
  const twice = speeds.findLast((speed) => speed >= 2 * within) ?? most;
  return { count, within, between: fastestUpTo(speeds, Math.min(most, twice)) };
}

/** Returns how many channels NVLS runs on, by GPU and cards (src/transport/nvls.cc). */
function nvlsCount({ boxes, generation, nicGBps }: NcclNetwork): number {
  if (generation !== "blackwell") return 16;
  if (boxes === 1) return 24;
  return boxes > 2 && nicGBps >= 48 ? 24 : 32;
}

/** GPUs of a host at most: NVLink joins more hosts than one where there are more. */
const MOST_IN_HOST = 16;

/** Returns the channels of a communicator of all GPUs. */
export function ncclChannels(network: NcclNetwork): NcclChannels {
  const { boxes, gpusPerBox, generation, switched, nics } = network;
  const ring = ringChannels(network);
  const nvls = nvlsChannels(network);
  const found = Math.min(MOST_CHANNELS, 2 * ring.count);
  const isFew = isLate(generation) && boxes > 1 && ring.within > 45 && found < 16;
  return {
    ring,
    tree: treeChannels(network, ring),
    nvls: nvls !== null && nvls.count >= 2 ? nvls : null,
    count: isFew ? 2 * found : found,
    nvlsCount: nvlsCount(network),
    same: boxes > 1 ? nics === 1 : switched && gpusPerBox <= MOST_IN_HOST,
  };
}
