import type { Balance, BalanceProblem } from "../../engine/kernels/kernels.ts";
import { InputError } from "../../errors.ts";
import { commSchedule } from "../../model/comm-builder.ts";
import type { CommSchedule } from "../../model/comm-schedule.ts";
import { arcCount, arcSources, type Digraph } from "../../model/direct/digraph.ts";
import { type Grouped, groupedBy } from "../../model/graph.ts";
import { indicesBelow } from "../../model/ordering.ts";
import { type Rational, rational } from "../../model/rational.ts";

/** Where the kernel `balance` runs. */
export type Balancer = (problem: Omit<BalanceProblem, "threads">) => Promise<Balance | null>;

/** Comm steps are counted in 16 bits. */
const MOST_STEPS = 65_535;
/** Parts of a shard, too. */
export const MOST_PARTS = 32_767;

function problemOf(
  graph: Digraph,
  into: Grouped,
): Pick<BalanceProblem, "nodeCount" | "inOffset" | "inSource"> & {
  readonly targets: Int32Array;
  readonly maxSteps: number;
} {
  const tail = arcSources(graph);
  return {
    nodeCount: graph.nodes,
    inOffset: into.offset,
    inSource: into.items.map((arc) => tail[arc]),
    // where translations take every node to every other, one looks like all
    targets: graph.translations === null ? indicesBelow(graph.nodes) : Int32Array.of(0),
    maxSteps: Math.min(graph.nodes, MOST_STEPS),
  };
}

function refuseLong(graph: Digraph): never {
  throw new InputError("bfb", `a network of at most ${MOST_STEPS} hops`, `one of ${graph.nodes} nodes with more`);
}

/**
 * Returns the load of the busiest arc in each step of the best breadth-first broadcast, in shards, exactly (Zhao 2026, LP 3.1 and
 * theorem 16). Throws InfeasibleError where a node cannot be reached.
 */
export async function bfbLoads(graph: Digraph, balance: Balancer): Promise<Rational[]> {
  const problem = problemOf(graph, groupedBy(graph.target, graph.nodes));
  const found = await balance({ ...problem, parts: 0, wantsShares: 0, maxRows: 0 });
  if (found === null) return refuseLong(graph);
  return Array.from({ length: found.steps }, (_, t) => rational(found.loadNum[t], found.loadDen[t]));
}

/**
 * Returns the best breadth-first broadcast with so many parts of a shard, 1 .. MOST_PARTS: T_L is the diameter (theorem 15), and
 * no arc into a node carries more parts in a step than it must (A.11). Symmetric where the graph has translations. Throws as
 * bfbLoads.
 */
export async function bfbSchedule(graph: Digraph, parts: number, balance: Balancer): Promise<CommSchedule> {
  const into = groupedBy(graph.target, graph.nodes);
  const problem = problemOf(graph, into);
  const { targets } = problem;
  const deliveries = targets.length * (graph.nodes - 1);
  let ports = 1;
  for (let v = 0; v < graph.nodes; v++) ports = Math.max(ports, into.offset[v + 1] - into.offset[v]);
  const mostRows = deliveries * Math.min(parts, ports);
  // few shards are cut: one per port and set of ports in a step
  for (let maxRows = Math.min(mostRows, 2 * deliveries + arcCount(graph)); ; ) {
    const found = await balance({ ...problem, parts, wantsShares: 1, maxRows });
    if (found !== null) return scheduleOf(graph, into, parts, targets, found);
    if (maxRows === mostRows) return refuseLong(graph);
    maxRows = Math.min(mostRows, 2 * maxRows);
  }
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
