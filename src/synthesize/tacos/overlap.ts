import type { TenNetwork } from "../../engine/kernels/kernels.ts";
import { orderByTime } from "../../model/ordering.ts";
import { makespanPs, type StepSchedule } from "../../model/step-schedule.ts";
import { draw } from "../../random.ts";
import { assembleRows } from "./assemble.ts";

/**
 * Overlapping the two halves of an all-reduce. TACOS runs reduce-scatter and all-gather one after the other, and so leaves
 * links idle that only one half needs: a corner sends its contributions first and receives results only later. Here the
 * transfers keep their ways (the trees that the two halves found) and are scheduled anew, by list scheduling: a transfer may
 * start when what it carries is complete at its source, and of those ready on a link the one with the least key goes first.
 *
 *   key = stagger * (place of the chunk in an order) - (time that still lies behind this transfer on its trees)
 *
 * stagger 0 finishes all reductions before it spreads results, a large one finishes chunk after chunk; between them chunks
 * follow each other like pieces of a pipeline. Several staggers and orders are tried, and the shortest result is kept.
 */

/** Transfer placements over all tries: some seconds; one try where that is too few, none above MOST_TRANSFERS. */
const MOST_WORK = 1.5e6;
const MOST_TRIES = 400;
const MOST_TRANSFERS = 5e6;
/** In units of (bound / chunks). */
const STAGGERS = [0.5, 0.25, 0.75, 1, 0, 1.5];

/** Which transfers wait for which; everything that does not change from try to try. */
interface Precedence {
  readonly slotPs: Float64Array;
  /** [transfers] arrivals that a transfer waits for. */
  readonly waits: Int32Array;
  /** Transfers that leave (chunk, NPU): rows[offset[key] .. offset[key + 1]], key = chunk * NPUs + NPU. */
  readonly departures: { readonly offset: Int32Array; readonly rows: Int32Array };
  readonly arrivalKey: Int32Array;
  /** [transfers] longest time from the start of this transfer to the end of all that builds on it. */
  readonly tailPs: Float64Array;
  /** Where each route's waiting transfers lie in the heaps. */
  readonly heapBegin: Int32Array;
}

function precedenceOf(schedule: StepSchedule): Precedence {
  const { topology, collective, routes, chunk, route, startPs, endPs } = schedule;
  const count = chunk.length;
  const npus = topology.npuCount;
  const keys = collective.chunkCount * npus;
  const departureKey = new Int32Array(count);
  const arrivalKey = new Int32Array(count);
  const slotPs = new Float64Array(count);
  const offset = new Int32Array(keys + 1);
  const heapBegin = new Int32Array(routes.source.length + 1);
  for (let i = 0; i < count; i++) {
    departureKey[i] = chunk[i] * npus + routes.source[route[i]];
    arrivalKey[i] = chunk[i] * npus + routes.target[route[i]];
    slotPs[i] = endPs[i] - startPs[i];
    offset[departureKey[i] + 1]++;
    heapBegin[route[i] + 1]++;
  }
  for (let k = 0; k < keys; k++) offset[k + 1] += offset[k];
  for (let r = 0; r < routes.source.length; r++) heapBegin[r + 1] += heapBegin[r];
  const next = offset.slice(0, keys);
  const rows = new Int32Array(count);
  for (let i = 0; i < count; i++) rows[next[departureKey[i]]++] = i;
  const waits = new Int32Array(count);
  const tailPs = new Float64Array(count);
  const latestFirst = orderByTime(endPs).reverse();
  for (const i of latestFirst) {
    let behind = 0;
    for (let k = offset[arrivalKey[i]]; k < offset[arrivalKey[i] + 1]; k++) {
      if (startPs[rows[k]] < endPs[i]) continue;
      waits[rows[k]]++;
      if (tailPs[rows[k]] > behind) behind = tailPs[rows[k]];
    }
    tailPs[i] = behind + slotPs[i];
  }
  return { slotPs, waits, departures: { offset, rows }, arrivalKey, tailPs, heapBegin };
}

