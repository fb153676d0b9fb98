import type { Collective } from "../collective/collective.ts";
import { bothEnds, type Grouped, groupedBy } from "../graph/graph.ts";
import { type RouteSet, routeTimes } from "../routes/routes.ts";
import type { Topology } from "../topology/topology.ts";

/**
 * An all-reduce of all NPUs as one period of spanning trees, again and again: chunk c goes up tree c mod trees, summed on the way,
 * and down the same tree, in round c / trees; round r is the first one, r periods later. Kept are the trees and one round, so the
 * number of chunks costs nothing. Times are those of the network model: a transfer occupies its route while it serialises, and
 * arrives a latency later. Rounds never meet: no two transfers of a route, of whatever trees, overlap modulo the period.
 */
export interface PeriodSchedule {
  readonly kind: "periods";
  readonly topology: Topology;
  /** All-reduce of one group of all NPUs in order. */
  readonly collective: Collective;
  readonly routes: RouteSet;
  /** [edges] the routes of an edge, one way and back: they join the same two NPUs, through switches at most. */
  readonly there: Int32Array;
  readonly back: Int32Array;
  /** [trees x NPUs], no more trees than chunks: the edge by which an NPU sends up in a tree, and receives what comes down; -1 for the tree's root. */
  readonly entry: Int32Array;
  /**
   * [trees x 2 NPUs] picoseconds, exact integers, in round 0: in tree i NPU v sends up from [2 N i + v] on, and receives from
   * [2 N i + N + v] on; -1 for the root.
   */
  readonly startPs: Float64Array;
  /** Exact integer, at least 1. */
  readonly periodPs: number;
}

/** Returns whether a schedule is one of periods. */
export const isPeriodSchedule = (schedule: object): schedule is PeriodSchedule =>
  "kind" in schedule && schedule.kind === "periods";

/** Returns the number of trees. */
export const treesOf = ({ entry, topology }: Pick<PeriodSchedule, "entry" | "topology">): number =>
  entry.length / topology.npuCount;

/** Returns the number of rounds of a tree, of the first one without `tree`: in the last round the last trees may have no chunk. */
export const roundsOf = (schedule: Pick<PeriodSchedule, "entry" | "topology" | "collective">, tree = 0): number =>
  Math.ceil((schedule.collective.chunkCount - tree) / treesOf(schedule));

/** Returns the route by which an NPU at one end of an edge sends over it. */
export const outwardRoute = (
  { routes, there, back }: Pick<PeriodSchedule, "routes" | "there" | "back">,
  edge: number,
  npu: number,
): number => (routes.source[there[edge]] === npu ? there[edge] : back[edge]);

/** Returns the route by which an NPU at one end of an edge receives over it. */
export const inwardRoute = (
  { routes, there, back }: Pick<PeriodSchedule, "routes" | "there" | "back">,
  edge: number,
  npu: number,
): number => (routes.source[there[edge]] === npu ? back[edge] : there[edge]);

/**
 * Returns when the last chunk has arrived everywhere, picoseconds: of each tree its last round, which of the last trees may be the
 * one before the last. The schedule must be well-formed. O(trees x NPUs + route links).
 */
export function periodEndPs(schedule: PeriodSchedule): number {
  const { topology, collective, routes, entry, startPs, periodPs } = schedule;
  const { npuCount } = topology;
  const { slotPs } = routeTimes(topology, routes, collective.chunkBytes);
  let endPs = 0;
  for (let tree = 0; tree < treesOf(schedule); tree++) {
    const basePs = (roundsOf(schedule, tree) - 1) * periodPs;
    for (let npu = 0; npu < npuCount; npu++) {
      const edge = entry[tree * npuCount + npu];
      if (edge < 0) continue;
      const arrivalPs = startPs[(2 * tree + 1) * npuCount + npu] + slotPs[inwardRoute(schedule, edge, npu)];
      if (basePs + arrivalPs > endPs) endPs = basePs + arrivalPs;
    }
  }
  return endPs;
}

/** Returns the number of transfers of all chunks: each goes up and down along all edges of its tree. */
export const periodTransfers = ({ collective, topology }: PeriodSchedule): number =>
  2 * collective.chunkCount * (topology.npuCount - 1);

/** Returns the ends of edges at each NPU, ascending: edge e begins (by its route there) at end 2e, and ends at 2e + 1. O(edges + NPUs). */
export function edgeEnds({ topology, routes, there }: Pick<PeriodSchedule, "topology" | "routes" | "there">): Grouped {
  const { source, target } = routes;
  const ends = bothEnds(
    there.map((route) => source[route]),
    there.map((route) => target[route]),
  );
  return groupedBy(ends, topology.npuCount);
}

/** Returns how many ends of edges an NPU has at most. O(NPUs). */
export const mostEnds = ({ offset }: Grouped): number =>
  offset.reduce((most, end, npu) => (npu === 0 ? 0 : Math.max(most, end - offset[npu - 1])), 0);

/** Returns the longest tick, picoseconds, of which the period and all starts are multiples. The schedule must be well-formed. O(starts). */
export function tickPsOf({ startPs, periodPs }: PeriodSchedule): number {
  let tickPs = periodPs;
  for (let job = 0; job < startPs.length; job++) {
    if (startPs[job] < 0) continue;
    for (let rest = startPs[job] % tickPs; rest > 0; ) [tickPs, rest] = [rest, tickPs % rest];
  }
  return tickPs;
}
