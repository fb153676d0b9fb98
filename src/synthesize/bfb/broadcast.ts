import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { type Balance, type BalanceProblem, balanceRows } from "../../engine/contract/kernels.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { type CommSchedule, type CommTimes, directNetworkOf, timesOfLoads } from "../../model/comm/schedule.ts";
import { arcCount, arcSources, type Digraph, distanceCounts, transpose } from "../../model/direct/digraph.ts";
import { type DirectFacts, directFacts } from "../../model/direct/facts.ts";
import { commonValue, groupedBy } from "../../model/graph/graph.ts";
import { bigLcm } from "../../model/numbers/integers.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import { type Rational, rational } from "../../model/numbers/rational.ts";
import { canBeSlots, leastTransfers } from "../../model/steps/estimate.ts";
import { indexColumn } from "../../model/steps/step-schedule.ts";
import { unreachablePair } from "../../model/topology/modify.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { SynthesisRequest } from "../synthesizer.ts";

/** Where the kernel `balance` runs. */
export type Balancer = (problem: Omit<BalanceProblem, "threads">) => Promise<Balance | null>;

/** Comm steps are counted in 16 bits. */
const MOST_STEPS = 65_535;
const MOST_LINKS_IN = 65_535;
/** Parts of a shard, too. */
export const MOST_PARTS = 32_767;

/** What the kernel is asked, but for how. */
type Network = Pick<BalanceProblem, "nodeCount" | "inOffset" | "inSource" | "targets">;

function networkOf(graph: Digraph): Network {
  const tail = arcSources(graph);
  const into = groupedBy(graph.target, graph.nodes);
  const most = into.offset.reduce((links, end, v) => (v === 0 ? 0 : Math.max(links, end - into.offset[v - 1])), 0);
  if (most > MOST_LINKS_IN)
    throw new InputError("bfb", `at most ${MOST_LINKS_IN} links into an NPU`, most).as("out-of-range");
  return {
    nodeCount: graph.nodes,
    inOffset: into.offset,
    inSource: into.items.map((arc) => tail[arc]),
    // where translations take every node to every other, one looks like all
    targets: graph.translations === null ? indicesBelow(graph.nodes) : Int32Array.of(0),
  };
}

function refuseLong({ nodeCount }: Network): never {
  throw new InputError(
    "bfb",
    `a network of at most ${MOST_STEPS} hops`,
    inWords(`one of ${nodeCount} nodes with more`),
  );
}

/**
 * Returns the load of the busiest arc in each step of the best breadth-first broadcast, in shards, exactly (Zhao 2026, LP 3.1 and
 * theorem 16): the greatest of all nodes, or as far as these targets tell. Throws InfeasibleError where a node cannot be reached.
 */
export function bfbLoads(graph: Digraph, balance: Balancer, targets?: Int32Array): Promise<Rational[]> {
  const network = networkOf(graph);
  return loadsOf(targets === undefined ? network : { ...network, targets }, balance);
}

/** Returns the times of the optimal breadth-first broadcast, as far as these targets tell. Throws as bfbLoads. */
export const bfbTimes = async (graph: Digraph, targets: Int32Array, balance: Balancer): Promise<CommTimes> =>
  timesOfLoads(graph, await bfbLoads(graph, balance, targets));

async function loadsOf(network: Network, balance: Balancer): Promise<Rational[]> {
  const maxSteps = Math.min(network.nodeCount, MOST_STEPS);
  const found = await balance({ ...network, parts: 0, wantsShares: 0, maxSteps, maxRows: 0 });
  if (found === null) return refuseLong(network);
  return Array.from({ length: found.steps }, (_, t) => rational(found.loadNum[t], found.loadDen[t]));
}

/**
 * Returns the best breadth-first broadcast with this many parts of a shard, 1 .. MOST_PARTS: T_L is the diameter (theorem 15), and
 * no arc into a node carries more parts in a step than it must (A.11). Symmetric where the graph has translations. Throws as
 * bfbLoads.
 */