/** Binary heaps over slices of one array, least (key, row) on top. */
function siftUp(heap: Int32Array, begin: number, at: number, key: Float64Array): void {
  let i = at;
  const row = heap[begin + i];
  while (i > 0) {
    const up = (i - 1) >> 1;
    const other = heap[begin + up];
    if (key[other] < key[row] || (key[other] === key[row] && other < row)) break;
    heap[begin + i] = other;
    i = up;
  }
  heap[begin + i] = row;
}

function siftDown(heap: Int32Array, begin: number, size: number, key: Float64Array): void {
  let i = 0;
  const row = heap[begin];
  for (;;) {
    let child = 2 * i + 1;
    if (child >= size) break;
    const right = child + 1;
    if (right < size) {
      const a = heap[begin + child];
      const b = heap[begin + right];
      if (key[b] < key[a] || (key[b] === key[a] && b < a)) child = right;
    }
    const other = heap[begin + child];
    if (key[row] < key[other] || (key[row] === key[other] && row < other)) break;
    heap[begin + i] = other;
    i = child;
  }
  heap[begin + i] = row;
}

/** Routes that contend for each resource, and what is in use of it. */
function sharedResources(network: TenNetwork) {
  const { useOffset, useResource, useUnits, capacity, slotPs } = network;
  const used = new Int32Array(capacity.length);
  const routesOf: number[][] = Array.from(capacity, () => []);
  for (let r = 0; r < slotPs.length; r++) {
    for (let i = useOffset[r]; i < useOffset[r + 1]; i++) (routesOf[useResource[i]] as number[]).push(r);
  }
  const change = (route: number, sign: number): void => {
    for (let i = useOffset[route]; i < useOffset[route + 1]; i++) used[useResource[i]] += sign * useUnits[i];
  };
  const fits = (route: number): boolean => {
    for (let i = useOffset[route]; i < useOffset[route + 1]; i++) {
      if (used[useResource[i]] + useUnits[i] > capacity[useResource[i]]) return false;
    }
    return true;
  };
  const rivals = (route: number, visit: (rival: number) => void): void => {
    for (let i = useOffset[route]; i < useOffset[route + 1]; i++) (routesOf[useResource[i]] as number[]).forEach(visit);
  };
  return { change, fits, rivals };
}

/** Returns the start of every transfer under list scheduling by `key`. O(transfers log transfers) without shared resources. */
function listSchedule(
  schedule: StepSchedule,
  network: TenNetwork,
  precedence: Precedence,
  key: Float64Array,
): Float64Array {
  const { route, startPs: planned, endPs: plannedEnd } = schedule;
  const { slotPs, departures, arrivalKey, heapBegin } = precedence;
  const count = route.length;
  const waits = precedence.waits.slice();
  const heap = new Int32Array(count);
  const size = new Int32Array(heapBegin.length - 1);
  const busy = new Uint8Array(size.length);
  const start = new Float64Array(count);
  const end = new Float64Array(count);
  const running = new Int32Array(size.length);
  let runningCount = 0;
  const shared = sharedResources(network);
  const contended = network.capacity.length > 0;
  const marked = new Uint8Array(size.length);
  const open: number[] = [];
  const mark = (r: number): void => {
    if (marked[r] === 0 && busy[r] === 0 && size[r] > 0) {
      marked[r] = 1;
      open.push(r);
    }
  };
  const makeReady = (row: number): void => {
    const r = route[row];
    heap[heapBegin[r] + size[r]] = row;
    siftUp(heap, heapBegin[r], size[r]++, key);
    mark(r);
  };
  const launch = (r: number, now: number): void => {
    marked[r] = 0;
    if (contended && !shared.fits(r)) return;
    const row = heap[heapBegin[r]];
    heap[heapBegin[r]] = heap[heapBegin[r] + --size[r]];
    if (size[r] > 0) siftDown(heap, heapBegin[r], size[r], key);
    start[row] = now;
    end[row] = now + slotPs[row];
    busy[r] = 1;
    if (contended) shared.change(r, 1);
    running[runningCount] = row;
    siftUp(running, 0, runningCount++, end);
  };
  for (let i = 0; i < count; i++) if (waits[i] === 0) makeReady(i);
  for (let now = 0; ; ) {
    if (contended) open.sort((a, b) => key[heap[heapBegin[a]]] - key[heap[heapBegin[b]]] || a - b);
    for (const r of open) launch(r, now);
    open.length = 0;
    if (runningCount === 0) return start;
    now = end[running[0]];
    while (runningCount > 0 && end[running[0]] === now) {
      const row = running[0];
      running[0] = running[--runningCount];
      if (runningCount > 0) siftDown(running, 0, runningCount, end);
      busy[route[row]] = 0;
      mark(route[row]);
      if (contended) {
        shared.change(route[row], -1);
        shared.rivals(route[row], mark);
      }
      for (let k = departures.offset[arrivalKey[row]]; k < departures.offset[arrivalKey[row] + 1]; k++) {
        const next = departures.rows[k];
        if (planned[next] >= plannedEnd[row] && --waits[next] === 0) makeReady(next);
      }
    }
  }
}

