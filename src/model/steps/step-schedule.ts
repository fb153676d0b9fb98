import type { Collective } from "../collective/collective.ts";
import { type RouteSet, routeCount } from "../routes/routes.ts";
import type { Topology } from "../topology/topology.ts";

/** The transfer delivers the chunk as the source holds it. */
export const OP_COPY = 0;
/** The transfer's payload is added to what the target holds of the chunk. */
export const OP_REDUCE = 1;

/** Small unsigned columns are kept in the narrowest type that fits. */
export type IndexColumn = Uint8Array | Uint16Array | Int32Array;

/**
 * A schedule of transfers on a topology, as columns of equal length. Row i moves chunk[i] over route[i], occupying the
 * route from startPs[i] to endPs[i] (link-busy model); the payload is what the source holds at startPs[i], and the target
 * has it from endPs[i] on. Rows are in ascending order of (startPs, route, chunk).
 *
 * Rows with equal route, start and end are one *merged send* (TACCL, section 5.1): one message of all their chunks, which
 * takes the latencies of its route once and a rounded serialisation for each chunk, and delivers all of them when it ends.
 */
export interface StepSchedule {
  readonly topology: Topology;
  readonly collective: Collective;
  readonly routes: RouteSet;
  readonly chunk: IndexColumn;
  readonly route: IndexColumn;
  /** Exact integers, picoseconds. */
  readonly startPs: Float64Array;
  readonly endPs: Float64Array;
  /** OP_COPY or OP_REDUCE. */
  readonly op: Uint8Array;
}

export const transferCount = (schedule: StepSchedule): number => schedule.chunk.length;

/** Returns when the last transfer ends, in picoseconds; 0 for an empty schedule. O(transfers). */
export function makespanPs(schedule: StepSchedule): number {
  let last = 0;
  for (let i = 0; i < schedule.endPs.length; i++) if (schedule.endPs[i] > last) last = schedule.endPs[i];
  return last;
}

/** Returns a schedule of so many rows, all zeros (copies), in the narrowest columns. */
export function emptyRows(topology: Topology, collective: Collective, routes: RouteSet, count: number): StepSchedule {
  return {
    topology,
    collective,
    routes,
    chunk: indexColumn(count, collective.chunkCount),
    route: indexColumn(count, routeCount(routes)),
    startPs: new Float64Array(count),
    endPs: new Float64Array(count),
    op: new Uint8Array(count),
  };
}

/** Returns an empty column of `length` in the narrowest type for values 0 .. maximum. */
export function indexColumn(length: number, maximum: number): IndexColumn {
  if (maximum < 256) return new Uint8Array(length);
  return maximum < 65536 ? new Uint16Array(length) : new Int32Array(length);
}
