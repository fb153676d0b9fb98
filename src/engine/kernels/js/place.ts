import { CancelledError } from "../../../base/errors.ts";
import type { CancelFlag, PlaceProblem } from "../../contract/kernels.ts";
import { STATUS, throwForStatus } from "../status.ts";
import { group, NONE, touch, touched } from "./lists.ts";
import { ArrivalQueue, groupUsers, LATEST, Resources, shared, slotRanks } from "./ten.ts";

/** Moves the entry at place `at` of the binary heap in heap[begin ..] up; least (key, transfer) on top. */
function siftUp(heap: Int32Array, begin: number, at: number, key: Float64Array): void {
  const moved = heap[begin + at];
  const least = key[moved];
  let i = at;
  while (i > 0) {
    const up = (i - 1) >> 1;
    const other = heap[begin + up];
    const rival = key[other];
    if (rival < least || (rival === least && other < moved)) break;
    heap[begin + i] = other;
    i = up;
  }
  heap[begin + i] = moved;
}

/** Moves the top entry of the heap of `size` entries down. */
function siftDown(heap: Int32Array, begin: number, size: number, key: Float64Array): void {
  const moved = heap[begin];
  const least = key[moved];
  let i = 0;
  for (let child = 1; child < size; child = 2 * i + 1) {
    let other = heap[begin + child];
    let rival = key[other];
    if (child + 1 < size) {
      const right = heap[begin + child + 1];
      const rightKey = key[right];
      if (rightKey < rival || (rightKey === rival && right < other)) {
        child++;
        other = right;
        rival = rightKey;
      }
    }
    if (least < rival || (least === rival && moved < other)) break;
    heap[begin + i] = other;
    i = child;
  }
  heap[begin + i] = moved;
}

/** The JavaScript twin of native/kernels/place.h: the same starts. */
export function placeJs(problem: PlaceProblem, cancel?: CancelFlag): Float64Array {
  const { network, route, successorOffset, successor, key } = problem;
  const { useOffset, useResource } = network;
  const transfers = route.length;
  const routes = network.slotPs.length;
  const { rank, slot } = slotRanks(network);
  const queue = new ArrivalQueue(slot.length);
  const resources = new Resources(network);
  const users = groupUsers(network);
  const waits = new Int32Array(transfers);
  const heap = new Int32Array(transfers);
  const heapBegin = group(route, routes).offset;
  const heapSize = new Int32Array(routes);
  const carried = new Int32Array(routes).fill(NONE);
  const open = touched(routes);
  const startPs = new Float64Array(transfers);
  let placed = 0;

  const mark = (r: number): void => {
    if (carried[r] === NONE && heapSize[r] > 0) touch(open, r);
  };

  const makeReady = (transfer: number): void => {
    const r = route[transfer];
    const begin = heapBegin[r];
    const size = heapSize[r]++;
    heap[begin + size] = transfer;
    siftUp(heap, begin, size, key);
    mark(r);
  };

  const launch = (r: number, now: number): void => {
    const begin = heapBegin[r];
    const transfer = heap[begin];
    const size = --heapSize[r];
    heap[begin] = heap[begin + size];
    if (size > 1) siftDown(heap, begin, size, key);
    startPs[transfer] = now;
    carried[r] = transfer;
    placed++;
    queue.push(rank[r], now + slot[rank[r]], r, 0);
  };

  const headKey = (r: number): number => key[heap[heapBegin[r]]];

  const launchOpen = (now: number): void => {
    const rivals: number[] = [];
    for (let i = 0; i < open.count; i++) {
      const r = open.list[i];
      open.marks[r] = 0;
      if (!shared(network, r)) launch(r, now);
      else if (resources.free(r)) rivals.push(r);
    }
    open.count = 0;
    rivals.sort((a, b) => headKey(a) - headKey(b) || a - b);
    for (const r of rivals) {
      if (!resources.free(r)) continue;
      resources.take(r);
      launch(r, now);
    }
  };

  const complete = (r: number): void => {
    const transfer = carried[r];
    carried[r] = NONE;
    mark(r);
    if (shared(network, r)) {
      resources.release(r);
      for (let i = useOffset[r]; i < useOffset[r + 1]; i++) {
        const resource = useResource[i];
        for (let j = users.offset[resource]; j < users.offset[resource + 1]; j++) mark(users.items[j]);
      }
    }
    for (let k = successorOffset[transfer]; k < successorOffset[transfer + 1]; k++) {
      const next = successor[k];
      if (--waits[next] === 0) makeReady(next);
    }
  };

  for (let k = 0; k < successor.length; k++) waits[successor[k]]++;
  for (let i = 0; i < transfers; i++) if (waits[i] === 0) makeReady(i);
  let now = 0;
  for (let polls = 0; ; polls++) {
    launchOpen(now);
    if ((polls & 63) === 0 && cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
    now = queue.nextTime();
    if (now === Number.POSITIVE_INFINITY) break;
    if (now > LATEST) throwForStatus(STATUS.timeOverflow, 0, 0);
    while (queue.pop(now)) complete(queue.route);
  }
  if (placed < transfers) throwForStatus(STATUS.badArgument, 0, 0);
  return startPs;
}
