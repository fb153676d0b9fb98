import { InputError } from "../../base/errors.ts";
import { type Grouped, groupedBy } from "../../model/graph/graph.ts";
import { type RouteTimes, routeCount } from "../../model/routes/routes.ts";
import { mirrorRoutes, portsOf, type SlotSchedule } from "../../model/slots/slot-schedule.ts";
import { type IndexColumn, indexColumn } from "../../model/steps/step-schedule.ts";
import { arrivalReader } from "./slot-logs.ts";

/** The chunks that each port receives, in order: all that the replay keeps of the logs. */
export interface PortQueues {
  /** Port p of NPU v is number ports.offset[v] + p; items are their routes. */
  readonly ports: Grouped;
  /** [NPUs] what arrives, grouped by port. */
  readonly columns: readonly IndexColumn[];
  /** [ports] where the port begins in the column of its NPU. */
  readonly first: Int32Array;
  /** [ports] */
  readonly count: Int32Array;
}

/** What every link carries in one pass, in order. Streams are numbered like the ports of the logs. */
export interface Streams {
  /** [streams] NPU that sends. */
  readonly sender: Int32Array;
  readonly receiver: Int32Array;
  /** Streams by receiver, and by sender. */
  readonly into: Grouped;
  readonly outOf: Grouped;
  /** [streams] route, which is one link. */
  readonly route: Int32Array;
  /** [streams] how long a chunk holds the link, and how long it takes from its start to its arrival. */
  readonly serialPs: Float64Array;
  readonly travelPs: Float64Array;
  /** Transfer k of stream s carries columns[holder[s]][first[s] + step * k]. */
  readonly columns: readonly IndexColumn[];
  readonly holder: Int32Array;
  readonly first: Int32Array;
  readonly step: 1 | -1;
  /** [streams] transfers. */
  readonly count: Int32Array;
}

/** Returns whether every route is one link with share 1 that no other route uses. O(routes). */
export function routesAreLinks({ routes, topology }: SlotSchedule): boolean {
  const { linkOffset, links, shareNum, shareDen } = routes;
  const used = new Uint8Array(topology.linkSource.length);
  for (let route = 0; route < routeCount(routes); route++) {
    const at = linkOffset[route];
    if (linkOffset[route + 1] !== at + 1 || shareNum[at] !== shareDen[at] || used[links[at]] === 1) return false;
    used[links[at]] = 1;
  }
  return true;
}

/**
 * Returns the queues of all ports; asks for each row once, NPUs ascending. One index of memory per transfer.
 * Throws InputError for a log that is not well-formed. O(transfers + slots x NPUs).
 */
export function portQueues(schedule: SlotSchedule): PortQueues {
  const { npuCount } = schedule.topology;
  const ports = portsOf(schedule.routes, npuCount);
  const arrivalsAt = arrivalReader(schedule, ports);
  const first = new Int32Array(ports.items.length);
  const count = new Int32Array(ports.items.length);
  const columns: IndexColumn[] = [];
  for (let v = 0; v < npuCount; v++) {
    const { chunk, held, port, count: arrivals } = arrivalsAt(v);
    const [from, to] = [ports.offset[v], ports.offset[v + 1]];
    for (let i = 0; i < arrivals; i++) count[from + port[i]]++;
    for (let q = from, at = 0; q < to; q++) {
      first[q] = at;
      at += count[q];
    }
    const column = indexColumn(arrivals, schedule.collective.chunkCount);
    for (let i = 0; i < arrivals; i++) column[first[from + port[i]]++] = chunk[held + i];
    for (let q = from; q < to; q++) first[q] -= count[q];
    columns.push(column);
  }
  return { ports, columns, first, count };
}

/** Returns the streams of a pass that runs as the logs do. O(routes). */
export function forwardStreams({ routes, topology }: SlotSchedule, queues: PortQueues, times: RouteTimes): Streams {
  const { ports, columns, first, count } = queues;
  const sender = ports.items.map((route) => routes.source[route]);
  const receiver = ports.items.map((route) => routes.target[route]);
  return {
    sender,
    receiver,
    into: identityGroups(ports),
    outOf: groupedBy(sender, topology.npuCount),
    route: ports.items,
    ...timesOf(ports.items, times),
    columns,
    holder: receiver,
    first,
    step: 1,
    count,
  };
}

export const noMirror = (): InputError =>
  new InputError(
    "the pass that runs backwards (simulate needs a valid schedule)",
    "a route the other way for every route",
  );

/**
 * Returns the streams of a pass that runs backwards over the mirrored routes. O(routes).
 * Throws InputError when a route has no mirror.
 */
export function reversedStreams({ routes, topology }: SlotSchedule, queues: PortQueues, times: RouteTimes): Streams {
  const { ports, columns, first, count } = queues;
  const mirror = mirrorRoutes(routes, topology.npuCount);
  if (mirror === null) throw noMirror();
  const route = ports.items.map((r) => mirror[r]);
  const sender = ports.items.map((r) => routes.target[r]);
  const receiver = ports.items.map((r) => routes.source[r]);
  return {
    sender,
    receiver,
    into: groupedBy(receiver, topology.npuCount),
    outOf: identityGroups(ports),
    route,
    ...timesOf(route, times),
    columns,
    holder: sender,
    first: first.map((at, q) => at + count[q] - 1),
    step: -1,
    count,
  };
}

const identityGroups = ({ offset, items }: Grouped): Grouped => ({ offset, items: items.map((_, i) => i) });

const timesOf = (route: Int32Array, { serialPs, slotPs }: RouteTimes) => ({
  serialPs: Float64Array.from(route, (r) => serialPs[r]),
  travelPs: Float64Array.from(route, (r) => slotPs[r]),
});
