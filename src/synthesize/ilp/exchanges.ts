import type { FlowProblem } from "./problem.ts";

/**
 * Exchanges: two neighbours, where the contributions of one part of the NPUs and of all others have met, send each other
 * their sums at the same time. As many transfers as for trees through one place, and half a step off their timing.
 *
 * The 4x4 mesh with a chunk per NPU needs them: its bound is 13 slots, and trees through one place take 14. For in 13 slots
 * every corner must send its part of two chunks in each of the slots 1 to 8, and these must go without a stop to the corner
 * across, where two come in each of the slots 6 to 13. Through place (i, j), by slot m, the corners' parts then leave in the
 * slots m + 1 - their distances to it. Each corner's part leaves first of all (slot 1, so m is the place's eccentricity)
 * for two chunks that meet in the quarter across, and last (slot 8) for two that meet in its own: that is each of the 16
 * chunks once. A corner's slots 6 are then late chunks that meet in the inner place of the quarter across, its slots 3 early
 * ones in the inner place of its own, so all meet in inner places; the four early chunks beside it leave in slot 2, where
 * there is room for two. Pairs of neighbours reach the bound.
 */

/** Returns for each route one of the same durations the other way, one to one; -1 where there is none. O(routes). */
export function oppositeRoutes({ routes, durations }: FlowProblem): Int32Array {
  const waiting = new Map<string, number[]>();
  const key = (u: number, v: number, r: number): string => `${u};${v};${durations.map((column) => column[r])}`;
  for (let r = routes.source.length - 1; r >= 0; r--) {
    const at = key(routes.source[r], routes.target[r], r);
    const list = waiting.get(at);
    if (list === undefined) waiting.set(at, [r]);
    else list.push(r);
  }
  return routes.source.map((u, r) => waiting.get(key(routes.target[r], u, r))?.pop() ?? -1);
}

/** Returns the route that stands for an exchange over `route`: the lesser one of the two. */
export const pairOf = (opposite: Int32Array, route: number): number => Math.min(route, opposite[route]);
