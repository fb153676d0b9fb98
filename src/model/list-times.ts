import { arrivalTable } from "./arrival-table.ts";
import type { Collective } from "./collective.ts";
import { firstFreeRoute, type MessageRoutes, shortestRoutes } from "./list-routes.ts";
import type { Messages } from "./messages.ts";
import { toNumber } from "./rational.ts";
import { routeTimes } from "./routes.ts";
import { isNpu, linkCount, type Topology } from "./topology.ts";
import { PS_PER_SECOND } from "./units.ts";

/** A message keeps its links for this part of their latency, besides serialisation. */
const OVERHEAD_PARTS = 64;

/**
 * Returns about how long messages issued in order take where serialisation occupies links and latency does not: along a way
 * through switches all links at once, message after message; link by link where some way passes an NPU. Every message is
 * charged 1/64 of the latency besides, as pieces of trees are, so that ever more chunks do not always gain. No schedule is
 * made: this chooses numbers of chunks. O(message hops).
 */
export function issuedPs(topology: Topology, collective: Collective, list: Messages): number {
  const found = shortestRoutes(topology, list);
  const stored = passesNpus(topology, found);
  const { routes, routeOf } = found;
  const { serialPs, latencyPs } = routeTimes(topology, routes, collective.chunkBytes);
  const linkFree = new Float64Array(linkCount(topology));
  const arrived = arrivalTable(topology.npuCount, collective.chunkCount, list.count);
  const picosecondBytes = toNumber(collective.chunkBytes) * PS_PER_SECOND;
  let last = 0;
  for (let i = 0; i < list.count; i++) {
    const route = firstFreeRoute(found, routeOf[i], linkFree);
    let time = arrived.at(list.chunk[i], list.source[i]);
    const [from, to] = [routes.linkOffset[route], routes.linkOffset[route + 1]];
    if (stored) {
      for (let k = from; k < to; k++) {
        const link = routes.links[k];
        const serial = Math.ceil(picosecondBytes / topology.linkBytesPerSecond[link]);
        const start = Math.max(time, linkFree[link]);
        linkFree[link] = start + serial + Math.floor(topology.linkLatencyPs[link] / OVERHEAD_PARTS);
        time = start + serial + topology.linkLatencyPs[link];
      }
    } else {
      for (let k = from; k < to; k++) time = Math.max(time, linkFree[routes.links[k]]);
      const free = time + serialPs[route] + Math.floor(latencyPs[route] / OVERHEAD_PARTS);
      for (let k = from; k < to; k++) linkFree[routes.links[k]] = free;
      time += serialPs[route] + latencyPs[route];
    }
    arrived.raise(list.chunk[i], list.target[i], time);
    if (time > last) last = time;
  }
  return last;
}

function passesNpus(topology: Topology, { routes }: MessageRoutes): boolean {
  for (let route = 0; route < routes.source.length; route++) {
    for (let k = routes.linkOffset[route] + 1; k < routes.linkOffset[route + 1]; k++) {
      if (isNpu(topology, topology.linkSource[routes.links[k]])) return true;
    }
  }
  return false;
}
