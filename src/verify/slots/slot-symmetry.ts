import { random } from "../../base/random.ts";
import type { Names } from "../describe.ts";
import type { Recorder } from "../violation.ts";
import { type Arrivals, SOUND } from "./slot-arrivals.ts";
import { earlyViolation, recordFaults } from "./slot-causality.ts";
import { eachArrival, type LogFrame, portCount } from "./slot-log.ts";

/** So many logs of a schedule with more arrivals than that are compared with the first one; all of them else. */
const SAMPLED_LOGS = 16;
const MOST_ARRIVALS_COMPARED = 2_000_000;

/**
 * Judges a schedule by the log of NPU 0 alone: records every violation that it has under the assumption that the log of NPU
 * v is that log moved by v, and returns whether there was none. O(routes + chunks), times dimensions.
 *
 * The translations form a group that takes NPU 0 to any other. Moving takes the route s -> 0 to a route s + v -> v, which
 * exists by the check of the routes, and chunk k o + j of owner o to k (o + v) + j, which has the right origin by the check
 * of the origins. So NPU v receives chunk c from s in slot t just when NPU 0 receives c - v from s - v then, and s has had c
 * since the slot since which NPU 0 has had c - s. One log therefore says everything: v's chunk is at its source in time just
 * when that of NPU 0 is. Which of several routes between two NPUs a chunk takes is left open: all of them count as in use.
 */
export function checkSymmetry(frame: LogFrame, rows: Arrivals, recorder: Recorder, words: Names): boolean {
  const before = recorder.count();
  const sizes = frame.schedule.symmetry ?? [];
  if (!checkGroup(frame, sizes, recorder) || frame.npus === 0) return recorder.count() === before;
  const base = rows.rowOf(0);
  if (rows.state[0] !== SOUND) {
    recordFaults(frame, 0, recorder, words);
    return false;
  }
  const { routes } = frame.schedule;
  const { since } = rows;
  const log = frame.schedule.row(0);
  const difference = differences(sizes);
  const perNpu = frame.chunks / frame.npus;
  const inUse = new Uint8Array(frame.npus);
  eachArrival(frame, 0, log, (chunk, port, slot) => {
    const route = frame.ports.items[port];
    const source = routes.source[route];
    inUse[source] = 1;
    const owner = Math.floor(chunk / perNpu);
    const there = since[base + chunk + (difference(owner, source) - owner) * perNpu];
    if (there > slot) {
      recorder.record(() => earlyViolation(frame, words, { chunk, route, slot }, there === rows.absent ? null : there));
    }
  });
  for (let route = 0; route < rows.used.length; route++) {
    if (inUse[difference(routes.source[route], routes.target[route])] === 1) rows.used[route] = 1;
  }
  if (recorder.count() === before) compareLogs(frame, rows, difference, recorder);
  return recorder.count() === before;
}

/** Records what keeps the translations from taking NPUs, routes and origins to such; returns whether there was nothing. */
function checkGroup(frame: LogFrame, sizes: readonly number[], recorder: Recorder): boolean {
  const { npus, chunks, ports, schedule } = frame;
  const { topology, routes, origin } = schedule;
  const before = recorder.count();
  const malformed = (message: string, npu?: number): void =>
    recorder.record(() => ({ kind: "malformed", message, ...(npu === undefined ? {} : { npu }) }));
  const product = sizes.reduce((all, size) => all * size, 1);
  if (product !== npus || !sizes.every((size) => Number.isSafeInteger(size) && size > 0)) {
    malformed(`translations of ${sizes.join(" x ")} NPUs are not those of a network of ${npus}`);
    return false;
  }
  const perNpu = chunks / npus;
  for (let chunk = 0; chunk < chunks; chunk++) {
    if (origin[chunk] === Math.floor(chunk / perNpu) && Number.isInteger(perNpu)) continue;
    malformed("chunks are not numbered by their origins, the same number for each, as translations need it");
    return false;
  }
  const difference = differences(sizes);
  /** Routes into NPU 0 from each source, less those into another NPU from where they are moved to. */
  const missing = new Int32Array(npus);
  const from = (i: number): number => routes.source[ports.items[i]];
  for (let i = 0; i < portCount(frame, 0); i++) missing[from(i)]++;
  for (let npu = 1; npu < npus; npu++) {
    let fits = portCount(frame, npu) === portCount(frame, 0);
    for (let i = ports.offset[npu]; i < ports.offset[npu + 1]; i++) {
      if (--missing[difference(from(i), npu)] < 0) fits = false;
    }
    for (let i = ports.offset[npu]; i < ports.offset[npu + 1]; i++) missing[difference(from(i), npu)]++;
    if (!fits) {
      const name = topology.nodeNames[npu];
      malformed(`the routes into ${name} are not those into ${topology.nodeNames[0]} moved by a translation`, npu);
    }
  }
  return recorder.count() === before;
}

