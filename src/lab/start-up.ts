import { InputError } from "../base/errors.ts";
import { PS_PER_SECOND } from "../model/numbers/units.ts";
import { isNpu, type Topology } from "../model/topology/topology.ts";
import type { JobResult } from "./job.ts";
import type { LabNetwork } from "./network.ts";
import type { Forwarding } from "./paths.ts";
import { spreadOf } from "./timings.ts";

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

/** Returns what the probe is asked: small messages and large ones, over all flows at once. */
export function startUpList(flows: readonly HopFlow[], fastestBitsPerSecond: number): string {
  const large = largeBytes(fastestBitsPerSecond);
  const all = flows.map(({ source, target }) => `${source}>${target}`).join(" ");
  const lines = [`${SMALL_BYTES} ${SMALL_REPEATS} ${all}`, `${large} ${LARGE_REPEATS} ${all}`];
  return ["banyan-probe-list 1", ...lines, `end ${lines.length}`, ""].join("\n");
}

const median = (values: readonly number[]): number => spreadOf(values).median;

/** Returns whether the probe has said all. */
export const hasAllFigures = (out: string): boolean => /^banyan-probe \{"end":/m.test(out);

/**
 * Returns what the probe's answers to `startUpList` say. `delaySeconds`: of each link. Throws InputError where answers are missing.
 */
export function startUpFigures(
  { out, failure }: JobResult,
  flows: readonly HopFlow[],
  { topology, fastestBitsPerSecond }: LabNetwork,
  delaySeconds: (link: number) => number,
): StartUpFigures {
  const large = largeBytes(fastestBitsPerSecond);
  const seconds: number[][][] = [[], []];
  for (const line of out.split("\n")) {
    const [, json] = /^banyan-probe (\{"experiment":.*\})\s*$/.exec(line) ?? [];
    if (json === undefined) continue;
    const one = JSON.parse(json) as { experiment: number; seconds: number[] };
    seconds[one.experiment]?.push(one.seconds);
  }
  const [small, bulk] = seconds as [number[][], number[][]];
  if (small.length === 0 || bulk.length === 0)
    throw new InputError("the laboratory", "messages between its NPUs", failure).saying(
      `the laboratory was built, but no messages went from NPU to NPU over MPI: ${failure}`,
    );
  const delays = flows.map(({ links }) => links.reduce((sum, link) => sum + delaySeconds(link), 0));
  const hop = median(small.flatMap((times) => times.map((time, flow) => time - (delays[flow] as number))));
  const rates = flows.map(({ links }) =>
    links.reduce((least, link) => Math.min(least, topology.linkBytesPerSecond[link]), Infinity),
  );
  const fastest = Math.max(...rates);
  const shares = bulk.flatMap((times) =>
    times.flatMap((time, flow) => {
      if (rates[flow] !== fastest) return [];
      return [large / Math.max(time - hop - (delays[flow] as number), Number.EPSILON) / fastest];
    }),
  );
  return { hopSeconds: Math.max(hop, 0), payloadShare: Math.min(1, median(shares)) };
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