export async function bfbSchedule(graph: Digraph, parts: number, balance: Balancer): Promise<CommSchedule> {
  const network = networkOf(graph);
  const problem = { ...network, parts, wantsShares: 1, maxSteps: Math.min(mostHops(network), MOST_STEPS) };
  const found = await balance({ ...problem, maxRows: balanceRows(problem) });
  if (found === null) return refuseLong(network);
  return scheduleOf(graph, parts, network.targets, found);
}

/**
 * Returns at least the diameter and at most twice that: hops to node 0 and on from there; the number of nodes where some are
 * not connected. The fewer steps, the less room for shards that are cut. O(arcs).
 */
function mostHops({ nodeCount: nodes, inOffset: offset, inSource: target }: Network): number {
  const back = { nodes, offset, target, translations: null };
  const hops = [back, transpose(back)].map((graph) => {
    const counts = distanceCounts(graph, 0);
    return counts.reduce((sum, count) => sum + count, 0) < nodes ? nodes : counts.length - 1;
  });
  return Math.min(nodes, hops[0] + hops[1]);
}

/**
 * Returns the schedule of what the kernel found. Each target's rows ascend by (step, port, source, part) and its ports by arc, so
 * arcs taken in order, step by step, merge them: O(rows + steps * arcs into targets), no sort.
 */
function scheduleOf(
  graph: Digraph,
  parts: number,
  targets: Int32Array,
  { steps, rowOffset, step: distance, port, source, from, to }: Balance,
): CommSchedule {
  const rows = rowOffset[targets.length];
  const arcs = arcsInto(graph, targets);
  const moved = {
    step: indexColumn(rows, steps),
    source: indexColumn(rows, graph.nodes),
    arc: indexColumn(rows, arcCount(graph)),
    from: indexColumn(rows, parts),
    to: indexColumn(rows, parts),
  };
  const next = Int32Array.from(rowOffset);
  const ends = next.slice(1);
  let row = 0;
  // the shards of nodes at distance t move in step t, and comm steps are numbered from 0
  for (let t = 1; t <= steps; t++) {
    for (let k = 0; k < arcs.arc.length; k++) {
      const target = arcs.target[k];
      const over = arcs.port[k];
      const end = ends[target];
      let i = next[target];
      for (; i < end && distance[i] === t && port[i] === over; i++, row++) {
        moved.step[row] = t - 1;
        moved.source[row] = source[i];
        moved.arc[row] = arcs.arc[k];
        moved.from[row] = from[i];
        moved.to[row] = to[i];
      }
      next[target] = i;
    }
  }
  return { graph, steps, parts, symmetry: graph.translations, ...moved };
}

/** Returns the arcs that enter targets, ascending: the index of the target, and which of its ports the arc is. O(arcs). */
function arcsInto(
  graph: Digraph,
  targets: Int32Array,
): { readonly arc: Int32Array; readonly target: Int32Array; readonly port: Int32Array } {
  const targetOf = new Int32Array(graph.nodes).fill(-1);
  for (let i = 0; i < targets.length; i++) targetOf[targets[i]] = i;
  const arc = indicesBelow(arcCount(graph)).filter((a) => targetOf[graph.target[a]] >= 0);
  const ports = new Int32Array(targets.length);
  const target = arc.map((a) => targetOf[graph.target[a]]);
  return { arc, target, port: target.map((i) => ports[i]++) };
}

/** Returns the fewest equal parts of a shard in which loads in shards are whole: what an optimal schedule needs (Zhao 2026, A.5.2). */
export const exactParts = (loads: readonly Rational[]): bigint => loads.reduce((all, { den }) => bigLcm(all, den), 1n);

/**
 * Returns the number of parts, 1 .. most, in which steps of these loads take least: of P parts the busiest link carries
 * ceil(P * load), which is optimal (A.11), for the greatest of ceilings is the ceiling of the greatest. The fewest among equals.
 * O(most * steps).
 */
