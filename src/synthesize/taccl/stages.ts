import type { Collective } from "../../model/collective/collective.ts";
import type { SketchNetwork } from "../../model/sketch/sketch.ts";
import type { Deadline } from "../deadline.ts";
import type { SolverStage } from "../solver-facts.ts";
import type { SynthesisContext } from "../synthesizer.ts";

/** What the stages of TACCL hand to each other (section 5.1, appendix B). All of them see copies only. */

export interface TacclProblem {
  readonly network: SketchNetwork;
  /** Moves copies: all-gather, broadcast, gather, scatter, all-to-all, custom. */
  readonly collective: Collective;
  /** Of the stage: what is tried besides a first routing. */
  readonly deadline: Deadline;
  readonly seed: number;
}

/** Chunks over routes, each pair once, in ascending order of (chunk, route). For one chunk they form a tree out of its holders. */
export interface Sends {
  readonly chunk: Int32Array;
  readonly route: Int32Array;
}

export interface Routing {
  readonly sends: Sends;
  /** Proved for routings of this sketch, merged sends included (a route pays its latency once); exact integer, 0 where nothing is proved. */
  readonly boundPs: number;
  readonly stages: readonly SolverStage[];
}

/** A sketch in which the collective cannot be routed, and what is in the way. */
export interface NoRouting {
  /** Constraints that cannot hold together, in words with the fields of the sketch; not empty. */
  readonly conflict: readonly string[];
}

/** Stage 1, routing: which routes each chunk takes. */
export type RoutingStage = (problem: TacclProblem, context: SynthesisContext) => Promise<Routing | NoRouting>;
