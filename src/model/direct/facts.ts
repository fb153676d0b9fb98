import { type CommTimes, degreeOf } from "../comm/schedule.ts";
import { add, compare, format, multiply, type Rational, rational, toNumber } from "../numbers/rational.ts";
import { PS_PER_SECOND, PS_PER_US } from "../numbers/units.ts";
import { oppositeLinks } from "../topology/link-classes.ts";
import { arcSources, type Digraph } from "./digraph.ts";

/** How good a schedule in comm steps on equal links is (Zhao 2026, 3.3.2 and A.3). Plain data for reports. */
export interface DirectFacts {
  readonly nodes: number;
  /** Ports of a node, those of self-loops counted. */
  readonly degree: number;
  /** T_L / alpha of an all-gather or reduce-scatter; an all-reduce has one of each. */
  readonly steps: number;
  /** The fewest of any network of as many nodes and ports. */
  readonly mooreSteps: number;
  /** The same where links come in opposite pairs; null where they do not. */
  readonly bidirectionalMooreSteps: number | null;
  /** T_B in M / B, "1045/1024", and as a number. */
  readonly bandwidth: string;
  readonly bandwidthValue: number;
  /** T_B* in M / B, (N - 1) / N. */
  readonly leastBandwidth: string;
  readonly leastBandwidthValue: number;
  readonly mooreOptimal: boolean;
  readonly bandwidthOptimal: boolean;
  /** T_L + T_B at the size asked for, of both halves of an all-reduce. */
  readonly predictedUs: number;
}

/** What one link of such a network does. */
export interface DirectLink {
  readonly bytesPerSecond: number;
  readonly latencyPs: number;
}

/**
 * Returns the facts of a collective of `sizeBytes` made of these passes (one, or the two of an all-reduce, of which the longer
 * one is given) on a graph of equal links. O(arcs log arcs).
 */
export function directFacts(
  graph: Digraph,
  passes: readonly CommTimes[],
  link: DirectLink,
  sizeBytes: number,
): DirectFacts {
  const degree = degreeOf(graph);
  const steps = Math.max(...passes.map((pass) => pass.steps));
  const bandwidth = passes.map((pass) => pass.bandwidth).reduce((a, b) => (compare(a, b) < 0 ? b : a));
  const least = leastBandwidthTime(graph.nodes);
  const fewest = mooreSteps(graph.nodes, degree);
  const isBidirectional = oppositeLinks(arcSources(graph), graph.target, []) !== null;
  return {
    nodes: graph.nodes,
    degree,
    steps,
    mooreSteps: fewest,
    bidirectionalMooreSteps: isBidirectional ? bidirectionalMooreSteps(graph.nodes, degree) : null,
    bandwidth: format(bandwidth),
    bandwidthValue: toNumber(bandwidth),
    leastBandwidth: format(least),
    leastBandwidthValue: toNumber(least),
    mooreOptimal: steps === fewest,
    bandwidthOptimal: compare(bandwidth, least) === 0,
    predictedUs: toNumber(passes.map((pass) => predictedUs(pass, degree, link, sizeBytes)).reduce(add)),
  };
}

/** Returns T_L + T_B of one pass in microseconds, with B = degree links. */
export function predictedUs(
  { steps, bandwidth }: CommTimes,
  degree: number,
  link: DirectLink,
  sizeBytes: number,
): Rational {
  const latency = rational(BigInt(steps) * BigInt(link.latencyPs), PS_PER_US);
  const perUs = rational(BigInt(degree) * BigInt(link.bytesPerSecond) * BigInt(PS_PER_US), PS_PER_SECOND);
  const serial = multiply(bandwidth, rational(BigInt(sizeBytes) * perUs.den, perUs.num));
  return add(latency, serial);
}

/** What no network of N nodes with d ports each can beat, whatever its links and schedule (Zhao 2026, A.3). */

/** Returns T_L* / alpha: the fewest comm steps by the Moore bound of digraphs (definitions 9, 10). O(log N). */
export const mooreSteps = (nodes: number, degree: number): number => stepsToReach(nodes, degree, degree);

/** Returns T_L** / alpha, the same where links come in opposite pairs: an undirected graph of degree d. */
export const bidirectionalMooreSteps = (nodes: number, degree: number): number =>
  stepsToReach(nodes, degree, degree - 1);

function stepsToReach(nodes: number, first: number, factor: number): number {
  if (factor === 0 && nodes > 1 + first) return Number.POSITIVE_INFINITY;
  if (factor === 1) return Math.ceil((nodes - 1) / first);
  let steps = 0;
  for (let reached = 1, level = first; reached < nodes; reached += level, level *= factor) steps++;
  return steps;
}

/** Returns T_B* in units of M / B: the least bandwidth time of an all-gather or reduce-scatter (theorem 4). */
export const leastBandwidthTime = (nodes: number): Rational => rational(nodes - 1, nodes);

/**
 * Returns the greatest rate of an all-to-all in units of a link's bandwidth, f of (A.1): each node has d^t nodes at most at
 * distance t, and all distances together use the N * d links. O(log N).
 */
export function greatestAllToAllRate(nodes: number, degree: number): Rational {
  if (degree === 1) return rational(2n, BigInt(nodes) * BigInt(nodes - 1));
  let distances = 0n;
  for (let t = 1, level = degree, left = nodes - 1; left > 0; t++, level *= degree) {
    const here = Math.min(level, left);
    distances += BigInt(t) * BigInt(here);
    left -= here;
  }
  return rational(BigInt(degree), distances);
}
