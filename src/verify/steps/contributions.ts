import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Describer } from "../describe.ts";
import type { Recorder } from "../violation.ts";
import { chunkLife, load } from "./chunk-life.ts";
import { countJudge } from "./count-judge.ts";
import { groupRows } from "./order.ts";
import { placementView } from "./placement.ts";
import { setJudge } from "./set-judge.ts";

/**
 * Records what is wrong with the sums of a collective that reduces: a transfer that departs with nothing, a contribution
 * added twice, an NPU of the postcondition that ends without one.
 *
 * Each NPU of the precondition starts with the set of its own contribution, any other NPU with the empty set. A payload is
 * the set at the source at departure, arrivals at that time included. A reduce unites it with the target's set, which must
 * be disjoint; a copy replaces the target's set. Arrivals at one time at one NPU take effect by start, route, operation.
 * At the end each NPU of the postcondition holds the set of all of the precondition.
 *
 * Chunks are judged one by one: by counting where that is exact (`countJudge`), which is every schedule that moves partial
 * sums along trees; by sets for the others and to find the words for what is wrong (`setJudge`). O(transfers + members), and
 * members / 32 for each transfer of a chunk judged by sets.
 */
export function checkContributions(schedule: StepSchedule, recorder: Recorder, words: Describer): void {
  const { topology, collective } = schedule;
  const { offset, rows } = groupRows(schedule.chunk, collective.chunkCount);
  let most = 0;
  for (let chunk = 0; chunk < collective.chunkCount; chunk++) most = Math.max(most, offset[chunk + 1] - offset[chunk]);
  const life = chunkLife(most);
  const pre = placementView(collective, collective.pre);
  const post = placementView(collective, collective.post);
  const soundByCount = countJudge(topology.npuCount, most);
  const judgeBySets = setJudge(schedule, recorder, words);
  for (let chunk = 0; chunk < collective.chunkCount; chunk++) {
    pre.look(chunk);
    post.look(chunk);
    load(life, schedule, chunk, rows.subarray(offset[chunk], offset[chunk + 1]));
    if (!soundByCount(life, pre, post)) judgeBySets(life, pre, post);
  }
}
