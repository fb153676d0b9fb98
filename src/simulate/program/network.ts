import { EventQueue } from "../../model/replay/message-network.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";

/** Kinds of events; what the others are is the machines' business. */
export const HEAD = 0;
export const ARRIVAL = 1;
/** Event payload = 8 x index + kind. */
export const KINDS = 8;

/** A message on its way. */
export interface Message {
  route: Int32Array;
  /** Index into `route` of the link that it enters next. */
  hop: number;
  /** Row of the table of serialisations. */
  size: number;
  /** When its last byte is where its head is. */
  tailPs: number;
  /** The arrival of the head is reported, not that of the last byte: someone takes it on from there. */
  early: boolean;
  /** What it is to the machine. */
  owner: number;
  part: number;
  /** Row of the timeline. */
  row: number;
}

/**
 * Links that serve messages first come first served, with cut-through: a message's head goes on to the next link one latency
 * after it has begun on this one, its last byte when both have sent it. A link is held for the bytes at its own bandwidth, so it
 * never carries more than that, and never idles while a message waits. Switches hold what waits.
 */
export interface ProgramNetwork {
  readonly queue: EventQueue;
  /** Of the next event. */
  sequence: number;
  readonly latencyPs: Float64Array;
  /** [links] class of equal bandwidths, and bytes per second of each class. */
  readonly classOfLink: Int32Array;
  readonly bandwidths: readonly number[];
  readonly freeAt: Float64Array;
  readonly linkBusyPs: Float64Array;
  /** [sizes x classes] */
  serialPs: Float64Array;
  readonly messages: Message[];
  readonly free: number[];
  sent: number;
  lastArrivalPs: number;
  /** Of the message sent last: when its first link began, and when it has sent all. */
  startPs: number;
  sentPs: number;
}

/** Returns an idle network. */
export function programNetwork(topology: Topology): ProgramNetwork {
  const links = linkCount(topology);
  const numbers = new Map<number, number>();
  const classOfLink = Int32Array.from(topology.linkBytesPerSecond, (bandwidth) => {
    const number = numbers.get(bandwidth) ?? numbers.size;
    numbers.set(bandwidth, number);
    return number;
  });
  return {
    queue: new EventQueue(),
    sequence: 0,
    latencyPs: topology.linkLatencyPs,
    classOfLink,
    bandwidths: [...numbers.keys()],
    freeAt: new Float64Array(links),
    linkBusyPs: new Float64Array(links),
    serialPs: new Float64Array(0),
    messages: [],
    free: [],
    sent: 0,
    lastArrivalPs: 0,
    startPs: 0,
    sentPs: 0,
  };
}

/** Puts an event in, behind those of the same time. */
export function schedule(network: ProgramNetwork, timePs: number, kind: number, index: number): void {
  network.queue.push(timePs, network.sequence++, index * KINDS + kind);
}

/** Hands a message to the first link of its route, now; returns its number, good until it has arrived. */
export function send(
  network: ProgramNetwork,
  nowPs: number,
  what: Pick<Message, "route" | "size" | "owner" | "part" | "early" | "row"> & { readonly tailPs?: number },
): number {
  const { route, size, owner, part, early, row, tailPs = 0 } = what;
  let number = network.free.pop();
  if (number === undefined) {
    number = network.messages.length;
    network.messages.push({ route, hop: 0, size, tailPs, early, owner, part, row });
  } else {
    const message = network.messages[number];
    message.route = route;
    message.hop = 0;
    message.size = size;
    message.tailPs = tailPs;
    message.early = early;
    message.owner = owner;
    message.part = part;
    message.row = row;
  }
  network.sent++;
  enter(network, number, nowPs);
  return number;
}

/** Lets the head of a message into the next link of its route, now. */
export function enter(network: ProgramNetwork, number: number, nowPs: number): void {
  const message = network.messages[number];
  const { route, hop } = message;
  const link = route[hop];
  const serial = network.serialPs[message.size * network.bandwidths.length + network.classOfLink[link]];
  const start = Math.max(nowPs, network.freeAt[link]);
  const sent = Math.max(start + serial, message.tailPs);
  const latency = network.latencyPs[link];
  network.freeAt[link] = start + serial;
  network.linkBusyPs[link] += serial;
  if (hop === 0) {
    network.startPs = start;
    network.sentPs = sent;
  }
  message.tailPs = sent + latency;
  message.hop = hop + 1;
  if (hop + 1 < route.length) schedule(network, start + latency, HEAD, number);
  else schedule(network, message.early ? start + latency : sent + latency, ARRIVAL, number);
}

/** Takes a message that has arrived out of the network. */
export function take(network: ProgramNetwork, number: number): Message {
  const message = network.messages[number];
  if (message.tailPs > network.lastArrivalPs) network.lastArrivalPs = message.tailPs;
  network.free.push(number);
  return message;
}

/** Returns the latencies of a route together. */
export function latencyOf({ latencyPs }: ProgramNetwork, route: Int32Array): number {
  let sum = 0;
  for (const link of route) sum += latencyPs[link];
  return sum;
}
