import { linkCount, type Topology } from "../../model/topology/topology.ts";
import { Events } from "./events.ts";
import type { Plan } from "./plan.ts";

/** Kinds of events; what the others are is the machines' business. */
export const HEAD = 0;
export const ARRIVAL = 1;
/** Event payload = 8 x index + kind. */
export const KINDS = 8;

/** A message to be sent. */
interface Message {
  readonly route: Int32Array;
  /** Row of the table of serialisations. */
  readonly size: number;
  /** When its last byte is where its head is; 0. */
  readonly tailPs?: number;
  /** The arrival of the head is reported, not that of the last byte: someone takes it on from there. */
  readonly early: boolean;
  /** What it is to the machine. */
  readonly owner: number;
  readonly part: number;
  /** Row of the timeline. */
  readonly row: number;
}

/** Messages on their way, as columns: [messages]. */
interface Messages {
  readonly route: Int32Array[];
  /** Index into `route` of the link that it enters next. */
  readonly hop: number[];
  readonly size: number[];
  readonly tailPs: number[];
  readonly early: boolean[];
  readonly owner: number[];
  readonly part: number[];
  readonly row: number[];
}

/**
 * Links that serve messages first come first served, with cut-through: a message's head goes on to the next link one latency
 * after it has begun on this one, its last byte when both have sent it. A link is held for the bytes at its own bandwidth, so it
 * never carries more than that, and never idles while a message waits. Switches hold what waits.
 */
export interface ProgramNetwork {
  readonly topology: Topology;
  /** Order and routes of a schedule that messages keep; of both, or of routes only where links serve them in turn. */
  readonly plan: Plan | null;
  readonly inTurn: boolean;
  readonly queue: Events;
  readonly latencyPs: Float64Array;
  /** [links] class of equal bandwidths, and bytes per second of each class. */
  readonly classOfLink: Int32Array;
  readonly bandwidths: readonly number[];
  readonly freeAt: Float64Array;
  readonly linkBusyPs: Float64Array;
  /** [sizes x classes] */
  serialPs: Float64Array;
  readonly messages: Messages;
  readonly free: number[];
  sent: number;
  lastArrivalPs: number;
  /** Of the message sent last: when its first link began, and when it has sent all. */
  startPs: number;
  sentPs: number;
}

/** Returns an idle network, whose messages keep a plan's routes and, unless links serve them in turn, its order. */
export function programNetwork(topology: Topology, plan: Plan | null, inTurn: boolean): ProgramNetwork {
  const links = linkCount(topology);
  const numbers = new Map<number, number>();
  const classOfLink = Int32Array.from(topology.linkBytesPerSecond, (bandwidth) => {
    const number = numbers.get(bandwidth) ?? numbers.size;
    numbers.set(bandwidth, number);
    return number;
  });
  return {
    topology,
    plan,
    inTurn: inTurn || plan === null,
    queue: new Events(),
    latencyPs: topology.linkLatencyPs,
    classOfLink,
    bandwidths: [...numbers.keys()],
    freeAt: new Float64Array(links),
    linkBusyPs: new Float64Array(links),
    serialPs: new Float64Array(0),
    messages: { route: [], hop: [], size: [], tailPs: [], early: [], owner: [], part: [], row: [] },
    free: [],
    sent: 0,
    lastArrivalPs: 0,
    startPs: 0,
    sentPs: 0,
  };
}

/** Puts an event in, behind those of the same time. */
export function schedule(network: ProgramNetwork, timePs: number, kind: number, index: number): void {
  network.queue.push(timePs, index * KINDS + kind);
}

