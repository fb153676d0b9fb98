import { median } from "../model/numbers/median.ts";
import { PS_PER_SECOND } from "../model/numbers/units.ts";
import type { Experiment, Measurement } from "../model/probe/measurements.ts";
import { isNpu, type Topology } from "../model/topology/topology.ts";
import { type LabNetwork, SLOWEST_BITS_PER_SECOND, twoDigits } from "./network.ts";
import type { Forwarding } from "./paths.ts";

/** A flow between two NPUs with no other NPU on its way, and the links of that way. */
export interface HopFlow {
  readonly source: number;
  readonly target: number;
  readonly links: readonly number[];
}

/** What small and large messages between neighbours say of a laboratory, all of them under way at once. */
export interface StartUpFigures {
  /** Seconds that a message of a few bytes takes from an NPU to the next, without the delays that links were given; the median. */
  readonly hopSeconds: number;
  /** Bytes of messages that a link carries, of those that it could; the median, at most 1. */
  readonly payloadShare: number;
}

const SMALL_BYTES = 8;
const SMALL_REPEATS = 15;
const LARGE_REPEATS = 3;
/** How long a large message takes, about. */
const LARGE_SECONDS = 0.08;
const LEAST_LARGE_BYTES = 2 ** 16;

/** Returns flows between neighbours that share no links, as many as there are by shortness. O(NPUs^2 x length). */
export function hopFlows(topology: Topology, { paths }: Forwarding): HopFlow[] {
  const { npuCount, linkSource, linkTarget } = topology;
  const linkOf = new Map<string, number>();
  for (const [link, source] of linkSource.entries()) linkOf.set(`${source}>${linkTarget[link]}`, link);
  const hops = paths
    .filter((nodes) => nodes.length > 1 && nodes.slice(1, -1).every((node) => !isNpu(topology, node)))
    .sort((one, other) => one.length - other.length || turnOf(one, npuCount) - turnOf(other, npuCount));
  const used = new Set<number>();
  return hops.flatMap((nodes) => {
    const links = nodes.slice(1).map((node, i) => linkOf.get(`${nodes[i]}>${node}`) as number);
    if (links.some((link) => used.has(link))) return [];
    for (const link of links) used.add(link);
    return [{ source: nodes[0] as number, target: nodes.at(-1) as number, links }];
  });
}

/** How far a flow's target is behind its source by number: through one switch, the flows of a turn share no links. */
const turnOf = (nodes: readonly number[], npuCount: number): number =>
  ((nodes.at(-1) as number) - (nodes[0] as number) + npuCount) % npuCount;

/** Returns the bytes of a large message. */
const largeBytes = (fastestBitsPerSecond: number): number =>
  Math.max(LEAST_LARGE_BYTES, Math.round((fastestBitsPerSecond / 8) * LARGE_SECONDS));

/** Returns what is measured at the start: small messages and large ones, over all flows at once. */
export const startUpExperiments = (flows: readonly HopFlow[], fastestBitsPerSecond: number): Experiment[] => [
  { flows, bytes: SMALL_BYTES, repeats: SMALL_REPEATS },
  { flows, bytes: largeBytes(fastestBitsPerSecond), repeats: LARGE_REPEATS },
];

/** Returns what the measurements of `startUpExperiments` say. `delaySeconds`: of each link. */
export function startUpFigures(
  [small, large]: readonly Measurement[],
  flows: readonly HopFlow[],
  { topology }: LabNetwork,
  delaySeconds: (link: number) => number,
): StartUpFigures {
  const delays = flows.map(({ links }) => links.reduce((sum, link) => sum + delaySeconds(link), 0));
  const undelayed = ({ seconds }: Measurement): Float64Array =>
    seconds.map((time, i) => time - (delays[i % flows.length] as number));
  const hop = median(undelayed(small));
  const rates = flows.map(({ links }) =>
    links.reduce((least, link) => Math.min(least, topology.linkBytesPerSecond[link]), Infinity),
  );
  const fastest = Math.max(...rates);
  const shares = [...undelayed(large)].flatMap((time, i) =>
    rates[i % flows.length] === fastest
      ? [large.experiment.bytes / Math.max(time - hop, Number.EPSILON) / fastest]
      : [],
  );
  return { hopSeconds: Math.max(hop, 0), payloadShare: Math.min(1, median(shares)) };
}

/** Links carry what they should where so much of it is payload; the most is 0.956, less acknowledgements of the other direction. */
const CARRIED = 0.92;
const SLOWER = 2 / 3;
const MOST_BUILT = 5;

/**
 * Returns the rate of the fastest link, bits per second, at which a laboratory is built again; null where it stays as it is.
 * `payloadShares`: of it and those before it. Slower by a third until the machine carries all links at once, and once more for
 * room: plans ask more of the machine than messages between neighbours.
 */
export function nextRate(
  { topology, fastestBitsPerSecond, isTimed }: LabNetwork,
  payloadShares: readonly number[],
): number | null {
  const isCarried = payloadShares.slice(-2).every((share) => share >= CARRIED);
  if (isCarried || !isTimed || payloadShares.length === MOST_BUILT) return null;
  const slowest = topology.linkBytesPerSecond.reduce((least, bytes) => Math.min(least, bytes * 8), Infinity);
  const rate = twoDigits(fastestBitsPerSecond * SLOWER);
  return slowest * (rate / fastestBitsPerSecond) < 2 * SLOWEST_BITS_PER_SECOND ? null : rate;
}

/** Returns the network as it is predicted to work: with the bytes of messages that links carry, and what a hop takes. */
export function predictedTopology(
  topology: Topology,
  { hopSeconds, payloadShare }: StartUpFigures,
  delaySeconds: (link: number) => number,
): Topology {
  const latency = (link: number): number =>
    (isNpu(topology, topology.linkSource[link]) ? hopSeconds : 0) + delaySeconds(link);
  return {
    ...topology,
    linkBytesPerSecond: topology.linkBytesPerSecond.map((rate) => Math.max(1, Math.round(rate * payloadShare))),
    linkLatencyPs: topology.linkLatencyPs.map((_, link) => Math.round(latency(link) * PS_PER_SECOND)),
  };
}
