import { InputError } from "../base/errors.ts";
import { linkCount, type Topology } from "../model/topology/topology.ts";

/** More NPUs, or links and directions, than these share the machine's cores for so long that times say nothing. */
export const TIMED_NPUS = 16;
export const TIMED_LINKS = 64;
const MOST_NPUS = 64;
const MOST_LINKS = 1024;

/** What two cores carry without delay, bits per second of all links together, and what one link gets at most. */
const CARRIED_BITS_PER_SECOND = 1.6e9;
const FASTEST_BITS_PER_SECOND = 2e8;
/** The slowest links that are built: a frame takes 1.5 s on them. */
export const SLOWEST_BITS_PER_SECOND = 8000;

/** A topology as a laboratory has it. */
export interface LabNetwork {
  /** The network that is built: no parallel links (their bandwidths are added), every bandwidth divided by `factor`. */
  readonly topology: Topology;
  /** How many times slower than the network that was asked for. */
  readonly factor: number;
  /** Bits per second of its fastest link. */
  readonly fastestBitsPerSecond: number;
  /** It is small enough for its times to mean something. */
  readonly isTimed: boolean;
}

/** Returns the topology with parallel links as one each, which has their bandwidth together and the latency of the first. */
function withoutParallels(topology: Topology): Topology {
  const merged = new Map<number, { source: number; target: number; rate: number; latency: number }>();
  const nodes = topology.nodeNames.length;
  for (let link = 0; link < linkCount(topology); link++) {
    const [source, target] = [topology.linkSource[link], topology.linkTarget[link]];
    const before = merged.get(source * nodes + target);
    const rate = topology.linkBytesPerSecond[link];
    if (before !== undefined) before.rate += rate;
    else merged.set(source * nodes + target, { source, target, rate, latency: topology.linkLatencyPs[link] });
  }
  const links = [...merged.values()];
  return {
    ...topology,
    linkSource: Int32Array.from(links, ({ source }) => source),
    linkTarget: Int32Array.from(links, ({ target }) => target),
    linkBytesPerSecond: Float64Array.from(links, ({ rate }) => rate),
    linkLatencyPs: Float64Array.from(links, ({ latency }) => latency),
  };
}

/**
 * Returns a topology scaled down to links that one machine carries: the fastest gets `fastestBitsPerSecond`, without it what two
 * cores carry of all links together, at most 200 Mbit/s; all others as much slower as they are. Throws InputError for more than
 * 64 NPUs or 1024 links, for fewer than two NPUs, and where the slowest link would have less than 8 kbit/s. O(links).
 */
export function labNetwork(topology: Topology, fastestBitsPerSecond: number | null): LabNetwork {
  const { npuCount } = topology;
  if (npuCount < 2)
    throw new InputError("the network", "two or more NPUs", npuCount)
      .as("out-of-range")
      .saying(`${topology.name} has ${npuCount === 1 ? "one NPU" : "no NPU"}; a laboratory needs two or more`);
  if (npuCount > MOST_NPUS)
    throw new InputError("the network", `at most ${MOST_NPUS} NPUs`, npuCount)
      .as("out-of-range")
      .saying(`${topology.name} has ${npuCount} NPUs; a laboratory has at most ${MOST_NPUS}`);
  const merged = withoutParallels(topology);
  const links = linkCount(merged);
  if (links > MOST_LINKS)
    throw new InputError("the network", `at most ${MOST_LINKS} links`, links)
      .as("out-of-range")
      .saying(`${topology.name} has ${links} links between different pairs; a laboratory has at most ${MOST_LINKS}`);
  const rates = merged.linkBytesPerSecond;
  const fastest = rates.reduce((most, rate) => Math.max(most, rate), 0);
  if (fastest === 0) throw new InputError("the network", "links", links).saying(`${topology.name} has no links`);
  const weight = rates.reduce((sum, rate) => sum + rate / fastest, 0);
  const rate = fastestBitsPerSecond ?? usualRate(weight);
  const factor = (fastest * 8) / rate;
  const scaled = Float64Array.from(rates, (bytes) => Math.max(1, Math.round(bytes / factor)));
  const slowest = scaled.reduce((least, bytes) => Math.min(least, bytes * 8), Infinity);
  if (slowest < SLOWEST_BITS_PER_SECOND)
    throw new InputError("--rate", `at least ${SLOWEST_BITS_PER_SECOND} bits per second for every link`, slowest)
      .as("out-of-range")
      .saying(
        `the slowest link would have ${slowest} bit/s where the fastest has ${rate}; a laboratory's links have at least ${SLOWEST_BITS_PER_SECOND}: ask for a greater --rate`,
      );
  return {
    topology: { ...merged, linkBytesPerSecond: scaled },
    factor,
    fastestBitsPerSecond: rate,
    isTimed: npuCount <= TIMED_NPUS && links <= TIMED_LINKS,
  };
}

/** Returns the rate of the fastest link, two digits of it, where all links together are `weight` such links. */
function usualRate(weight: number): number {
  return twoDigits(Math.min(FASTEST_BITS_PER_SECOND, CARRIED_BITS_PER_SECOND / weight));
}

/** Returns a rate rounded down to two digits. */
export function twoDigits(rate: number): number {
  const digits = 10 ** (Math.floor(Math.log10(rate)) - 1);
  return Math.floor(rate / digits) * digits;
}

/** Two nodes and the link each way; null: there is none that way. */
export interface LabCable {
  readonly ends: readonly [number, number];
  /** Number of the link from the first end to the second, and back. */
  readonly links: readonly [number | null, number | null];
}

/** Returns the cables of a network without parallel links, by their ends. O(links log links). */
export function cablesOf(topology: Topology): LabCable[] {
  const cables = new Map<string, { ends: [number, number]; links: [number | null, number | null] }>();
  for (let link = 0; link < linkCount(topology); link++) {
    const [source, target] = [topology.linkSource[link], topology.linkTarget[link]];
    const ends: [number, number] = source < target ? [source, target] : [target, source];
    const cable = cables.get(`${ends}`) ?? { ends, links: [null, null] };
    cable.links[source < target ? 0 : 1] = link;
    cables.set(`${ends}`, cable);
  }
  return [...cables.values()].sort((one, other) => one.ends[0] - other.ends[0] || one.ends[1] - other.ends[1]);
}