/**
 * Records logs that are not that of NPU 0 moved: the same chunks at the same times from the same NPUs. Looks at all of them,
 * or at a few drawn at random where there are many arrivals.
 */
function compareLogs(
  frame: LogFrame,
  rows: Arrivals,
  difference: (npu: number, by: number) => number,
  recorder: Recorder,
): void {
  const { npus, chunks, ports, schedule } = frame;
  const perNpu = chunks / npus;
  /** [chunks] what NPU 0 has of each: slot and source, or -1 where it is there from the start. */
  const slotAt = new Int32Array(chunks).fill(-1);
  const sourceAt = new Int32Array(chunks).fill(-1);
  const sourceOf = (npu: number, port: number): number =>
    difference(schedule.routes.source[ports.items[ports.offset[npu] + port]], npu);
  eachArrival(frame, 0, schedule.row(0), (chunk, port, slot) => {
    slotAt[chunk] = slot;
    sourceAt[chunk] = sourceOf(0, port);
  });
  for (const npu of npusToCompare(npus, chunks)) {
    rows.rowOf(npu);
    let same = rows.state[npu] === SOUND;
    if (same) {
      eachArrival(frame, npu, schedule.row(npu), (chunk, port, slot) => {
        const owner = Math.floor(chunk / perNpu);
        const moved = chunk + (difference(owner, npu) - owner) * perNpu;
        if (slotAt[moved] !== slot || sourceAt[moved] !== sourceOf(npu, port)) same = false;
      });
    }
    if (same) continue;
    const names = schedule.topology.nodeNames;
    const message = `the log of ${names[npu]} is not that of ${names[0]} moved by a translation`;
    recorder.record(() => ({ kind: "malformed", npu, message }));
  }
}

function npusToCompare(npus: number, chunks: number): readonly number[] {
  if (npus <= SAMPLED_LOGS || npus * chunks <= MOST_ARRIVALS_COMPARED) {
    return Array.from({ length: npus - 1 }, (_, i) => i + 1);
  }
  const draws = random(npus, chunks);
  return [1, npus - 1, ...Array.from({ length: SAMPLED_LOGS - 2 }, () => draws.below(npus))].sort((a, b) => a - b);
}

/** Whether all logs of the schedule are few enough to be judged although one stands for them. */
export const isSmall = ({ npus, chunks }: LogFrame): boolean => npus * chunks <= MOST_ARRIVALS_COMPARED;

/** Returns the function that takes an NPU back by the translation that takes NPU 0 to `by`. */
function differences(sizes: readonly number[]): (npu: number, by: number) => number {
  return (npu, by) => {
    let image = 0;
    let stride = 1;
    let rest = npu;
    let back = by;
    for (const size of sizes) {
      const x = (rest % size) - (back % size);
      image += (x < 0 ? x + size : x) * stride;
      rest = Math.floor(rest / size);
      back = Math.floor(back / size);
      stride *= size;
    }
    return image;
  };
}
