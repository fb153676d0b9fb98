import { random, shuffle } from "../../base/random.ts";
import { disjointSets, type Grouped, groupedBy } from "../../model/graph/graph.ts";
import { greatest } from "../../model/numbers/ordering.ts";
import { EventQueue } from "../../model/replay/message-network.ts";
import { type RouteSet, type RouteTimes, routeCount } from "../../model/routes/routes.ts";
import { OP_REDUCE } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { allTimes } from "./demand.ts";
import { tenNetwork } from "./network.ts";
import type { Network } from "./trials.ts";

/**
 * Matching in the congestion model, for sizes at which latency counts. TACOS's slots hold a link for latency and bytes together
 * (TACOS 2024, section IV-A), so a link that takes many small chunks seems to pay the latency for each of them. Here a link is held
 * while the bytes are sent, as the simulation has it, and the chunk arrives a latency later. Otherwise it is TACOS's greedy choice:
 * a route that is free takes a chunk that its source has and its target lacks.
 */
export interface StreamTrial {
  /** "apart": the rarest, but over a slower route no chunk that NPUs have or get which faster ones link to its target. */
  readonly choice: "rarest" | "oldest" | "apart";
  /** Chunks may only take ways that are at most so many of the longest hops longer, in latency, than the shortest from their owners. */
  readonly spareHops: number;
}

/** With more lengths of routes than this none are kept apart. */
const MOST_LENGTHS = 8;

export const latenciesOf = ({ slotPs, serialPs }: RouteTimes): Float64Array =>
  slotPs.map((slot, r) => slot - serialPs[r]);

/** Groups of NPUs, each of which gets a chunk once over the routes that lead to it as a whole. */
interface Groups {
  readonly count: number;
  /** [routes] the one that a route leads to. */
  readonly groupOf: Int32Array;
  /** Those of each NPU. */
  readonly ofNpu: Grouped;
}

/** Returns one group for each NPU. */
const eachAlone = ({ target }: RouteSet, npuCount: number): Groups => ({
  count: npuCount,
  groupOf: target,
  ofNpu: groupedBy(
    Int32Array.from({ length: npuCount }, (_, v) => v),
    npuCount,
  ),
});

/**
 * Returns for each length of routes the groups that shorter ones link; null where all routes are equal, or there are too many
 * lengths.
 */
function heldApart({ source, target }: RouteSet, serialPs: Float64Array, npuCount: number): Groups | null {
  const lengths = [...new Set(serialPs)].sort((a, b) => a - b);
  if (lengths.length < 2 || lengths.length > MOST_LENGTHS) return null;
  const groupOf = new Int32Array(source.length);
  const count = lengths.length * npuCount;
  const member = new Int32Array(count);
  for (const [k, length] of lengths.entries()) {
    const linked = disjointSets(npuCount);
    for (let r = 0; r < source.length; r++) if (serialPs[r] < length) linked.join(source[r], target[r]);
    for (let v = 0; v < npuCount; v++) member[k * npuCount + v] = k * npuCount + linked.least(v);
    for (let r = 0; r < source.length; r++) if (serialPs[r] === length) groupOf[r] = member[k * npuCount + target[r]];
  }
  const byNpu = groupedBy(
    member.map((_, i) => i % npuCount),
    npuCount,
  );
  return { count, groupOf, ofNpu: { offset: byNpu.offset, items: byNpu.items.map((i) => member[i]) } };
}

/** What all trials of a phase on one of its networks have in common. */
export type Stream = ReturnType<typeof streamOf>;

/** Returns it. `owner`: of each chunk. */
export function streamOf(topology: Topology, { routes, times }: Network, owner: Int32Array) {
  const { npuCount } = topology;
  const ten = tenNetwork(topology, routes, times);
  const latencyPs = latenciesOf(times);
  const userOf = new Int32Array(ten.useResource.length);
  for (let r = 0; r < routeCount(routes); r++) userOf.fill(r, ten.useOffset[r], ten.useOffset[r + 1]);
  const uses = groupedBy(ten.useResource, ten.capacity.length);
  return {
    npuCount,
    ten,
    serialPs: times.serialPs,
    latencyPs,
    longestHopPs: greatest(latencyPs),
    /** From each NPU to each other, in latency. */
    farPs: allTimes(routes, latencyPs, npuCount).timePs,
    owner,
    alone: eachAlone(routes, npuCount),
    apart: heldApart(routes, times.serialPs, npuCount),
    out: groupedBy(routes.source, npuCount),
    /** Routes that use a resource. */
    users: { offset: uses.offset, items: uses.items.map((use) => userOf[use]) },
  };
}

