import type { Collective } from "../collective/collective.ts";
import { demandExactPs } from "../numbers/exact-ps.ts";
import { orderByTime } from "../numbers/ordering.ts";
import { firstFreeRoute, type MessageRoutes, shortestRoutes } from "../routes/list-routes.ts";
import { routeTimes } from "../routes/routes.ts";
import { arrivalTable } from "../slots/arrival-table.ts";
import { inRowOrder } from "../steps/row-order.ts";
import { indexColumn, OP_COPY, OP_REDUCE, type StepSchedule } from "../steps/step-schedule.ts";
import { linkCount, type Topology } from "../topology/topology.ts";
import type { Messages } from "./messages.ts";

/**
 * Returns the schedule of messages issued in order: each starts when its chunk is at its source, everything the source
 * must add to it has arrived, and the links of its way (by default the shortest) are free (of equal links the first that is); it
 * holds all of them for latency + serialisation (link-busy model). Replays show what a network with store-and-forward makes of
 * it. Throws InputError for times that leave 2^53 ps. O(message hops).
 */
export function listSchedule(
  topology: Topology,
  collective: Collective,
  list: Messages,
  ways: MessageRoutes = shortestRoutes(topology, list),
): StepSchedule {
  const { routes } = ways;
  const routeOf = ways.routeOf.slice();
  const { slotPs } = routeTimes(topology, routes, collective.chunkBytes);
  const { count } = list;
  const linkFree = new Float64Array(linkCount(topology));
  const arrived = arrivalTable(topology.npuCount, collective.chunkCount, count);
  const startPs = new Float64Array(count);
  let latest = 0;
  for (let i = 0; i < count; i++) {
    const route = firstFreeRoute(ways, routeOf[i], linkFree);
    routeOf[i] = route;
    let start = arrived.at(list.chunk[i], list.source[i]);
    const end = routes.linkOffset[route + 1];
    for (let k = routes.linkOffset[route]; k < end; k++) {
      const free = linkFree[routes.links[k]];
      if (free > start) start = free;
    }
    startPs[i] = start;
    const done = start + slotPs[route];
    if (done > latest) latest = done;
    for (let k = routes.linkOffset[route]; k < end; k++) linkFree[routes.links[k]] = done;
    arrived.raise(list.chunk[i], list.target[i], done);
  }
  demandExactPs(latest, "the planned time");
  const order = orderByTime(startPs);
  const chunk = indexColumn(count, collective.chunkCount);
  const route = indexColumn(count, routes.source.length);
  const op = new Uint8Array(count);
  const sortedStart = new Float64Array(count);
  const endPs = new Float64Array(count);
  for (let row = 0; row < count; row++) {
    const i = order[row];
    chunk[row] = list.chunk[i];
    route[row] = routeOf[i];
    op[row] = list.reduce[i] ? OP_REDUCE : OP_COPY;
    sortedStart[row] = startPs[i];
    endPs[row] = startPs[i] + slotPs[routeOf[i]];
  }
  return inRowOrder({ topology, collective, routes, chunk, route, startPs: sortedStart, endPs, op });
}
