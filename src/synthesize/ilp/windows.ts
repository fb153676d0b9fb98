import { type Flow, type FlowProblem, firstFrom, oppositeRoutes, pairTimes } from "./problem.ts";
import type { Room } from "./stages.ts";

/** Transfers that copy, transfers that add up, the moment when all contributions have met at an NPU, and exchanges of sums. */
export const COPY = 0;
export const REDUCE = 1;
export const MEET = 2;
export const EXCHANGE = 3;
export type Side = typeof COPY | typeof REDUCE | typeof MEET | typeof EXCHANGE;
const SIDES = 4;

/** The starts that a flow's transfers over one route (or its meeting at one NPU) may have: ticks low .. high, columns from `first` on. */
export interface Block {
  readonly flow: number;
  readonly side: Side;
  /** Route; the lesser one of two for EXCHANGE; NPU for MEET. */
  readonly place: number;
  readonly low: number;
  readonly high: number;
  readonly first: number;
}

/** The columns of a program: one for each block and tick. */
export interface Columns {
  readonly ticks: Float64Array;
  readonly horizon: number;
  readonly count: number;
  readonly blocks: readonly Block[];
  /** [routes] the one of the same durations the other way; -1 where there is none. */
  readonly opposite: Int32Array;
  /** Returns the block; undefined where there is none. */
  block(flow: number, side: Side, place: number): Block | undefined;
}

/** Returns for each NPU the least of `time` over the NPUs of a set: from them, or to them. */
function nearest(time: Float64Array, npus: number, set: Int32Array, towards: boolean): Float64Array {
  const least = new Float64Array(npus).fill(Number.POSITIVE_INFINITY);
  for (const other of set) {
    for (let v = 0; v < npus; v++) {
      const at = towards ? v * npus + other : other * npus + v;
      if (time[at] < least[v]) least[v] = time[at];
    }
  }
  return least;
}

/** Returns for each NPU the greatest of `time` over the NPUs of a set. */
function farthest(time: Float64Array, npus: number, set: Int32Array, towards: boolean): Float64Array {
  const most = new Float64Array(npus);
  for (const other of set) {
    for (let v = 0; v < npus; v++) most[v] = Math.max(most[v], time[towards ? v * npus + other : other * npus + v]);
  }
  return most;
}

/** Returns the greatest of `time` over the NPUs of a set, each from or to the nearer one of u and v. */
function farthestOfPair(
  time: Float64Array,
  npus: number,
  set: Int32Array,
  [u, v]: readonly [number, number],
  towards: boolean,
): number {
  const between = (other: number, at: number): number => time[towards ? at * npus + other : other * npus + at];
  return set.reduce((most, other) => Math.max(most, Math.min(between(other, u), between(other, v))), 0);
}

/** Returns for each NPU the least of start[u] + time between u and it. */
function spread(time: Float64Array, npus: number, start: Float64Array, towards: boolean): Float64Array {
  const least = new Float64Array(npus).fill(Number.POSITIVE_INFINITY);
  for (let u = 0; u < npus; u++) {
    if (start[u] === Number.POSITIVE_INFINITY) continue;
    for (let v = 0; v < npus; v++) {
      const at = start[u] + time[towards ? v * npus + u : u * npus + v];
      if (at < least[v]) least[v] = at;
    }
  }
  return least;
}

/** From when on a flow can be at each NPU, and how long before the end it must be, on each side. */
interface Reach {
  readonly copy?: { readonly ready: Float64Array; readonly tail: Float64Array; readonly holds: Uint8Array };
  readonly reduce?: { readonly ready: Float64Array; readonly tail: Float64Array; readonly ends: Int32Array };
  readonly meet?: { readonly ready: Float64Array; readonly tail: Float64Array };
}

