import { random } from "../../base/random.ts";
import type { ArrivalLog } from "../../model/slots/slot-schedule.ts";
import type { Recorder } from "../violation.ts";
import { type Arrivals, SOUND } from "./causality.ts";
import { eachArrival, type LogFrame } from "./log.ts";

/** So many logs of a schedule with more arrivals than that are compared with those that stand for them; all of them else. */
const SAMPLED_LOGS = 16;
const MOST_ARRIVALS_COMPARED = 2_000_000;

/** Whether all logs of the schedule are few enough to be judged although some stand for them. */
export const isSmall = ({ npus, chunks }: LogFrame): boolean => npus * chunks <= MOST_ARRIVALS_COMPARED;

/** Returns the NPUs but 0 whose logs are compared. */
export function npusToCompare(frame: LogFrame): readonly number[] {
  const { npus, chunks } = frame;
  if (npus <= SAMPLED_LOGS || isSmall(frame)) return Array.from({ length: npus - 1 }, (_, i) => i + 1);
  const draws = random(npus, chunks);
  return [1, npus - 1, ...Array.from({ length: SAMPLED_LOGS - 2 }, () => draws.below(npus))].sort((a, b) => a - b);
}

/** Where a map takes NPUs and chunks. */
interface MapOfAll {
  readonly npu: Int32Array;
  readonly chunk: Int32Array;
}

/**
 * Records that the log of `image` is not that of another NPU, which is sound, under a map that takes one to the other: the same
 * chunks at the same times from the same NPUs.
 */
export function compareWith(
  frame: LogFrame,
  rows: Arrivals,
  { npu, log }: { readonly npu: number; readonly log: ArrivalLog },
  image: number,
  map: MapOfAll,
  recorder: Recorder,
): void {
  const { chunks, ports, schedule } = frame;
  const sourceOf = (at: number, port: number): number => schedule.routes.source[ports.items[ports.offset[at] + port]];
  rows.rowOf(image);
  let same = rows.state[image] === SOUND;
  if (same) {
    /** [chunks] what the image must have of each: slot and source, or -1 where it is there from the start. */
    const slotAt = new Int32Array(chunks).fill(-1);
    const sourceAt = new Int32Array(chunks).fill(-1);
    eachArrival(frame, npu, log, (chunk, port, slot) => {
      slotAt[map.chunk[chunk]] = slot;
      sourceAt[map.chunk[chunk]] = map.npu[sourceOf(npu, port)];
    });
    eachArrival(frame, image, schedule.row(image), (chunk, port, slot) => {
      if (slotAt[chunk] !== slot || sourceAt[chunk] !== sourceOf(image, port)) same = false;
    });
  }
  if (same) return;
  const names = schedule.topology.nodeNames;
  const message = `the log of ${names[image]} is not that of ${names[npu]} moved as the symmetry says`;
  recorder.record(() => ({ kind: "malformed", npu: image, message }));
}
