import type { Collective } from "../collective/collective.ts";
import type { RouteSet } from "../routes/routes.ts";
import type { Topology } from "../topology/topology.ts";

/**
 * An all-reduce of all NPUs as one period of spanning trees, again and again: chunk c goes up tree c mod trees, summed on the way,
 * and down the same tree, in round c / trees; round r is the first one, r periods later. Kept are the trees and one round, so the
 * number of chunks costs nothing. Times are those of the network model: a transfer occupies its route while it serialises, and
 * arrives a latency later.
 */
export interface PeriodSchedule {
  readonly kind: "periods";
  readonly topology: Topology;
  /** All-reduce of one group of all NPUs in order. */
  readonly collective: Collective;
  readonly routes: RouteSet;
  /** [edges] the routes of an edge, one way and back: they join the same two NPUs. */
  readonly there: Int32Array;
  readonly back: Int32Array;
  /** [trees x NPUs] the edge by which an NPU sends up in a tree, and receives what comes down; -1 for the tree's root. */
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
export const treesOf = ({ entry, topology }: PeriodSchedule): number => entry.length / topology.npuCount;

/** Returns the number of rounds; in the last one the last trees may have no chunk. */
export const roundsOf = (schedule: PeriodSchedule): number =>
  Math.ceil(schedule.collective.chunkCount / treesOf(schedule));

/** Returns the number of transfers of all chunks: each goes up and down along all edges of its tree. */
export const periodTransfers = ({ collective, topology }: PeriodSchedule): number =>
  2 * collective.chunkCount * (topology.npuCount - 1);
