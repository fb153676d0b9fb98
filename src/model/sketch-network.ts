import type { RouteSet } from "./routes.ts";
import type { HyperedgePolicy, Sketch } from "./sketch.ts";
import type { Topology } from "./topology.ts";

/** The logical topology of a sketch on a network (TACCL, section 3.1): the routes that may be used, and how. */
export interface SketchNetwork {
  readonly topology: Topology;
  readonly sketch: Sketch;
  /** One for each connection that the sketch allows (parallel links: one each); links that routes share limit them together. */
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
