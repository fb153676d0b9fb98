import type { Collective } from "../collective/collective.ts";
import type { LineAlgorithm, NetworkDimension } from "../dimensions/dimensions.ts";
import type { IndexColumn } from "../steps/step-schedule.ts";
import type { Topology } from "../topology/topology.ts";

/** Op of a phase: a reduce-scatter or an all-gather within the lines of one dimension. */
export const PHASE_REDUCE_SCATTER = 0;
export const PHASE_ALL_GATHER = 1;

/**
 * A collective as phases within dimensions (multi-rail hierarchical collectives, Themis 2.3): every rank's block is cut into
 * equal chunks, and each chunk passes through reduce-scatters, then all-gathers, one a dimension, in an order of its own.
 * Every group is a product of the dimensions: rank x0 + d0*(x1 + d1*(x2 ...)) has coordinate xi in dimension i, and ranks that
 * differ in it alone are a line. All lines of a dimension, of all groups, do the same at the same time. Columns of equal length,
 * one row a phase, ascending by (startPs, dimension, chunk): each dimension carries its phases out in this order on every NPU (4.6).
 */
export interface PhaseSchedule {
  readonly kind: "phases";
  readonly topology: Topology;
  /** All-reduce, reduce-scatter or all-gather of groups that share no NPU; chunksPerNpu is the number of chunks. */
  readonly collective: Collective;
  /** Of each group, those of size 2 or more, the first the fastest of the ranks; the network's where all NPUs are one, in order. */
  readonly dimensions: readonly NetworkDimension[];
  /** [dimensions] */
  readonly algorithms: readonly LineAlgorithm[];
  /** [phases] below chunksPerNpu */
  readonly chunk: IndexColumn;
  /** [phases] */
  readonly dimension: Uint8Array;
  /** [phases] PHASE_REDUCE_SCATTER or PHASE_ALL_GATHER. */
  readonly op: Uint8Array;
  /**
   * [phases] picoseconds, exact integers. A phase occupies its dimension while it serialises, from its start on; its chunk is
   * done at endPs, the latencies of its steps later.
   */
  readonly startPs: Float64Array;
  readonly endPs: Float64Array;
}

/** Returns whether a schedule is one of phases. */
export const isPhaseSchedule = (schedule: object): schedule is PhaseSchedule =>
  "kind" in schedule && schedule.kind === "phases";
