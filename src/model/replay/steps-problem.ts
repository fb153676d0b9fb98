import type { ReplayProblem } from "./problem.ts";

/** The NPUs of a placement as columns: those of chunk c are `members[offset[setOf[c]] .. offset[setOf[c] + 1]]`. */
export interface PlacementSets {
  /** [chunks] */
  readonly setOf: Int32Array;
  /** [sets + 1] */
  readonly offset: Int32Array;
  /** Ascending within a set. */
  readonly members: Int32Array;
}

/**
 * A schedule of transfers as columns of numbers: what a judge asks of a kernel. Times are exact integers held in doubles. The C
 * twin is BanyanSteps in native/abi.h.
 */
export interface StepsProblem
  extends Pick<ReplayProblem, "npuCount" | "linkCount" | "routeSource" | "routeTarget" | "linkOffset" | "links"> {
  /** [route links] what the route takes of the link, 1 .. capacity. */
  readonly cost: Float64Array;
  /** [links] exact integers 1 .. 2^53 - 1. */
  readonly capacity: Float64Array;
  /** [routes] how long a message of one chunk takes at least, 0 .. 2^53. */
  readonly least: Float64Array;
  /** [routes] and each further chunk of it. */
  readonly further: Float64Array;
  /** Who holds each chunk, or a contribution to it, at the start. */
  readonly from: PlacementSets;
  /** Who must have it at the end. */
  readonly to: PlacementSets;
  /** 1 where chunks are sums of contributions. */
  readonly reduces: number;
  /** [transfers] this and the next four may hold anything. */
  readonly chunk: Int32Array;
  readonly route: Int32Array;
  readonly startPs: Float64Array;
  readonly endPs: Float64Array;
  readonly op: Uint8Array;
}

/**
 * A function that says whether a schedule keeps every rule of `verifySchedule`. False: it breaks one, or a quick look does not
 * show that it keeps them.
 */
export type JudgeSteps = (problem: StepsProblem) => boolean;