/** Transfers in order of start, and when the last one arrives, where links are held for the bytes alone. */
export interface Streamed {
  readonly chunk: Int32Array;
  readonly route: Int32Array;
  readonly startPs: Float64Array;
  readonly op: Uint8Array;
  readonly endPs: number;
}

/** What trials may still look at: chunks, and each transfer counts as TRANSFER_LOOKS of them. */
export interface Looks {
  left: number;
}
const TRANSFER_LOOKS = 30;

const NO_SUMS = { chunk: new Int32Array(0), route: new Int32Array(0) };

/** Payloads of events: route x 2 is free again, transfer x 2 + 1 has arrived. */
const ARRIVAL = 1;

/**
 * Returns what one trial finds; null where its ways do not bring everything everywhere, or it would look at too much. `sums`:
 * transfers that sum, which leave in this order over each route and before all others; an owner has its chunk once all that is
 * summed there has arrived. O(transfers x routes of an NPU x chunks).
 */
export function matched(
  stream: Stream,
  { choice, spareHops }: StreamTrial,
  seed: number,
  looks: Looks,
  sums: Pick<Streamed, "chunk" | "route"> = NO_SUMS,
): Streamed | null {
  const { npuCount, owner, ten, serialPs, out, users, latencyPs, farPs, alone } = stream;
  const { routeSource, routeTarget, slotPs, useOffset, useResource, useUnits } = ten;
  const { count: groups, groupOf, ofNpu } = choice === "apart" ? (stream.apart ?? alone) : alone;
  const chunkCount = owner.length;
  const sparePs = spareHops * stream.longestHopPs;
  const words = (chunkCount + 31) >>> 5;
  // [npus][words] chunks that have arrived, and [groups][words] those that have or are on their way
  const there = new Int32Array(npuCount * words);
  const given = new Int32Array(groups * words);
  /** [npus][chunks] the when-th arrival there. */
  const turn = new Int32Array(npuCount * chunkCount);
  const holders = new Int32Array(chunkCount);
  /** [npus][chunks] sums that are still to arrive there. */
  const missing = new Int32Array(npuCount * chunkCount);
  sums.route.forEach((r, i) => {
    missing[routeTarget[r] * chunkCount + sums.chunk[i]]++;
  });
  const toSum = groupedBy(sums.route, routeSource.length);
  const nextSum = toSum.offset.slice();
  const left = ten.capacity.slice();
  const isBusy = new Uint8Array(routeSource.length);
  const isAsked = new Uint8Array(routeSource.length);
  const most = (npuCount - 1) * chunkCount + sums.route.length;
  const chunk = new Int32Array(most);
  const route = new Int32Array(most);
  const startPs = new Float64Array(most);
  const op = new Uint8Array(most);
  const queue = new EventQueue();
  const drawn = random(seed);
  let [transfers, endPs, sequence, arrivals] = [0, 0, 0, 1];
  let asked: number[] = [];
  const ask = (r: number): void => {
    if (isAsked[r] === 1 || isBusy[r] === 1) return;
    isAsked[r] = 1;
    asked.push(r);
  };
  const askAll = ({ offset, items }: Stream["out"], of: number): void => {
    for (let k = offset[of]; k < offset[of + 1]; k++) ask(items[k]);
  };
  /** Returns the best chunk that a route may take, any of equals; -1: none. */
  const chosen = (r: number): number => {
    const [from, to] = [routeSource[r], routeTarget[r]];
    let best = -1;
    let least = Number.POSITIVE_INFINITY;
    let equals = 0;
    for (let word = 0; word < words; word++) {
      for (let bits = there[from * words + word] & ~given[groupOf[r] * words + word]; bits !== 0; bits &= bits - 1) {
        const c = 32 * word + 31 - Math.clz32(bits & -bits);
        looks.left--;
        const ofOwner = owner[c] * npuCount;
        if (farPs[ofOwner + from] + latencyPs[r] > farPs[ofOwner + to] + sparePs) continue;
        const rank = choice === "oldest" ? turn[from * chunkCount + c] : holders[c];
        if (rank > least) continue;
        equals = rank < least ? 1 : equals + 1;
        least = rank;
        if (drawn.below(equals) === 0) best = c;
      }
    }
    return best;
  };
  /** Returns the chunk that a route is to sum next, where its source has all of it; else -1. */
  const summed = (r: number): number => {
    if (nextSum[r] === toSum.offset[r + 1]) return -1;
    const c = sums.chunk[toSum.items[nextSum[r]]];
    return missing[routeSource[r] * chunkCount + c] === 0 ? c : -1;
  };
  const hasRoom = (r: number): boolean => {
    for (let k = useOffset[r]; k < useOffset[r + 1]; k++) if (left[useResource[k]] < useUnits[k]) return false;
    return true;
  };
  const give = (c: number, npu: number): void => {
    for (let k = ofNpu.offset[npu]; k < ofNpu.offset[npu + 1]; k++) {
      given[ofNpu.items[k] * words + (c >>> 5)] |= 1 << (c & 31);
    }
    holders[c]++;
  };
  const arrive = (c: number, npu: number, when: number): void => {
    there[npu * words + (c >>> 5)] |= 1 << (c & 31);
    turn[npu * chunkCount + c] = when;
  };
  const send = (r: number, c: number, now: number): void => {
    isBusy[r] = 1;
    for (let k = useOffset[r]; k < useOffset[r + 1]; k++) left[useResource[k]] -= useUnits[k];
    chunk[transfers] = c;
    route[transfers] = r;
    startPs[transfers] = now;
    endPs = Math.max(endPs, now + slotPs[r]);
    looks.left -= TRANSFER_LOOKS;
    queue.push(now + serialPs[r], sequence++, 2 * r);
    queue.push(now + slotPs[r], sequence++, 2 * transfers++ + ARRIVAL);
  };
  for (let c = 0; c < chunkCount; c++) {
    give(c, owner[c]);
    if (missing[owner[c] * chunkCount + c] === 0) arrive(c, owner[c], 0);
  }
  const happens = (payload: number): void => {
    const which = payload >> 1;
    if ((payload & ARRIVAL) === 1) {
      const [c, to] = [chunk[which], routeTarget[route[which]]];
      const isSum = op[which] === OP_REDUCE;
      if (isSum && --missing[to * chunkCount + c] > 0) return;
      if (!isSum || owner[c] === to) arrive(c, to, arrivals++);
      askAll(out, to);
      return;
    }
    isBusy[which] = 0;
    ask(which);
    for (let k = useOffset[which]; k < useOffset[which + 1]; k++) {
      left[useResource[k]] += useUnits[k];
      askAll(users, useResource[k]);
    }
  };
  const match = (now: number): void => {
    const free = Int32Array.from(asked);
    asked = [];
    for (const r of free) isAsked[r] = 0;
    shuffle(free, 0, free.length, seed, transfers);
    for (const r of free) {
      const c = summed(r);
      if (c < 0 || isBusy[r] === 1 || !hasRoom(r)) continue;
      nextSum[r]++;
      op[transfers] = OP_REDUCE;
      send(r, c, now);
    }
    for (const r of free) {
      if (isBusy[r] === 1 || !hasRoom(r)) continue;
      const c = chosen(r);
      if (c < 0) continue;
      give(c, routeTarget[r]);
      send(r, c, now);
    }
  };
  for (let r = 0; r < routeSource.length; r++) ask(r);
  match(0);
  while (looks.left > 0 && queue.next()) {
    const now = queue.time;
    happens(queue.payload);
    while (queue.next()) {
      if (queue.time > now) {
        queue.push(queue.time, queue.sequence, queue.payload);
        break;
      }
      happens(queue.payload);
    }
    match(now);
  }
  return transfers < most ? null : { chunk, route, startPs, op, endPs };
}