/** Hands a message to the first link of its route, now; returns its number, good until it has arrived. */
export function send(network: ProgramNetwork, nowPs: number, message: Message): number {
  const { route, hop, size, tailPs, early, owner, part, row } = network.messages;
  const number = network.free.pop() ?? route.length;
  route[number] = message.route;
  hop[number] = 0;
  size[number] = message.size;
  tailPs[number] = message.tailPs ?? 0;
  early[number] = message.early;
  owner[number] = message.owner;
  part[number] = message.part;
  row[number] = message.row;
  network.sent++;
  const planned = message.early || (message.tailPs ?? 0) > 0 ? -1 : plannedRow(network, message.route);
  if (planned >= 0) route[number] = (network.plan as Plan).routeOf(planned);
  if (planned < 0 || network.inTurn) {
    enter(network, number, nowPs);
    return number;
  }
  network.startPs = nowPs;
  network.sentPs = nowPs;
  network.plan?.ready(planned, number, (ready) => enterPlanned(network, ready, nowPs));
  return number;
}

/** Returns the row of a plan that a message over a route is, -1 where there is none. */
function plannedRow({ plan, topology }: ProgramNetwork, route: Int32Array): number {
  if (plan === null || route.length === 0) return -1;
  return plan.nextRow(topology.linkSource[route[0]], topology.linkTarget[route[route.length - 1]]);
}

/** Takes the next event out of the queue; false when nothing happens any more, whatever the plan has held back. */
export function nextEvent(network: ProgramNetwork): boolean {
  const { queue, plan } = network;
  return queue.next() || (plan?.release((ready) => enterPlanned(network, ready, queue.time)) === true && queue.next());
}

const enterPlanned = (network: ProgramNetwork, number: number, nowPs: number): void =>
  network.plan?.switching === "cut-through" ? takeAll(network, number, nowPs) : enter(network, number, nowPs);

/** Lets the head of a message into the next link of its route, now. */
export function enter(network: ProgramNetwork, number: number, nowPs: number): void {
  const { messages } = network;
  const route = messages.route[number];
  const hop = messages.hop[number];
  const link = route[hop];
  const serial = network.serialPs[messages.size[number] * network.bandwidths.length + network.classOfLink[link]];
  const start = Math.max(nowPs, network.freeAt[link]);
  const sent = Math.max(start + serial, messages.tailPs[number]);
  const latency = network.latencyPs[link];
  network.freeAt[link] = start + serial;
  network.linkBusyPs[link] += serial;
  if (hop === 0) {
    network.startPs = start;
    network.sentPs = sent;
  }
  messages.tailPs[number] = sent + latency;
  messages.hop[number] = hop + 1;
  if (hop + 1 < route.length) schedule(network, (network.inTurn ? start : sent) + latency, HEAD, number);
  else schedule(network, messages.early[number] ? start + latency : sent + latency, ARRIVAL, number);
}

/** Lets a message take all links of its route from when the last of them is free, each for as long as the narrowest takes. */
function takeAll(network: ProgramNetwork, number: number, nowPs: number): void {
  const { messages, freeAt, linkBusyPs, serialPs, bandwidths, classOfLink } = network;
  const route = messages.route[number];
  const row = messages.size[number] * bandwidths.length;
  let start = nowPs;
  let serial = 0;
  for (const link of route) {
    start = Math.max(start, freeAt[link]);
    serial = Math.max(serial, serialPs[row + classOfLink[link]]);
  }
  for (const link of route) {
    freeAt[link] = start + serial;
    linkBusyPs[link] += serial;
  }
  network.startPs = start;
  network.sentPs = start + serial;
  messages.hop[number] = route.length;
  messages.tailPs[number] = start + serial + latencyOf(network, route);
  schedule(network, messages.tailPs[number], ARRIVAL, number);
}

/** Takes a message that has arrived out of the network; its columns are good until the next one is sent. */
export function take(network: ProgramNetwork, number: number): void {
  const tailPs = network.messages.tailPs[number];
  if (tailPs > network.lastArrivalPs) network.lastArrivalPs = tailPs;
  network.free.push(number);
}

/** Returns the latencies of a route together. */
export function latencyOf({ latencyPs }: ProgramNetwork, route: Int32Array): number {
  let sum = 0;
  for (const link of route) sum += latencyPs[link];
  return sum;
}
