import type { RouteSet } from "../../model/routes/routes.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";
import type { Hops } from "./transfers.ts";

/** [transfers] each. */
export interface HopTimes {
  readonly message: Int32Array;
  readonly route: Int32Array;
  readonly slotPs: Float64Array;
  /** From the start of the message to the end of the hop, on free links. */
  readonly headPs: Float64Array;
  /** From the start of the hop to the end of the message, on free links. */
  readonly tailPs: Float64Array;
}

/** Returns how long the hops of messages take on free links, `slotOfRoute` [routes] each. O(transfers). */
export function hopTimes({ message, route }: Hops, slotOfRoute: Float64Array): HopTimes {
  const slotPs = Float64Array.from(route, (r) => slotOfRoute[r]);
  return { message, route, slotPs, headPs: waysTo(message, slotPs), tailPs: waysFrom(message, slotPs) };
}

/** Returns the time from the start of each hop's message to the hop's end, on free links. */
function waysTo(message: Int32Array, slotPs: Float64Array): Float64Array {
  const way = slotPs.slice();
  for (let i = 1; i < way.length; i++) if (message[i] === message[i - 1]) way[i] += way[i - 1];
  return way;
}

/** Returns the time from the start of each hop to the end of its message, on free links. */
function waysFrom(message: Int32Array, slotPs: Float64Array): Float64Array {
  const way = slotPs.slice();
  for (let i = way.length - 2; i >= 0; i--) if (message[i] === message[i + 1]) way[i] += way[i + 1];
  return way;
}

/** Work of a link that some hops use, as their shares of it, and the least way to and from one of them. */
export interface LinkWork {
  /** [links] */
  readonly busyPs: Float64Array;
  readonly leastHeadPs: Float64Array;
  readonly leastTailPs: Float64Array;
}

/** Returns the work of all links, in picoseconds. O(links of the hops). */
export function workOf(
  topology: Topology,
  { linkOffset, links, shareNum, shareDen }: RouteSet,
  { route, slotPs, headPs, tailPs }: HopTimes,
): LinkWork {
  const busyPs = new Float64Array(linkCount(topology));
  const leastHeadPs = new Float64Array(busyPs.length).fill(Number.POSITIVE_INFINITY);
  const leastTailPs = leastHeadPs.slice();
  for (let i = 0; i < route.length; i++) {
    for (let k = linkOffset[route[i]]; k < linkOffset[route[i] + 1]; k++) {
      const link = links[k];
      busyPs[link] += (slotPs[i] * shareNum[k]) / shareDen[k];
      leastHeadPs[link] = Math.min(leastHeadPs[link], headPs[i] - slotPs[i]);
      leastTailPs[link] = Math.min(leastTailPs[link], tailPs[i] - slotPs[i]);
    }
  }
  return { busyPs, leastHeadPs, leastTailPs };
}

/** Returns, for each hop, how long the busiest link that its message takes after it is busy; 0 for the last hop. */
export function busiestAhead(routes: RouteSet, { route, message }: HopTimes, busyPs: Float64Array): Float64Array {
  const ahead = new Float64Array(route.length);
  for (let i = route.length - 2; i >= 0; i--) {
    if (message[i] !== message[i + 1]) continue;
    const next = route[i + 1];
    ahead[i] = ahead[i + 1];
    for (let k = routes.linkOffset[next]; k < routes.linkOffset[next + 1]; k++) {
      ahead[i] = Math.max(ahead[i], busyPs[routes.links[k]]);
    }
  }
  return ahead;
}

/** Returns a time before which no schedule of these hops ends, up to the rounding of shares. */
export function leastEnd({ busyPs, leastHeadPs, leastTailPs }: LinkWork, tailPs: Float64Array): number {
  let end = 0;
  for (let i = 0; i < tailPs.length; i++) if (tailPs[i] > end) end = tailPs[i];
  for (let link = 0; link < busyPs.length; link++) {
    if (busyPs[link] > 0) end = Math.max(end, leastHeadPs[link] + busyPs[link] + leastTailPs[link]);
  }
  return Math.floor(end);
}
