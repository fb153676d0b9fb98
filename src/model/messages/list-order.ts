import type { Collective } from "../collective/collective.ts";
import { heap } from "../graph/heap.ts";
import { orderByTime } from "../numbers/ordering.ts";
import type { Topology } from "../topology/topology.ts";
import { messageClock } from "./list-clock.ts";
import { issuedPs } from "./list-times.ts";
import { type Messages, messages } from "./messages.ts";

/** An order of messages, and when the last of them arrives. */
export interface Order {
  /** [messages] */
  readonly order: Int32Array;
  readonly ps: number;
}

/** Longer lists stay as they are. */
const MOST_REORDERED = 1e6;

/** Returns the messages of a list as issued, or in the order in which they are ready where the last then arrives earlier. */
export function quickerOrder(topology: Topology, collective: Collective, list: Messages): Messages {
  if (list.count > MOST_REORDERED) return list;
  const { order, ps } = orderOfReadiness(topology, collective, list);
  if (ps >= issuedPs(topology, collective, list, Number.POSITIVE_INFINITY)) return list;
  const ordered = messages();
  for (const i of order) ordered.add(list.chunk[i], list.source[i], list.target[i], list.reduce[i] === 1);
  return ordered;
}

/** Returns when the last message of a list arrives, issued in the quicker of the two orders. `overheadParts` as for `messageClock`. */
export function quickerPs(topology: Topology, collective: Collective, list: Messages, overheadParts: number): number {
  const issued = issuedPs(topology, collective, list, overheadParts);
  return Math.min(issued, orderOfReadiness(topology, collective, list, overheadParts).ps);
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
  const { count } = list;
  const send = messageClock(topology, collective, list, overheadParts);
  // at each chunk's copy at each NPU: what leaves (even events) and arrives (odd ones), as issued
  const copyOf = new Float64Array(2 * count);
  for (let i = 0; i < count; i++) {
    copyOf[2 * i] = list.chunk[i] * topology.npuCount + list.source[i];
    copyOf[2 * i + 1] = list.chunk[i] * topology.npuCount + list.target[i];
  }
  const events = orderByTime(copyOf);
  const copyAt = new Int32Array(2 * count);
  for (let at = 0, first = 0; at < events.length; at++) {
    if (copyOf[events[at]] !== copyOf[events[first]]) first = at;
    copyAt[events[at]] = first;
  }
  /** Per copy, at its first event: the first event that has not happened, and when the last before it happened. */
  const next = copyAt.slice().map((_, at) => at);
  const therePs = new Float64Array(2 * count);
  /** [messages] -1 until it is sent. */
  const arrivalPs = new Float64Array(count).fill(-1);
  const ready = heap();

  const goOn = (copy: number): void => {
    let at = next[copy];
    for (; at < events.length && copyAt[events[at]] === copy; at++) {
      const event = events[at];
      const message = event >> 1;
      if (event % 2 === 0) ready.add(therePs[copy], message);
      else if (arrivalPs[message] < 0) break;
      else therePs[copy] = Math.max(therePs[copy], arrivalPs[message]);
    }
    next[copy] = at;
  };
  for (let at = 0; at < events.length; at++) if (copyAt[events[at]] === at) goOn(at);

  const order = new Int32Array(count);
  let ps = 0;
  for (let i = 0; ready.size() > 0; i++) {
    const readyPs = ready.key();
    const message = ready.take();
    order[i] = message;
    arrivalPs[message] = send(message, readyPs);
    ps = Math.max(ps, arrivalPs[message]);
    goOn(copyAt[2 * message + 1]);
  }
  return { order, ps };
}
