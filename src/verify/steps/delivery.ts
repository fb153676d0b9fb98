import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Describer } from "../describe.ts";
import type { Recorder } from "../violation.ts";
import { placementView } from "./rows.ts";

/** Rows that are sorted by chunk at once: about 28 bytes each. */
const MOST_AT_ONCE = 2 ** 22;

/** The rows of some chunks, chunk by chunk, each chunk's in row order. */
interface Sorted {
  readonly row: Int32Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly startPs: Float64Array;
  readonly endPs: Float64Array;
}

const roomFor = (rows: number): Sorted => ({
  row: new Int32Array(rows),
  from: new Int32Array(rows),
  to: new Int32Array(rows),
  startPs: new Float64Array(rows),
  endPs: new Float64Array(rows),
});

/** Returns where the rows of each chunk begin among all rows sorted by chunk, [chunks + 1]. */
function offsetsOf({ chunk, collective }: StepSchedule): Float64Array {
  const offset = new Float64Array(collective.chunkCount + 1);
  for (let row = 0; row < chunk.length; row++) offset[chunk[row] + 1]++;
  for (let c = 0; c < collective.chunkCount; c++) offset[c + 1] += offset[c];
  return offset;
}

/** Sorts the rows of chunks `first` .. `end` - 1, read in row order: those of a chunk lie too far apart to be looked up. */
function sortRows(schedule: StepSchedule, offset: Float64Array, first: number, end: number, sorted: Sorted): void {
  const { chunk, route, startPs, endPs, routes } = schedule;
  const { source, target } = routes;
  const next = Int32Array.from({ length: end - first }, (_, c) => offset[first + c] - offset[first]);
  for (let row = 0; row < chunk.length; row++) {
    const c = chunk[row] - first;
    if (c < 0 || c >= next.length) continue;
    const at = next[c]++;
    sorted.row[at] = row;
    sorted.from[at] = source[route[row]];
    sorted.to[at] = target[route[row]];
    sorted.startPs[at] = startPs[row];
    sorted.endPs[at] = endPs[row];
  }
}

/** Returns the chunk behind the last that is sorted together with `first`. */
function endOf(offset: Float64Array, first: number, most: number): number {
  let end = first + 1;
  while (end + 1 < offset.length && offset[end + 1] - offset[first] <= most) end++;
  return end;
}

/**
 * Records, for a collective that only copies, every transfer whose source does not hold its chunk at departure, and every
 * NPU of the postcondition that never holds it. A chunk that arrives when a transfer departs is there; a second delivery
 * is allowed.
 *
 * An NPU holds the chunk from its first arrival on, whether or not the arriving transfer was itself sound: so one false
 * departure is one violation, not one for each transfer downstream. Nothing escapes: transfers take time, so of the
 * transfers that no sound one explains the first to depart finds nothing at its source. O(transfers + members),
 * and for every `mostAtOnce` transfers one look at all chunk numbers.
 */
export function checkDelivery(
  schedule: StepSchedule,
  recorder: Recorder,
  words: Describer,
  mostAtOnce = MOST_AT_ONCE,
): void {
  const { topology, collective } = schedule;
  const offset = offsetsOf(schedule);
  const pre = placementView(collective, collective.pre);
  const post = placementView(collective, collective.post);
  const since = new Float64Array(topology.npuCount).fill(Number.POSITIVE_INFINITY);
  let sorted = roomFor(0);
  let [first, end] = [0, 0];

  for (let chunk = 0; chunk < collective.chunkCount; chunk++) {
    if (chunk === end) {
      [first, end] = [chunk, endOf(offset, chunk, mostAtOnce)];
      const rows = offset[end] - offset[first];
      if (sorted.row.length < rows) sorted = roomFor(rows);
      sortRows(schedule, offset, first, end, sorted);
    }
    const { row, from, to, startPs, endPs } = sorted;
    const begin = offset[chunk] - offset[first];
    const behind = offset[chunk + 1] - offset[first];
    pre.look(chunk);
    for (let i = pre.from; i < pre.to; i++) since[pre.members[i]] = 0;
    for (let i = begin; i < behind; i++) if (endPs[i] < since[to[i]]) since[to[i]] = endPs[i];
    for (let i = begin; i < behind; i++) {
      const arrival = since[from[i]];
      if (arrival > startPs[i]) {
        recorder.record(() =>
          words.departure(
            "absent-chunk",
            row[i],
            arrival === Number.POSITIVE_INFINITY
              ? " but never holds it"
              : ` but holds it only from ${words.time(arrival)} on`,
          ),
        );
      }
    }
    post.look(chunk);
    for (let i = post.from; i < post.to; i++) {
      const npu = post.members[i];
      if (since[npu] === Number.POSITIVE_INFINITY) {
        const message = (): string => `${words.npu(npu, chunk)} never receives chunk ${chunk}`;
        recorder.record(() => ({ kind: "missing-chunk", npu, chunk, message: message() }));
      }
    }
    for (let i = pre.from; i < pre.to; i++) since[pre.members[i]] = Number.POSITIVE_INFINITY;
    for (let i = begin; i < behind; i++) since[to[i]] = Number.POSITIVE_INFINITY;
  }
}