function reachOf({ kind, from, to }: Flow, time: Float64Array, npus: number): Reach {
  const holds = new Uint8Array(npus);
  if (kind === "copy") {
    for (const v of from) holds[v] = 1;
    const ready = nearest(time, npus, from, false);
    return { copy: { ready, tail: nearest(time, npus, to, true), holds } };
  }
  const ready = nearest(time, npus, from, false);
  if (kind === "reduce") return { reduce: { ready, tail: nearest(time, npus, to, true), ends: to } };
  const meet = { ready: farthest(time, npus, from, false), tail: farthest(time, npus, to, true) };
  return {
    copy: { ready: spread(time, npus, meet.ready, false), tail: nearest(time, npus, to, true), holds },
    reduce: { ready, tail: spread(time, npus, meet.tail, true), ends: new Int32Array(0) },
    meet,
  };
}

/**
 * Returns the columns that a schedule which ends by `horizon` can need: a chunk cannot leave an NPU before it can have come
 * there, nor come where it is of no use by the end; `partial`: the schedule goes on afterwards. Only some where `room` says
 * no. O(flows x (routes + NPUs)).
 */
export function columnsOf(
  problem: FlowProblem,
  ticks: Float64Array,
  horizon: number,
  room: Room,
  partial = false,
): Columns {
  const { npuCount, routes, durations, flows } = problem;
  const times = pairTimes(problem);
  const opposite = oppositeRoutes(problem);
  const blocks: Block[] = [];
  const index = new Map<number, Block>();
  const places = Math.max(npuCount, routes.source.length);
  let count = 0;
  const add = (flow: number, side: Side, place: number, earliest: number, latest: number): void => {
    if (!(earliest <= latest)) return;
    const low = firstFrom(ticks, earliest);
    const high = firstFrom(ticks, latest + 0.5) - 1;
    if (low > high) return;
    const block: Block = { flow, side, place, low, high, first: count };
    count += high - low + 1;
    blocks.push(block);
    index.set((flow * SIDES + side) * places + place, block);
  };
  const known = new Map<string, Reach>();
  const pairs = new Map<string, { readonly ready: number; readonly tail: number }>();
  const exchange = (key: string, { size, from, to }: Flow, r: number) => {
    const ends: [number, number] = [routes.source[r], routes.target[r]];
    const name = `${key};${ends}`;
    const made = pairs.get(name) ?? {
      ready: farthestOfPair(times[size], npuCount, from, ends, false),
      tail: farthestOfPair(times[size], npuCount, to, ends, true),
    };
    pairs.set(name, made);
    return made;
  };
  flows.forEach((flow, f) => {
    if (!room()) return;
    const key = `${flow.kind}${flow.size};${flow.from};${flow.to}`;
    const reach = known.get(key) ?? reachOf(flow, times[flow.size] as Float64Array, npuCount);
    known.set(key, reach);
    const duration = durations[flow.size] as Float64Array;
    const { copy, reduce, meet } = reach;
    for (let r = 0; r < duration.length; r++) {
      const [u, v] = [routes.source[r], routes.target[r]];
      if (copy !== undefined && copy.holds[v] === 0) {
        add(f, COPY, r, copy.ready[u], horizon - duration[r] - (partial ? 0 : copy.tail[v]));
      }
      if (reduce !== undefined && !reduce.ends.includes(u)) {
        add(f, REDUCE, r, reduce.ready[u], horizon - duration[r] - reduce.tail[v]);
      }
    }
    if (meet === undefined) return;
    for (let v = 0; v < npuCount; v++) add(f, MEET, v, meet.ready[v], horizon - meet.tail[v]);
    for (let r = 0; r < duration.length; r++) {
      if (opposite[r] < r) continue;
      const { ready, tail } = exchange(key, flow, r);
      add(f, EXCHANGE, r, ready, horizon - duration[r] - tail);
    }
  });
  const block = (flow: number, side: Side, place: number) => index.get((flow * SIDES + side) * places + place);
  return { ticks, horizon, count, blocks, opposite, block };
}
