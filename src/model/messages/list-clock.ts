import type { Collective } from "../collective/collective.ts";
import { toNumber } from "../numbers/rational.ts";
import { PS_PER_SECOND } from "../numbers/units.ts";
import { firstFreeRoute, type MessageRoutes, shortestRoutes } from "../routes/list-routes.ts";
import { routeTimes } from "../routes/routes.ts";
import { isNpu, linkCount, type Topology } from "../topology/topology.ts";
import type { Messages } from "./messages.ts";

/**
 * Returns a function that sends message i, whose chunk is at its source at `readyPs`, after all that were sent before, and returns
 * when it is at its target, where serialisation occupies links and latency does not: along a way through switches all links at
 * once; link by link where some way passes an NPU. A link is kept for 1 / `overheadParts` of its latency besides. O(hops) a call.
 */
export function messageClock(
  topology: Topology,
  collective: Collective,
  list: Messages,
  overheadParts = Number.POSITIVE_INFINITY,
): (message: number, readyPs: number) => number {
  const found = shortestRoutes(topology, list);
  const stored = passesNpus(topology, found);
  const { routes, routeOf } = found;
  const { linkOffset, links } = routes;
  const { serialPs, latencyPs } = routeTimes(topology, routes, collective.chunkBytes);
  const linkFree = new Float64Array(linkCount(topology));
  const picosecondBytes = toNumber(collective.chunkBytes) * PS_PER_SECOND;
  return (message, readyPs) => {
    const route = firstFreeRoute(found, routeOf[message], linkFree);
    const [from, to] = [linkOffset[route], linkOffset[route + 1]];
    let time = readyPs;
    if (stored) {
      for (let k = from; k < to; k++) {
        const link = links[k];
        const serial = Math.ceil(picosecondBytes / topology.linkBytesPerSecond[link]);
        const start = Math.max(time, linkFree[link]);
        linkFree[link] = start + serial + Math.floor(topology.linkLatencyPs[link] / overheadParts);
        time = start + serial + topology.linkLatencyPs[link];
      }
      return time;
    }
    for (let k = from; k < to; k++) time = Math.max(time, linkFree[links[k]]);
    const free = time + serialPs[route] + Math.floor(latencyPs[route] / overheadParts);
    for (let k = from; k < to; k++) linkFree[links[k]] = free;
    return time + serialPs[route] + latencyPs[route];
  };
}

function passesNpus(topology: Topology, { routes }: MessageRoutes): boolean {
  for (let route = 0; route < routes.source.length; route++) {
    for (let k = routes.linkOffset[route] + 1; k < routes.linkOffset[route + 1]; k++) {
      if (isNpu(topology, topology.linkSource[routes.links[k]])) return true;
    }
  }
  return false;
}
