import type { RouteSet } from "../routes/routes.ts";
import type { Topology } from "../topology/topology.ts";

/**
 * A communication sketch: what a designer lets the synthesis use (TACCL, section 3 and listing 1). Local ranks count the
 * NPUs of one box, 0 .. npusPerBox - 1; box b has NPUs b * npusPerBox onwards.
 */
export interface Sketch {
  /** For messages: a file's name, "automatic: one relay per NIC". */
  readonly name: string;
  readonly boxes: number;
  readonly npusPerBox: number;
  readonly intranode: IntranodeSketch;
  /** Null for one box. */
  readonly internode: InternodeSketch | null;
  /** Rotations under which routing must not change. */
  readonly symmetries: readonly SymmetryOffset[];
  /** Chunks per NPU (`input_chunkup`). */
  readonly chunksPerNpu: number;
  /** Bytes of one NPU's input (`input_size`); null where the sketch does not say. */
  readonly inputBytes: number | null;
}

/** What a switch is for: as few connections as possible, as many, or no matter. */
export type HyperedgePolicy = "uc-min" | "uc-max" | "none";

export interface IntranodeSketch {
  /** "none": all links of a box; "switch": the switches below as hyperedges; "relay": only the connections below. */
  readonly strategy: "none" | "switch" | "relay";
  /** Local ranks that a switch joins. */
  readonly switches: readonly (readonly number[])[];
  /** One for each switch. */
  readonly policies: readonly HyperedgePolicy[];
  /** "relay": local sender -> local receivers. */
  readonly connections: ReadonlyMap<number, readonly number[]> | null;
}

/** All links of a box, without a policy. */
export const ALL_LINKS: IntranodeSketch = { strategy: "none", switches: [], policies: [], connections: null };

export interface InternodeSketch {
  /** Local sender -> local receivers, between every two boxes; "direct-map": each to its like. */
  readonly connections: "direct-map" | "fully-connected" | ReadonlyMap<number, readonly number[]>;
  /** Local sender -> n: what it sends takes 1/n of the bandwidth between boxes (`beta_split`); 1 where absent. */
  readonly betaSplit: ReadonlyMap<number, number>;
  /** Local rank of a chunk's owner -> local senders that may carry the chunk out of the box; null: all may. */
  readonly relays: ReadonlyMap<number, readonly number[]> | null;
  /** Chunks of a relay leave in the order of their owners (`enforce_ordering`). */
  readonly enforceOrdering: boolean;
}

/** send(c, u, v) = send(c', u', v') with x' = floor(x / period) * period + (x + offset) mod period, for NPUs and owners alike. */
export interface SymmetryOffset {
  readonly offset: number;
  readonly period: number;
}

/** The logical topology of a sketch on a network (TACCL, section 3.1): the routes that may be used, and how. */
export interface SketchNetwork {
  readonly topology: Topology;
  readonly sketch: Sketch;
  /**
   * One for each connection that the sketch allows (parallel links: one each), in ascending order of (source, target); links
   * that routes share limit them together.
   */
  readonly routes: RouteSet;
  /** [routes] Number of the switch hyperedge that the route belongs to, -1 for none; a box's hyperedges count on from the box before. */
  readonly hyperedge: Int32Array;
  /** [hyperedges] */
  readonly policies: readonly HyperedgePolicy[];
  /** [routes] 1: from box to box. */
  readonly leavesBox: Uint8Array;
  /** [npus] */
  readonly boxOf: Int32Array;
  /** Generators of the sketch's symmetry, each checked to map routes with equal times onto each other. */
  readonly symmetries: readonly SketchSymmetry[];
}

/** A permutation of NPUs with what it does to routes. */
export interface SketchSymmetry {
  /** [npus] */
  readonly npuTo: Int32Array;
  /** [routes] */
  readonly routeTo: Int32Array;
}
