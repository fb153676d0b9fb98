import type { StepSchedule } from "../../model/steps/step-schedule.ts";

/**
 * The transfers of one chunk, copied together from their rows, with the orders of their departures and arrivals. A
 * workspace: `load` refills it for the next chunk. Transfer i is `row[i]` of the schedule.
 */
export interface ChunkLife {
  chunk: number;
  count: number;
  row: Int32Array;
  start: Float64Array;
  end: Float64Array;
  route: Int32Array;
  source: Int32Array;
  target: Int32Array;
  op: Uint8Array;
  /** [count] transfers in order of departure. */
  departures: Int32Array;
  /** [count] transfers in order of arrival: by end, then start, route, operation (copy first), row. */
  arrivals: Int32Array;
}

/** Returns an empty workspace for chunks of at most `most` transfers. */
export function chunkLife(most: number): ChunkLife {
  return {
    chunk: -1,
    count: 0,
    row: new Int32Array(most),
    start: new Float64Array(most),
    end: new Float64Array(most),
    route: new Int32Array(most),
    source: new Int32Array(most),
    target: new Int32Array(most),
    op: new Uint8Array(most),
    departures: new Int32Array(most),
    arrivals: new Int32Array(most),
  };
}

/** Fills the workspace with the chunk's rows. O(rows) where they are in order of start and end, else O(rows log rows). */
export function load(life: ChunkLife, schedule: StepSchedule, chunk: number, rows: Int32Array): void {
  const { start, end, route, departures, arrivals } = life;
  const { source, target } = schedule.routes;
  const count = rows.length;
  life.chunk = chunk;
  life.count = count;
  life.row.set(rows);
  let startsInOrder = true;
  let endsInOrder = true;
  for (let i = 0; i < count; i++) {
    const row = rows[i];
    start[i] = schedule.startPs[row];
    end[i] = schedule.endPs[row];
    route[i] = schedule.route[row];
    life.source[i] = source[route[i]];
    life.target[i] = target[route[i]];
    life.op[i] = schedule.op[row];
    departures[i] = i;
    arrivals[i] = i;
    if (i > 0) {
      if (start[i] < start[i - 1]) startsInOrder = false;
      if (compareArrivals(life, i - 1, i) > 0) endsInOrder = false;
    }
  }
  if (!startsInOrder) departures.subarray(0, count).sort((a, b) => start[a] - start[b] || a - b);
  if (!endsInOrder) arrivals.subarray(0, count).sort((a, b) => compareArrivals(life, a, b));
}

/**
 * Two rows that tie up to the operation overlap on one route, which is a violation already: so the row numbers never
 * decide a verdict.
 */
function compareArrivals({ end, start, route, op }: ChunkLife, a: number, b: number): number {
  return end[a] - end[b] || start[a] - start[b] || route[a] - route[b] || op[a] - op[b] || a - b;
}

/**
 * Plays the chunk's life: `arrive(i)` and `depart(i)` in order of time, arrivals before departures at the same time. Stops
 * with false as soon as one of them returns false.
 */
export function play(life: ChunkLife, depart: (i: number) => boolean, arrive: (i: number) => boolean): boolean {
  const { count, start, end, departures, arrivals } = life;
  let landed = 0;
  for (let k = 0; k < count; k++) {
    const i = departures[k];
    // What lands by start[i] has left before it, since transfers take time.
    while (end[arrivals[landed]] <= start[i]) if (!arrive(arrivals[landed++])) return false;
    if (!depart(i)) return false;
  }
  while (landed < count) if (!arrive(arrivals[landed++])) return false;
  return true;
}
