import type { StepSchedule } from "../model/step-schedule.ts";
import type { Describer } from "./describe.ts";
import { groupRows } from "./order.ts";
import { placementView } from "./placement.ts";
import type { Recorder } from "./violation.ts";

/**
 * Records, for a collective that only copies, every transfer whose source does not hold its chunk at departure, and every
 * NPU of the postcondition that never holds it. A chunk that arrives when a transfer departs is there; a second delivery
 * is allowed.
 *
 * An NPU holds the chunk from its first arrival on, whether or not the arriving transfer was itself sound: so one false
 * departure is one violation, not one for each transfer downstream. Nothing escapes: transfers take time, so of the
 * transfers that no sound one explains the first to depart finds nothing at its source. O(transfers + members).
 */
export function checkDelivery(schedule: StepSchedule, recorder: Recorder, words: Describer): void {
  const { topology, collective, routes, route, startPs, endPs } = schedule;
  const { source, target } = routes;
  const { offset, rows } = groupRows(schedule.chunk, collective.chunkCount);
  const pre = placementView(collective, collective.pre);
  const post = placementView(collective, collective.post);
  const since = new Float64Array(topology.npuCount).fill(Number.POSITIVE_INFINITY);

  for (let chunk = 0; chunk < collective.chunkCount; chunk++) {
    const from = offset[chunk];
    const to = offset[chunk + 1];
    pre.look(chunk);
    for (let i = pre.from; i < pre.to; i++) since[pre.members[i]] = 0;
    for (let i = from; i < to; i++) {
      const row = rows[i];
      const npu = target[route[row]];
      if (endPs[row] < since[npu]) since[npu] = endPs[row];
    }
    for (let i = from; i < to; i++) {
      const row = rows[i];
      const arrival = since[source[route[row]]];
      if (arrival > startPs[row]) {
        recorder.record(() =>
          words.departure(
            "absent-chunk",
            row,
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
    for (let i = from; i < to; i++) since[target[route[rows[i]]]] = Number.POSITIVE_INFINITY;
  }
}
