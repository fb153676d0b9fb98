/**
 * A replay as columns of numbers: what a simulator asks of a kernel. Times are exact integers, in any unit, held in doubles.
 * The C twin is BanyanReplay in native/abi.h; what a replay does is described at `simulateSchedule` (src/simulate/steps/replay.ts).
 */

/**
 * How transfers travel. `cutThrough`: over all links of the route at once. `storeAndForward`: link after link, those of one
 * first link in planned order. `firstCome`: the same without that order.
 */
export const REPLAY_MODE = { cutThrough: 0, storeAndForward: 1, firstCome: 2 } as const;

/** What is asked for besides the last time and how busy links were: when transfers start and end, and start on each link. */
export const REPLAY_WANTS = { nothing: 0, times: 1, hops: 2 } as const;

/** Stands for all times of 2^53 and more. */
export const TOO_LATE = 2 ** 53;

export interface ReplayProblem {
  /** One of REPLAY_MODE. */
  readonly mode: number;
  /** One of REPLAY_WANTS; no hops in cut-through. */
  readonly wants: number;
  readonly npuCount: number;
  readonly linkCount: number;
  /** [routes] */
  readonly routeSource: Int32Array;
  /** [routes] */
  readonly routeTarget: Int32Array;
  /** [routes + 1] route r goes over links[linkOffset[r] .. linkOffset[r + 1]], at least one. */
  readonly linkOffset: Int32Array;
  /** [route links] */
  readonly links: Int32Array;
  /** [collectives + 1] the chunks of collective k are firstChunk[k] .. firstChunk[k + 1] - 1. */
  readonly firstChunk: Int32Array;
  /** [collectives] 1 where chunks are sums of contributions. */
  readonly reduces: Uint8Array;
  /**
   * How long a chunk holds its way: [collectives * routes] in cut-through, of the whole route; else [collectives * links], of
   * each link. Exact integers 0 .. 2^53.
   */
  readonly serial: Float64Array;
  /** As `serial`: from the start until the chunk is at the far end. */
  readonly delay: Float64Array;
  /** Cut-through: [route links] what the route takes of the link, 1 .. capacity; else empty. */
  readonly cost: Float64Array;
  /** Cut-through: [links] exact integers 1 .. 2^53 - 1; else empty. */
  readonly capacity: Float64Array;
  /** [chunks] the set of NPUs that hold the chunk (sums: a contribution to it) at the start. */
  readonly holders: Int32Array;
  /** [sets + 1] set s is setMembers[setOffset[s] .. setOffset[s + 1]], ascending. */
  readonly setOffset: Int32Array;
  readonly setMembers: Int32Array;
  /** [transfers] numbered over all collectives. */
  readonly chunk: Int32Array;
  /** [transfers] */
  readonly route: Int32Array;
  /** [transfers] planned, ascending. */
  readonly plannedStart: Float64Array;
  /** [transfers] planned. */
  readonly plannedEnd: Float64Array;
}

export interface Replayed {
  readonly kind: "replayed";
  /** When the last transfer arrives; 0 where there is none. */
  readonly last: number;
  /** [links] sum of serials; in cut-through of serial times cost by capacity. */
  readonly linkBusy: Float64Array;
  /** [transfers] start on the first link; empty where not asked for, as the two below. */
  readonly start: Float64Array;
  /** [transfers] arrival at the target. */
  readonly end: Float64Array;
  /** Start of each transfer on each link of its route, transfer by transfer. */
  readonly hopStart: Float64Array;
}

export type ReplayOutcome =
  | Replayed
  /** The first transfer that no valid plan has: out of order, over no route, or of a chunk that is never at its source. */
  | { readonly kind: "refused"; readonly row: number }
  /** A time is 2^53 or more. */
  | { readonly kind: "late" };

/** A function that replays; all of them give the same bits. */
export type Replay = (problem: ReplayProblem) => ReplayOutcome;

/** Returns how many hops all transfers make together. O(transfers). */
export function hopCountOf({ linkOffset, route }: Pick<ReplayProblem, "linkOffset" | "route">): number {
  let hops = 0;
  for (let i = 0; i < route.length; i++) hops += linkOffset[route[i] + 1] - linkOffset[route[i]];
  return hops;
}
