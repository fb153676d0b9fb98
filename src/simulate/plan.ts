import { InputError } from "../errors.ts";
import { type Collective, groupOfChunk } from "../model/collective.ts";
import { orderByTime } from "../model/ordering.ts";
import { routeCount } from "../model/routes.ts";
import type { Rows } from "./rows.ts";

/**
 * What the plan says about who waits for whom. A *place* is a pair (NPU, chunk) that some transfer leaves or enters; only
 * those are numbered, so memory is O(transfers + NPUs + chunks), not NPUs x chunks.
 */
export interface Plan {
  /** [transfers] place the chunk is taken from. */
  readonly sourcePlace: Int32Array;
  /** [transfers] place it is brought to. */
  readonly targetPlace: Int32Array;
  /** [places] 1 where the NPU holds the chunk (reductions: a contribution to it) from the start. */
  readonly initial: Uint8Array;
  /** [transfers] row numbers by planned arrival, ties by lower row. */
  readonly byArrival: Uint32Array;
}

/** Returns a test whether an NPU holds a chunk before anything moves. O(log members) a call. */
function holderAtStart(collective: Collective, npus: number): (chunk: number, npu: number) => boolean {
  const { pre } = collective;
  if (pre.kind === "one") return (chunk, npu) => pre.npu[chunk] === npu;
  if (pre.kind === "group") {
    const groupOf = new Int32Array(npus).fill(-1);
    collective.groupMembers.forEach((npu, i) => {
      groupOf[npu] = Math.floor(i / collective.groupSize);
    });
    return (chunk, npu) => groupOf[npu] === groupOfChunk(collective, chunk);
  }
  return (chunk, npu) => {
    let low = pre.offset[chunk];
    let high = pre.offset[chunk + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pre.members[middle] < npu) low = middle + 1;
      else high = middle;
    }
    return low < pre.offset[chunk + 1] && pre.members[low] === npu;
  };
}

/** Throws InputError unless rows ascend by start, end after they start, and name chunks and routes that exist. */
function checkRows(rows: Rows): void {
  const { chunk, route, startPs, endPs, firstChunk } = rows;
  const routes = routeCount(rows.routes);
  const chunkCount = firstChunk.at(-1) as number;
  let before = 0;
  for (let i = 0; i < chunk.length; i++) {
    const place = (): string => `transfer ${i} (simulate needs a valid schedule)`;
    if (!(startPs[i] >= before)) throw new InputError(place(), `a start at or after ${before} ps`, startPs[i]);
    if (!(endPs[i] > startPs[i] && endPs[i] <= Number.MAX_SAFE_INTEGER)) {
      throw new InputError(place(), `an end after its start at ${startPs[i]} ps and below 2^53 ps`, endPs[i]);
    }
    if (!(chunk[i] < chunkCount && chunk[i] >= 0)) {
      throw new InputError(place(), `a chunk below ${chunkCount}`, chunk[i]);
    }
    if (!(route[i] < routes && route[i] >= 0)) throw new InputError(place(), `a route below ${routes}`, route[i]);
    before = startPs[i];
  }
}

/**
 * Returns the places and the planned order of arrivals. Since every row ends after it starts and rows ascend by start, an
 * arrival planned by the departure of row i is of a row before i: waiting as planned can never be circular.
 * Throws InputError for rows out of order. O(transfers + NPUs + chunks).
 */
export function planOf(rows: Rows): Plan {
  checkRows(rows);
  const { chunk, route, routes, collectives, firstChunk } = rows;
  const count = chunk.length;
  const npus = rows.topology.npuCount;
  const chunkCount = firstChunk.at(-1) as number;

  // rows by chunk, then one pass per chunk with a mark per NPU
  const offset = new Int32Array(chunkCount + 1);
  for (let i = 0; i < count; i++) offset[chunk[i] + 1]++;
  for (let c = 0; c < chunkCount; c++) offset[c + 1] += offset[c];
  const next = offset.slice(0, chunkCount);
  const byChunk = new Int32Array(count);
  for (let i = 0; i < count; i++) byChunk[next[chunk[i]]++] = i;

  const sourcePlace = new Int32Array(count);
  const targetPlace = new Int32Array(count);
  const initial = new Uint8Array(2 * count);
  const markedBy = new Int32Array(npus).fill(-1);
  const placeAt = new Int32Array(npus);
  let places = 0;
  collectives.forEach((collective, t) => {
    const first = firstChunk[t] as number;
    const held = holderAtStart(collective, npus);
    const placeOf = (c: number, npu: number): number => {
      if (markedBy[npu] !== c) {
        markedBy[npu] = c;
        placeAt[npu] = places;
        if (held(c - first, npu)) initial[places] = 1;
        places++;
      }
      return placeAt[npu];
    };
    for (let c = first; c < first + collective.chunkCount; c++) {
      for (let k = offset[c]; k < offset[c + 1]; k++) {
        const i = byChunk[k];
        sourcePlace[i] = placeOf(c, routes.source[route[i]]);
        targetPlace[i] = placeOf(c, routes.target[route[i]]);
      }
    }
  });
  return { sourcePlace, targetPlace, initial: initial.slice(0, places), byArrival: orderByTime(rows.endPs) };
}

/** Returns the error for a transfer whose chunk no planned arrival brings to its source in time. */
export function neverThere(rows: Rows, row: number): InputError {
  const npu = rows.topology.nodeNames[rows.routes.source[rows.route[row]]];
  return new InputError(
    `transfer ${row} (simulate needs a valid schedule)`,
    `chunk ${rows.chunk[row]} at NPU ${npu} by ${rows.startPs[row]} ps`,
  );
}
