import { draw } from "../../base/random.ts";
import type { RouteSet } from "../../model/routes/routes.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";
import type { HopTimes } from "./hop-times.ts";
import { roundsOf } from "./rounds.ts";

/** Orders in which list scheduling takes hops: the least key first, [transfers] exact integers of any sign. */

/**
 * Returns the keys for "farthest to go first"; `weight` says how much `aheadPs` counts beside the way, and hops as far as each
 * other go in the order drawn for try `k`.
 */
export function farthestFirst(
  { message, tailPs }: HopTimes,
  aheadPs: Float64Array,
  weight: number,
  { seed, k, slotPs }: { readonly seed: number; readonly k: number; readonly slotPs: number },
): Float64Array {
  const key = new Float64Array(message.length);
  for (let i = 0; i < key.length; i++) {
    const tie = draw(seed, k, message[i]) / 4294967296;
    key[i] = Math.floor((tie - 0.5) * slotPs) - tailPs[i] - Math.floor(weight * aheadPs[i]);
  }
  return key;
}

/**
 * Returns the keys for rounds in which each port of a switch sends and receives one message (roundsOf): every message crosses
 * its busiest route in its round, and is there in time. null where rounds would take too much memory.
 */
export function byRounds(
  topology: Topology,
  { linkOffset, links }: RouteSet,
  { message, route, slotPs, headPs }: HopTimes,
  busyPs: Float64Array,
): Float64Array | null {
  const routeBusyPs = new Float64Array(linkOffset.length - 1);
  for (let r = 0; r < routeBusyPs.length; r++) {
    for (let k = linkOffset[r]; k < linkOffset[r + 1]; k++) routeBusyPs[r] = Math.max(routeBusyPs[r], busyPs[links[k]]);
  }
  const crossing: number[] = [];
  for (let i = 0; i < route.length; i++) {
    const last = crossing.length - 1;
    if (i === 0 || message[i] !== message[i - 1]) crossing.push(i);
    else if (routeBusyPs[route[i]] > routeBusyPs[route[crossing[last] as number]]) crossing[last] = i;
  }
  const from = Int32Array.from(crossing, (i) => links[linkOffset[route[i]]]);
  const to = Int32Array.from(crossing, (i) => linkCount(topology) + links[linkOffset[route[i] + 1] - 1]);
  const rounds = roundsOf(from, to, 2 * linkCount(topology));
  if (rounds === null) return null;
  const key = new Float64Array(route.length);
  for (let i = 0, m = -1; i < route.length; i++) {
    if (i === 0 || message[i] !== message[i - 1]) m++;
    const at = crossing[m] as number;
    key[i] = rounds[m] * slotPs[at] + headPs[i] - headPs[at];
  }
  return key;
}

/** Returns starts shaken by up to half of `widthPs` either way, as drawn for counter `k`. */
export function shaken(startPs: Float64Array, widthPs: number, seed: number, k: number): Float64Array {
  const key = new Float64Array(startPs.length);
  for (let i = 0; i < key.length; i++) {
    key[i] = startPs[i] + Math.floor((draw(seed, k, i) / 4294967296 - 0.5) * widthPs);
  }
  return key;
}
