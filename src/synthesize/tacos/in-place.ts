import type { Collective } from "../../model/collective/collective.ts";
import { routeCount } from "../../model/routes/routes.ts";
import { type IndexColumn, OP_REDUCE, type StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { PhaseTransfers } from "./assemble.ts";
import { endsOf, slotClasses } from "./row-order.ts";

/** Rows that wait at first, for each slot length. */
const WAITING = 1024;

/** Returns the narrowest column for 0 .. maximum over the beginning of the memory of a wider one. */
function narrowed(column: Int32Array, maximum: number): IndexColumn {
  const { buffer, byteOffset, length } = column;
  if (maximum < 256) return new Uint8Array(buffer, byteOffset, length);
  return maximum < 65536 ? new Uint16Array(buffer, byteOffset, length) : column;
}

/** The columns of a schedule that a phase's rows become. */
type Rows = Pick<StepSchedule, "chunk" | "route" | "startPs" | "endPs">;

/**
 * Writes the rows of the phase, in order of their ends, over its own columns in order of their starts, equal starts in order of
 * row. A row of the longest slot starts before all behind it; others wait until one of those, or nothing, can come before them.
 * So no more rows are written than have been read, and few wait. O(rows).
 */
function mergeOver(phase: PhaseTransfers, classOf: Uint8Array, lengths: Float64Array, into: Rows): void {
  const { route, chunk, startPs } = phase;
  const slowest = lengths.length - 1;
  const longest = lengths[slowest];
  /** What waits of each class: the first and behind the last, in rings; when the first starts. */
  let capacity = WAITING;
  let starts = new Float64Array(slowest * capacity);
  let chunks = new Int32Array(slowest * capacity);
  let routes = new Int32Array(slowest * capacity);
  const head = new Uint32Array(slowest);
  const tail = new Uint32Array(slowest);
  const headPs = new Float64Array(slowest).fill(Number.POSITIVE_INFINITY);
  const count = route.length;
  let row = 0;
  for (let i = 0; i <= count; i++) {
    const over = i < count ? route[i] : -1;
    const k = over < 0 ? slowest : classOf[over];
    const start = over < 0 ? Number.POSITIVE_INFINITY : startPs[i];
    const carried = over < 0 ? 0 : chunk[i];
    if (k === slowest || tail[k] - head[k] === capacity) {
      const until = over < 0 ? Number.MAX_VALUE : start + lengths[k] - longest;
      for (;;) {
        let least = 0;
        for (let other = 1; other < slowest; other++) if (headPs[other] < headPs[least]) least = other;
        if (slowest === 0 || headPs[least] > until) break;
        const at = least * capacity + (head[least] & (capacity - 1));
        into.chunk[row] = chunks[at];
        into.route[row] = routes[at];
        into.startPs[row] = starts[at];
        into.endPs[row++] = starts[at] + lengths[least];
        head[least]++;
        const next = least * capacity + (head[least] & (capacity - 1));
        headPs[least] = head[least] === tail[least] ? Number.POSITIVE_INFINITY : starts[next];
      }
      if (over < 0) break;
      if (k === slowest) {
        into.chunk[row] = carried;
        into.route[row] = over;
        into.startPs[row] = start;
        into.endPs[row++] = start + longest;
        continue;
      }
      if (tail[k] - head[k] === capacity) {
        starts = widened(starts, capacity, head);
        chunks = widened(chunks, capacity, head);
        routes = widened(routes, capacity, head);
        capacity *= 2;
      }
    }
    const at = k * capacity + (tail[k] & (capacity - 1));
    if (head[k] === tail[k]) headPs[k] = start;
    starts[at] = start;
    chunks[at] = carried;
    routes[at] = over;
    tail[k]++;
  }
}

/** Returns rings of twice the capacity with what is in these. */
function widened<T extends Int32Array | Float64Array>(rings: T, capacity: number, head: Uint32Array): T {
  const wide = new (rings.constructor as new (length: number) => T)(2 * rings.length);
  for (let k = 0; k < head.length; k++) {
    for (let i = head[k]; i < head[k] + capacity; i++) {
      wide[k * 2 * capacity + (i & (2 * capacity - 1))] = rings[k * capacity + (i & (capacity - 1))];
    }
  }
  return wide;
}

/**
 * Returns the schedule that runs one phase, as `assemble` does, but over the columns of the phase, which are gone: half the
 * memory, and so half the time where there are many rows. Null, and nothing is written, where the phase is turned around, its
 * rows are not in order of their ends, or it has too many slot lengths. O(rows).
 */
export function assembleInPlace(
  topology: Topology,
  collective: Collective,
  phase: PhaseTransfers,
): StepSchedule | null {
  if (phase.reversed || !(phase.ends ?? endsOf(phase)).ordered) return null;
  const classes = slotClasses(phase.slotPs);
  if (classes === null) return null;
  const { routes, chunk, route, startPs, reduces } = phase;
  const count = chunk.length;
  const rows = {
    chunk: narrowed(chunk, collective.chunkCount),
    route: narrowed(route, routeCount(routes)),
    startPs,
    endPs: new Float64Array(count),
  };
  mergeOver(phase, classes.classOf, classes.lengths, rows);
  const op = new Uint8Array(count);
  if (reduces) op.fill(OP_REDUCE);
  return { topology, collective, routes, ...rows, op };
}
