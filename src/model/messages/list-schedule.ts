import type { Collective } from "../collective/collective.ts";
import { groupedBy, heap } from "../graph/graph.ts";
import { orderByTime } from "../numbers/ordering.ts";
import { toNumber } from "../numbers/rational.ts";
import { demandExactPs, PS_PER_SECOND } from "../numbers/units.ts";
import { firstFreeRoute, type MessageRoutes, shortestRoutes } from "../routes/list-routes.ts";
import { type RouteTimes, routeTimes } from "../routes/routes.ts";
import { indexColumn, inRowOrder, OP_COPY, OP_REDUCE, type StepSchedule } from "../steps/step-schedule.ts";
import { isNpu, linkCount, type Topology } from "../topology/topology.ts";
import { type Messages, messages } from "./messages.ts";

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

/** An order of messages, and when the last of them arrives. */
interface Order {
  /** [messages] */
  readonly order: Int32Array;
  readonly ps: number;
}

/** Longer lists stay as they are. */
const MOST_REORDERED = 1e6;

/** Returns the messages of a list as issued, or in the order in which they are ready where the last then arrives earlier. */
export function quickerOrder(topology: Topology, collective: Collective, list: Messages): Messages {
  if (list.count > MOST_REORDERED) return list;
  const ways = waysOf(topology, collective, list);
  const issued = lastArrivalPs(topology, collective, list, messageClock(topology, ways));
  const quicker = readyOrder(topology, collective, list, messageClock(topology, ways), issued);
  if (quicker === null) return list;
  const { order } = quicker;
  const ordered = messages();
  for (const i of order) ordered.add(list.chunk[i], list.source[i], list.target[i], list.reduce[i] === 1);
  return ordered;
}

/** Returns when the last message of a list arrives, issued in the quicker of the two orders. `overheadParts` as for `messageClock`. */
export function quickerPs(topology: Topology, collective: Collective, list: Messages, overheadParts: number): number {
  const ways = waysOf(topology, collective, list);
  const issued = lastArrivalPs(topology, collective, list, messageClock(topology, ways, overheadParts));
  return readyOrder(topology, collective, list, messageClock(topology, ways, overheadParts), issued)?.ps ?? issued;
}

/**
 * Returns the messages of a list in the order in which their chunks are at their sources, in a network that serves them so; equal
 * ones as issued. What is late then holds up nothing that is there, as between the channels of a library. A message waits for what
 * is issued before it to its source with its chunk. `overheadParts` as for `messageClock`. O(message hops + messages x log).
 */
export function orderOfReadiness(
  topology: Topology,
  collective: Collective,
  list: Messages,
  overheadParts?: number,
): Order {
  const send = messageClock(topology, waysOf(topology, collective, list), overheadParts);
  return readyOrder(topology, collective, list, send, Number.POSITIVE_INFINITY) as Order;
}

/** Returns that order; null where the last message does not arrive before `beforePs`. */
function readyOrder(
  topology: Topology,
  collective: Collective,
  list: Messages,
  send: MessageClock,
  beforePs: number,
): Order | null {
  const { count } = list;
  const { copyOf, copies } = copiesOf(topology, collective, list);
  const { offset, items: events } = groupedBy(copyOf, copies);
  /** [copies] the first event that has not happened, and when the last before it happened. */
  const next = offset.slice(0, copies);
  const therePs = new Float64Array(copies);
  /** [messages] -1 until it is sent. */
  const arrivalPs = new Float64Array(count).fill(-1);
  const ready = heap();

  const goOn = (copy: number): void => {
    let at = next[copy];
    for (; at < offset[copy + 1]; at++) {
      const event = events[at];
      const message = event >> 1;
      if (event % 2 === 0) ready.add(therePs[copy], message);
      else if (arrivalPs[message] < 0) break;
      else therePs[copy] = Math.max(therePs[copy], arrivalPs[message]);
    }
    next[copy] = at;
  };
  for (let copy = 0; copy < copies; copy++) goOn(copy);

  const order = new Int32Array(count);
  let ps = 0;
  for (let i = 0; ready.size() > 0; i++) {
    const readyPs = ready.key();
    const message = ready.take();
    order[i] = message;
    arrivalPs[message] = send(message, readyPs);
    ps = Math.max(ps, arrivalPs[message]);
    if (ps >= beforePs) return null;
    goOn(copyOf[2 * message + 1]);
  }
  return { order, ps };
}

/**
 * Returns the copies of chunks at NPUs: the one that each message leaves (even places) and makes (odd ones). Copies of which no
 * message knows are left out where most would be.
 */
function copiesOf({ npuCount }: Topology, { chunkCount }: Collective, { count, chunk, source, target }: Messages) {
  const cells = npuCount * chunkCount;
  const areFew = cells <= CELLS_PER_MESSAGE * count;
  const copyOf = areFew ? new Int32Array(2 * count) : new Float64Array(2 * count);
  for (let i = 0; i < count; i++) {
    copyOf[2 * i] = chunk[i] * npuCount + source[i];
    copyOf[2 * i + 1] = chunk[i] * npuCount + target[i];
  }
  if (copyOf instanceof Int32Array) return { copyOf, copies: cells };
  const numbers = new Int32Array(2 * count);
  let copies = 0;
  let last = -1;
  for (const event of orderByTime(copyOf)) {
    if (copyOf[event] !== last) copies++;
    last = copyOf[event];
    numbers[event] = copies - 1;
  }
  return { copyOf: numbers, copies };
}