/** Returns the place of every chunk in order `variant`: as numbered, at random (several), or backwards. */
function chunkPlaces(chunkCount: number, variant: number, seed: number): Float64Array {
  const places = new Float64Array(chunkCount);
  if (variant === 0) return places.map((_, c) => c);
  const drawn = Uint32Array.from({ length: chunkCount }, (_, c) => draw(seed, variant, c));
  const order = Array.from({ length: chunkCount }, (_, c) => c).sort((a, b) => drawn[a] - drawn[b] || a - b);
  order.forEach((c, place) => {
    places[c] = place;
  });
  return places;
}

/**
 * Returns the schedule with its transfers moved to overlap where that is shorter, and how many tries were made; the schedule
 * itself otherwise. Stops at `targetPs`, a lower bound. Deterministic in the seed.
 */
export function overlapped(
  schedule: StepSchedule,
  network: TenNetwork,
  targetPs: number,
  seed: number,
): { readonly schedule: StepSchedule; readonly tries: number; readonly stagger: number | null } {
  const count = schedule.chunk.length;
  const { chunkCount } = schedule.collective;
  const keys = chunkCount * schedule.topology.npuCount;
  const affordable = Math.max(1, Math.floor(MOST_WORK / Math.max(1, count)));
  const most = keys > 2e8 || count > MOST_TRANSFERS ? 0 : Math.min(MOST_TRIES, affordable);
  let bestPs = makespanPs(schedule);
  if (most === 0 || bestPs <= targetPs) return { schedule, tries: 0, stagger: null };
  const precedence = precedenceOf(schedule);
  const key = new Float64Array(count);
  let best: Float64Array | null = null;
  let stagger: number | null = null;
  let tries = 0;
  while (tries < most && bestPs > targetPs) {
    const factor = STAGGERS[tries % STAGGERS.length] as number;
    const step = Math.floor((factor * targetPs) / chunkCount);
    const places = chunkPlaces(chunkCount, Math.floor(tries / STAGGERS.length), seed);
    for (let i = 0; i < count; i++) key[i] = step * places[schedule.chunk[i]] - precedence.tailPs[i];
    const start = listSchedule(schedule, network, precedence, key);
    tries++;
    let end = 0;
    for (let i = 0; i < count; i++) end = Math.max(end, start[i] + precedence.slotPs[i]);
    if (end >= bestPs) continue;
    bestPs = end;
    best = start;
    stagger = factor;
  }
  if (best === null) return { schedule, tries, stagger };
  return { schedule: assembleRows(schedule, best, precedence.slotPs), tries, stagger };
}
