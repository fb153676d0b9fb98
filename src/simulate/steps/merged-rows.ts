import { type RouteSet, routeTimes } from "../../model/routes/routes.ts";
import type { Simulation } from "../simulation.ts";
import type { Rows } from "./rows.ts";

/** Rows in another order, with new planned times. */
export interface SpreadRows extends Rows {
  /** [rows] which row of the original each is. */
  readonly from: Uint32Array;
}

/**
 * Returns rows in which the chunks of a merged send (rows of equal route, start and end) follow each other, each planned for
 * when those before it are serialised, in order of their starts; null where that changes nothing: without merged sends, and
 * where no link is shared, since then nothing else is planned on the links meanwhile.
 *
 * Without this, what is planned on another share of a link during a merged send would wait for the last chunk of it to start.
 * A contribution that arrives in that time counts for the chunks that leave after it. O(rows log rows), and O(rows) for null.
 */
export function spreadMerged(rows: Rows): SpreadRows | null {
  const { topology, routes, route, startPs, endPs, collectives, firstChunk } = rows;
  if (routes.shareNum.every((num, p) => num === routes.shareDen[p])) return null;
  const isNext = (i: number): boolean =>
    route[i] === route[i - 1] && startPs[i] === startPs[i - 1] && endPs[i] === endPs[i - 1];
  let merged = false;
  for (let i = 1; i < route.length && !merged; i++) merged = isNext(i);
  if (!merged) return null;
  const serials = collectives.map(({ chunkBytes }) => routeTimes(topology, routes, chunkBytes).serialPs);
  const spread = startPs.slice();
  for (let i = 1; i < route.length; i++) {
    if (!isNext(i)) continue;
    const k = firstChunk.findLastIndex((first) => rows.chunk[i] >= first);
    // a plan too short for its chunks is no valid one: starts stay before ends
    spread[i] = Math.min(spread[i - 1] + (serials[k]?.[route[i]] ?? 0), endPs[i] - 1);
  }
  const from = Uint32Array.from(route, (_, i) => i).sort((a, b) => spread[a] - spread[b] || a - b);
  return {
    ...rows,
    from,
    chunk: rows.chunk.map((_, i) => rows.chunk[from[i]]),
    route: route.map((_, i) => route[from[i]]),
    startPs: spread.map((_, i) => spread[from[i]]),
    endPs: endPs.map((_, i) => endPs[from[i]]),
  };
}

/** Returns the simulation of spread rows with its timeline in the order of the original. O(rows x links of a route). */
export function inOriginalOrder({ from, route, routes }: SpreadRows, simulation: Simulation): Simulation {
  const { startPs, endPs, hopStartPs } = simulation;
  const restored = (times: Float64Array): Float64Array => {
    const all = new Float64Array(times.length);
    for (let i = 0; i < times.length; i++) all[from[i]] = times[i];
    return all;
  };
  return {
    ...simulation,
    ...(startPs === undefined ? {} : { startPs: restored(startPs) }),
    ...(endPs === undefined ? {} : { endPs: restored(endPs) }),
    ...(hopStartPs === undefined ? {} : { hopStartPs: restoredHops(from, route, routes, hopStartPs) }),
  };
}

function restoredHops(
  from: Uint32Array,
  route: Rows["route"],
  { linkOffset }: RouteSet,
  hops: Float64Array,
): Float64Array {
  const hopsOf = (row: number): number => linkOffset[route[row] + 1] - linkOffset[route[row]];
  const offset = new Float64Array(from.length + 1);
  for (let i = 0; i < from.length; i++) offset[from[i] + 1] = hopsOf(i);
  for (let row = 0; row < from.length; row++) offset[row + 1] += offset[row];
  const all = new Float64Array(hops.length);
  for (let i = 0, at = 0; i < from.length; at += hopsOf(i), i++) {
    all.set(hops.subarray(at, at + hopsOf(i)), offset[from[i]]);
  }
  return all;
}