/** A message keeps its links for this part of their latency, besides serialisation. */
export const OVERHEAD_PARTS = 64;

/**
 * Returns about how long messages issued in order take where serialisation occupies links and latency does not. Every message is
 * charged a part of the latency besides (1/64, as pieces of trees are, unless asked otherwise), so that ever more chunks do not always gain.
 * No schedule is made: this chooses numbers of chunks and orders. O(message hops).
 */
export function issuedPs(
  topology: Topology,
  collective: Collective,
  list: Messages,
  overheadParts = OVERHEAD_PARTS,
): number {
  return lastArrivalPs(
    topology,
    collective,
    list,
    messageClock(topology, waysOf(topology, collective, list), overheadParts),
  );
}

/** Returns when the last message arrives, issued in order over a network that does nothing else. */
function lastArrivalPs({ npuCount }: Topology, { chunkCount }: Collective, list: Messages, send: MessageClock): number {
  const arrived = arrivalTable(npuCount, chunkCount, list.count);
  let last = 0;
  for (let i = 0; i < list.count; i++) {
    const time = send(i, arrived.at(list.chunk[i], list.source[i]));
    arrived.raise(list.chunk[i], list.target[i], time);
    if (time > last) last = time;
  }
  return last;
}

/** What clocks of one list have in common. */
interface Ways {
  readonly found: MessageRoutes;
  /** Some way passes an NPU. */
  readonly isStored: boolean;
  readonly times: RouteTimes;
  readonly picosecondBytes: number;
}

function waysOf(topology: Topology, { chunkBytes }: Collective, list: Messages): Ways {
  const found = shortestRoutes(topology, list);
  const times = routeTimes(topology, found.routes, chunkBytes);
  const picosecondBytes = toNumber(chunkBytes) * PS_PER_SECOND;
  return { found, isStored: passesNpus(topology, found), times, picosecondBytes };
}

/** Sends a message whose chunk is at its source at `readyPs`, after all that were sent before, and returns when it is at its target. */
type MessageClock = (message: number, readyPs: number) => number;

/**
 * Returns a clock of messages where serialisation occupies links and latency does not: along a way through switches all links at
 * once; link by link where some way passes an NPU. A link is kept for 1 / `overheadParts` of its latency besides. O(hops) a call.
 */
function messageClock(
  topology: Topology,
  { found, isStored, times: { serialPs, latencyPs }, picosecondBytes }: Ways,
  overheadParts = Number.POSITIVE_INFINITY,
): MessageClock {
  const { routeOf, routes } = found;
  const { linkOffset, links } = routes;
  const linkFree = new Float64Array(linkCount(topology));
  return (message, readyPs) => {
    const route = firstFreeRoute(found, routeOf[message], linkFree);
    const [from, to] = [linkOffset[route], linkOffset[route + 1]];
    let time = readyPs;
    if (isStored) {
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

/** Whether some route passes an NPU between its ends, so that what is sent over it is stored there. O(hops). */
export function passesNpus(topology: Topology, { routes }: Pick<MessageRoutes, "routes">): boolean {
  for (let route = 0; route < routes.source.length; route++) {
    for (let k = routes.linkOffset[route] + 1; k < routes.linkOffset[route + 1]; k++) {
      if (isNpu(topology, topology.linkSource[routes.links[k]])) return true;
    }
  }
  return false;
}

/** When the last of what has been sent of a chunk arrives at an NPU; 0 where nothing was. */
interface ArrivalTable {
  at(chunk: number, npu: number): number;
  raise(chunk: number, npu: number, ps: number): void;
}

/** A table has at most this many cells per message, or so few, else pairs of chunk and NPU are hashed. */
const CELLS_PER_MESSAGE = 8;
const FEW_CELLS = 2 ** 20;

/** Returns an empty table; `messages` is how many arrivals there will be at most. */
export function arrivalTable(npuCount: number, chunkCount: number, messages: number): ArrivalTable {
  const cells = npuCount * chunkCount;
  return cells <= Math.max(FEW_CELLS, CELLS_PER_MESSAGE * messages)
    ? wholeTable(npuCount, cells)
    : hashedTable(npuCount, messages);
}

function wholeTable(npuCount: number, cells: number): ArrivalTable {
  const ps = new Float64Array(cells);
  return {
    at: (chunk, npu) => ps[chunk * npuCount + npu],
    raise(chunk, npu, value) {
      const cell = chunk * npuCount + npu;
      if (value > ps[cell]) ps[cell] = value;
    },
  };
}

/** At most half of the places are taken; the next free one is a pair's. */
function hashedTable(npuCount: number, messages: number): ArrivalTable {
  const bits = Math.max(4, 33 - Math.clz32(messages));
  const mask = 2 ** bits - 1;
  const pairs = new Float64Array(mask + 1).fill(-1);
  const ps = new Float64Array(mask + 1);
  const placeOf = (chunk: number, npu: number): number => {
    const pair = chunk * npuCount + npu;
    let place = (Math.imul(chunk, 0x9e3779b1) ^ Math.imul(npu, 0x85ebca6b)) >>> (32 - bits);
    while (pairs[place] !== pair && pairs[place] >= 0) place = (place + 1) & mask;
    return place;
  };
  return {
    at: (chunk, npu) => ps[placeOf(chunk, npu)],
    raise(chunk, npu, value) {
      const place = placeOf(chunk, npu);
      pairs[place] = chunk * npuCount + npu;
      if (value > ps[place]) ps[place] = value;
    },
  };
}
