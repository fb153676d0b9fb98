import type { TenNetwork } from "../../engine/contract/kernels.ts";
import { groupedBy, heap } from "../../model/graph/graph.ts";
import { inverted, orderByTime } from "../../model/numbers/ordering.ts";
import { EventQueue } from "../../model/replay/message-network.ts";

/** Hops of messages, one message after the other, in the order of their ways. */
export interface PipelinedProblem {
  /** `slotPs`: how long a chunk holds a route. */
  readonly network: Pick<TenNetwork, "slotPs" | "useOffset" | "useResource" | "useUnits" | "capacity">;
  /** [routes] how much later than its route is free a chunk arrives. */
  readonly latencyPs: Float64Array;
  /** [hops] */
  readonly message: Int32Array;
  /** [hops] */
  readonly route: Int32Array;
  /** [hops] the least goes first; of equal ones the first hop. */
  readonly key: Float64Array;
}

/** When hops start, and when the last has arrived. */
export interface Pipelined {
  readonly startPs: Float64Array;
  readonly endPs: number;
}

/** Marks an event as the end of a hold. */
const RELEASE = 1;

/**
 * Returns a list schedule of hops in the simulation's model, where a hop holds its route and its shares of links for its bytes and
 * arrives a latency later, so that many are on the way over one link: whenever routes are free, of the hops that are there the one
 * of the least key starts. A replay that keeps the order of starts on every link is no longer than this.
 * O(hops * (log hops + routes that share a link)).
 */
export function pipelined({ network, latencyPs, message, route, key }: PipelinedProblem): Pipelined {
  const { slotPs, useOffset, useResource, useUnits, capacity } = network;
  const count = route.length;
  const hopAt = Int32Array.from(orderByTime(key));
  const rank = inverted(hopAt);
  /** [routes] ranks of the hops that wait. */
  const waiting = Array.from(slotPs, heap);
  const useRoute = new Int32Array(useResource.length);
  for (let r = 0; r < slotPs.length; r++) useRoute.fill(r, useOffset[r], useOffset[r + 1]);
  const sharers = groupedBy(useResource, capacity.length);
  const held = new Uint8Array(slotPs.length);
  const used = new Float64Array(capacity.length);
  const startPs = new Float64Array(count);
  const events = new EventQueue();
  let sequence = 0;
  let endPs = 0;

  const hasRoom = (r: number): boolean => {
    if (held[r] === 1) return false;
    for (let k = useOffset[r]; k < useOffset[r + 1]; k++)
      if (used[useResource[k]] + useUnits[k] > capacity[useResource[k]]) return false;
    return true;
  };
  const touched: number[] = [];
  const isTouched = new Uint8Array(slotPs.length);
  const touch = (r: number): void => {
    if (isTouched[r] === 1 || waiting[r].size() === 0) return;
    isTouched[r] = 1;
    touched.push(r);
  };
  const arrive = (i: number): void => {
    waiting[route[i]].add(rank[i], i);
    touch(route[i]);
  };
  const release = (r: number): void => {
    held[r] = 0;
    for (let k = useOffset[r]; k < useOffset[r + 1]; k++) used[useResource[k]] -= useUnits[k];
    touch(r);
    for (let k = useOffset[r]; k < useOffset[r + 1]; k++) {
      const shared = useResource[k];
      for (let j = sharers.offset[shared]; j < sharers.offset[shared + 1]; j++) touch(useRoute[sharers.items[j]]);
    }
  };
  const start = (i: number, now: number): void => {
    const r = route[i];
    held[r] = 1;
    for (let k = useOffset[r]; k < useOffset[r + 1]; k++) used[useResource[k]] += useUnits[k];
    startPs[i] = now;
    const free = now + slotPs[r];
    const there = free + latencyPs[r];
    events.push(free, sequence++, 2 * r + RELEASE);
    if (i + 1 < count && message[i + 1] === message[i]) events.push(there, sequence++, 2 * (i + 1));
    else if (there > endPs) endPs = there;
  };

  for (let i = 0; i < count; i++) if (i === 0 || message[i] !== message[i - 1]) arrive(i);
  for (let now = 0; ; ) {
    const firsts = touched.map((r) => waiting[r].key()).sort((a, b) => a - b);
    for (const r of touched) isTouched[r] = 0;
    touched.length = 0;
    for (const place of firsts) {
      const i = hopAt[place];
      if (!hasRoom(route[i])) continue;
      waiting[route[i]].take();
      start(i, now);
    }
    now = events.firstTime;
    if (now === Number.POSITIVE_INFINITY) return { startPs, endPs };
    while (events.firstTime === now && events.next()) {
      if (events.payload % 2 === RELEASE) release(events.payload >> 1);
      else arrive(events.payload >> 1);
    }
  }
}
