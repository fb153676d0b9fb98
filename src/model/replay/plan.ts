import { groupedBy } from "../graph/graph.ts";
import { orderByTime } from "../numbers/ordering.ts";
import type { ReplayProblem } from "./problem.ts";

/**
 * What the plan says about who waits for whom. A *place* is a pair (NPU, chunk) that some transfer leaves or enters; only
 * those are numbered, so memory is O(transfers + NPUs + chunks), not NPUs x chunks.
 */
export interface Plan {
  /** [transfers] place the chunk is taken from. */
  readonly sourcePlace: Int32Array;
  /** [transfers] place it is brought to. */
  readonly targetPlace: Int32Array;
  /** [places] 1 where the NPU holds the chunk (sums: a contribution to it) from the start. */
  readonly initial: Uint8Array;
  /** [transfers] row numbers by planned arrival, ties by lower row. */
  readonly byArrival: Uint32Array;
  /** [transfers] collective; null where there is one. */
  readonly collective: Int32Array | null;
}

/** Returns the first row out of order, that ends before it starts or too late, or of no chunk or route; -1: none. */
export function badRow(problem: ReplayProblem): number {
  const { chunk, route, plannedStart, plannedEnd, holders, routeSource } = problem;
  let before = 0;
  for (let i = 0; i < chunk.length; i++) {
    const start = plannedStart[i];
    const end = plannedEnd[i];
    const isTimed = start >= before && end > start && end <= Number.MAX_SAFE_INTEGER;
    const isKnown = chunk[i] >= 0 && chunk[i] < holders.length && route[i] >= 0 && route[i] < routeSource.length;
    if (!isTimed || !isKnown) return i;
    before = start;
  }
  return -1;
}

/** Returns whether an NPU holds a chunk at the start. O(log members). */
function holds({ holders, setOffset, setMembers }: ReplayProblem, chunk: number, npu: number): boolean {
  const set = holders[chunk];
  let low = setOffset[set];
  let high = setOffset[set + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (setMembers[middle] < npu) low = middle + 1;
    else high = middle;
  }
  return low < setOffset[set + 1] && setMembers[low] === npu;
}

/**
 * Returns the places and the planned order of arrivals of rows that are not bad. Since every row ends after it starts and rows
 * ascend by start, an arrival planned by the departure of row i is of a row before i: waiting as planned can never be circular.
 * O(transfers + NPUs + chunks).
 */
export function planOf(problem: ReplayProblem): Plan {
  const { chunk, route, routeSource, routeTarget, firstChunk } = problem;
  const count = chunk.length;
  const chunkCount = problem.holders.length;

  // rows by chunk, then one pass per chunk with a mark per NPU
  const { offset, items: byChunk } = groupedBy(chunk, chunkCount);
  const sourcePlace = new Int32Array(count);
  const targetPlace = new Int32Array(count);
  const initial = new Uint8Array(2 * count);
  const collective = firstChunk.length > 2 ? new Int32Array(count) : null;
  const markedBy = new Int32Array(problem.npuCount).fill(-1);
  const placeAt = new Int32Array(problem.npuCount);
  let places = 0;
  const placeOf = (c: number, npu: number): number => {
    if (markedBy[npu] !== c) {
      markedBy[npu] = c;
      placeAt[npu] = places;
      if (holds(problem, c, npu)) initial[places] = 1;
      places++;
    }
    return placeAt[npu];
  };
  for (let c = 0, k = 0; c < chunkCount; c++) {
    while (firstChunk[k + 1] <= c) k++;
    for (let at = offset[c]; at < offset[c + 1]; at++) {
      const i = byChunk[at];
      sourcePlace[i] = placeOf(c, routeSource[route[i]]);
      targetPlace[i] = placeOf(c, routeTarget[route[i]]);
      if (collective !== null) collective[i] = k;
    }
  }
  const byArrival = orderByTime(problem.plannedEnd);
  return { sourcePlace, targetPlace, initial: initial.slice(0, places), byArrival, collective };
}
