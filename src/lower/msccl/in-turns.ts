import type { Buffers } from "./buffers.ts";
import { type Parts, placedIn } from "./parts.ts";

/**
 * Returns parts whose hops wait until the one that arrives before them between the same two ranks has done so, for then they can
 * share a connection. None waits past what comes to its source into the same memory, so hops carry what they did, and parts keep
 * their places. Arrivals stay in their order. O(events log events + ranks x parts).
 */
export function inTurns(parts: Parts, buffers: Buffers): Parts {
  const { ranks, first, source, target, pair, part, instance, instances, hopFrom, hopParts, comingParts, events } =
    parts;
  const { startAt, startBuffer, endAt, endBuffer, cellOf, cellOffset } = buffers;
  const count = first.length;
  const placeOf = (rank: number, p: number): number => {
    const at = rank * count + p;
    if (startAt[at] >= 0) return cellOf[2 * rank + startBuffer[at]] + startAt[at];
    return endAt[at] >= 0 ? cellOf[2 * rank + endBuffer[at]] + endAt[at] : cellOffset[ranks] + at;
  };
  /** [places] next arrival there; [hops] the arrival before which it has to depart. */
  const comesAt = new Int32Array(cellOffset[ranks] + ranks * count).fill(events.length);
  const until = new Int32Array(source.length).fill(events.length);
  for (let at = events.length - 1; at >= 0; at--) {
    const hop = events[at] >> 1;
    for (let k = hopFrom[hop]; k < hopFrom[hop + 1]; k++) {
      if (events[at] % 2 === 1) comesAt[placeOf(target[hop], comingParts[k])] = at;
      else until[hop] = Math.min(until[hop], comesAt[placeOf(source[hop], hopParts[k])]);
    }
  }
  /** [pairs * instances] last arrival; [hops] the one before its own, -1: none. */
  const latest = new Int32Array(parts.pairSource.length * instances).fill(-1);
  const before = new Int32Array(source.length);
  events.forEach((event, at) => {
    const hop = event >> 1;
    if (event % 2 === 0) return;
    const way = pair[hop] * instances + instance[part[hop]];
    before[hop] = latest[way];
    latest[way] = at;
  });
  const order = Float64Array.from(events, (event, at) => {
    const hop = event >> 1;
    const place = event % 2 === 1 ? 2 * at : Math.min(Math.max(2 * at, 2 * before[hop] + 1), 2 * until[hop] - 1);
    return place * events.length + at;
  });
  return { ...parts, ...placedIn(Int32Array.from(order.sort(), (key) => events[key % events.length])) };
}
