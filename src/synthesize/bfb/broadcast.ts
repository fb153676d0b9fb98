import { type Balance, type BalanceProblem, balanceRows } from "../../engine/kernels/kernels.ts";
import { InputError, InternalError } from "../../errors.ts";
import { commSchedule } from "../../model/comm-builder.ts";
import type { CommSchedule } from "../../model/comm-schedule.ts";
import { arcSources, type Digraph } from "../../model/direct/digraph.ts";
import { type Grouped, groupedBy } from "../../model/graph.ts";
import { indicesBelow } from "../../model/ordering.ts";
import { type Rational, rational } from "../../model/rational.ts";

/** Where the kernel `balance` runs. */
export type Balancer = (problem: Omit<BalanceProblem, "threads">) => Promise<Balance | null>;

/** Comm steps are counted in 16 bits. */
const MOST_STEPS = 65_535;
/** Parts of a shard, too. */
export const MOST_PARTS = 32_767;

/** What the kernel is asked, but for how. */
type Network = Pick<BalanceProblem, "nodeCount" | "inOffset" | "inSource" | "targets">;

function networkOf(graph: Digraph, into: Grouped): Network {
  const tail = arcSources(graph);
  return {
    nodeCount: graph.nodes,
    inOffset: into.offset,
    inSource: into.items.map((arc) => tail[arc]),
    // where translations take every node to every other, one looks like all
    targets: graph.translations === null ? indicesBelow(graph.nodes) : Int32Array.of(0),
  };
}

function refuseLong({ nodeCount }: Network): never {
  throw new InputError("bfb", `a network of at most ${MOST_STEPS} hops`, `one of ${nodeCount} nodes with more`);
}

/**
 * Returns the load of the busiest arc in each step of the best breadth-first broadcast, in shards, exactly (Zhao 2026, LP 3.1 and
 * theorem 16). Throws InfeasibleError where a node cannot be reached.
 */
export function bfbLoads(graph: Digraph, balance: Balancer): Promise<Rational[]> {
  return loadsOf(networkOf(graph, groupedBy(graph.target, graph.nodes)), balance);
}

async function loadsOf(network: Network, balance: Balancer): Promise<Rational[]> {
  const maxSteps = Math.min(network.nodeCount, MOST_STEPS);
  const found = await balance({ ...network, parts: 0, wantsShares: 0, maxSteps, maxRows: 0 });
  if (found === null) return refuseLong(network);
  return Array.from({ length: found.steps }, (_, t) => rational(found.loadNum[t], found.loadDen[t]));
}

/**
 * Returns the best breadth-first broadcast with so many parts of a shard, 1 .. MOST_PARTS: T_L is the diameter (theorem 15), and
 * no arc into a node carries more parts in a step than it must (A.11). Symmetric where the graph has translations. Throws as
 * bfbLoads.
 */
export async function bfbSchedule(graph: Digraph, parts: number, balance: Balancer): Promise<CommSchedule> {
  const into = groupedBy(graph.target, graph.nodes);
  const network = networkOf(graph, into);
  // with the number of steps known, there need be room for few cuts: a second search costs less than the memory
  const { length: maxSteps } = await loadsOf(network, balance);
  const problem = { ...network, parts, wantsShares: 1, maxSteps };
  const found = await balance({ ...problem, maxRows: balanceRows(problem) });
  if (found === null) throw new InternalError(`more rows or steps than there is room for (${maxSteps} steps)`);
  return scheduleOf(graph, into, parts, network.targets, found);
}

function scheduleOf(
  graph: Digraph,
  into: Grouped,
  parts: number,
  targets: Int32Array,
  { steps, rowOffset, step: distance, port, source, from, to }: Balance,
): CommSchedule {
  // the shards of nodes at distance t move in step t, and comm steps are numbered from 0
  const step = distance.map((t) => t - 1);
  const arc = new Int32Array(rowOffset[targets.length]);
  for (let i = 0; i < targets.length; i++) {
    for (let row = rowOffset[i]; row < rowOffset[i + 1]; row++)
      arc[row] = into.items[into.offset[targets[i]] + port[row]];
  }
  return commSchedule({ graph, steps, parts, symmetry: graph.translations }, { step, source, arc, from, to });
}