export function bestParts(loads: readonly Rational[], most: number): number {
  const exact = exactParts(loads);
  if (exact <= BigInt(most)) return Number(exact);
  const figures = loads.map(({ num, den }) => [Number(num), Number(den)] as const);
  let best = 1;
  let bestSum = Number.POSITIVE_INFINITY;
  for (let parts = 1; parts <= most; parts++) {
    let sum = 0;
    for (const [num, den] of figures) sum += Math.ceil((num * parts) / den);
    if (sum * best < bestSum * parts) [best, bestSum] = [parts, sum];
  }
  return best;
}

/** What makers of schedules in comm steps ask of a request: whom it serves, and how finely it cuts shards. */

/** Transfers that parts of shards may lead to where the user does not say how many: listed one by one, and in logs. */
const MOST_LISTED = 1e7;
export const MOST_LOGGED = 1e8;

type Request = Pick<SynthesisRequest, "topology" | "collective">;

/** Whether the collective is among all NPUs, in one group. */
const isWhole = ({ topology, collective: { groupCount, groupSize } }: Request): boolean =>
  groupCount === 1 && groupSize === topology.npuCount;

/** Returns what groups lack, for `refuses`; null where the collective is among all NPUs. */
export const groupRefusal = (request: Request): string | null => (isWhole(request) ? null : "one group of all NPUs");

/** Throws InputError unless the collective is among all NPUs, in one group. */
export function refuseGroups(algorithm: string, { topology, collective }: Request): void {
  const { groupCount, groupSize } = collective;
  if (isWhole({ topology, collective })) return;
  const sizes = `${groupCount} of ${groupSize} of ${topology.npuCount} NPUs`;
  throw new InputError(optionName("group"), `one group of all NPUs (${algorithm} broadcasts to everyone)`, sizes);
}

/** Throws InputError for more parts of a shard than can be numbered. */
export function refuseParts(algorithm: string, { chunksPerNpu }: Collective): void {
  if (chunksPerNpu <= MOST_PARTS) return;
  throw new InputError(optionName("chunks"), `at most ${MOST_PARTS} chunks per NPU (${algorithm})`, chunksPerNpu).as(
    "out-of-range",
  );
}

/** Returns the most parts of a shard, at least 1, for which transfers stay few enough: `logged` of them where logs hold them. */
export function affordableParts({ topology, collective }: Request, logged = MOST_LOGGED): number {
  const perPart = leastTransfers(collective) / collective.chunksPerNpu;
  const most = (canBeSlots(topology, collective) ? logged : MOST_LISTED) / perPart;
  return Math.max(1, Math.min(MOST_PARTS, Math.floor(most)));
}

/** Returns the passes of a collective that these all-gathers make: logs of one run both ways in an all-reduce. */
export const passesOf = <T>({ kind }: Collective, gathers: readonly T[]): readonly T[] =>
  kind === "allreduce" && gathers.length === 1 ? [...gathers, ...gathers] : gathers;

/** Searches may visit this many arcs, all nodes together: those of 15,000 nodes with four links each take about a second. */
const MOST_VISITS = 1e9;

/**
 * Returns the facts of the best breadth-first broadcast on a network, shards cut anywhere, without its schedule: T_L, which is
 * the diameter (Zhao 2026, theorem 15), and T_B. Null where there are switches or unequal links, an NPU that another cannot
 * reach, too many hops or links for the kernel, or too much to search. O(NPUs * links), O(links) where translations leave the network as it is.
 */
export async function bfbFacts(
  topology: Topology,
  balance: Balancer,
): Promise<Omit<DirectFacts, "predictedUs"> | null> {
  const bytesPerSecond = commonValue(topology.linkBytesPerSecond);
  const latencyPs = commonValue(topology.linkLatencyPs);
  if (topology.npuCount < 2 || bytesPerSecond === null || latencyPs === null) return null;
  const network = directNetworkOf(topology);
  if (network === null || unreachablePair(topology) !== null) return null;
  const { graph } = network;
  if ((graph.translations === null ? graph.nodes : 1) * arcCount(graph) > MOST_VISITS) return null;
  let loads: Rational[];
  try {
    loads = await bfbLoads(graph, balance);
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
  const times = timesOfLoads(graph, loads);
  const { predictedUs: _ofNothing, ...facts } = directFacts(graph, [times], { bytesPerSecond, latencyPs }, 0);
  return facts;
}
