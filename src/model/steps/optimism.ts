import { isPhaseSchedule } from "../phases/phase-schedule.ts";
import { isTreeFlow } from "../trees/tree-flow.ts";
import type { AnySchedule } from "./schedule.ts";

/** 16 GiB, links of 450 GB/s (ml-engineering, network benchmarks). */
const SWITCHES_THAT_SUM =
  "expect less of real switches that sum: an all-reduce of 16 GiB measured on 8 H200 reached a bus bandwidth of 482 GB/s where this model says 781";

/** Returns how far measurements stay behind the simulated time of a schedule, a sentence; null where none is known to. */
export function optimismOf(schedule: AnySchedule): string | null {
  if (schedule.collective.kind !== "allreduce") return null;
  const sums = isPhaseSchedule(schedule)
    ? schedule.algorithms.includes("offload")
    : isTreeFlow(schedule) && schedule.inNetwork === true;
  return sums ? SWITCHES_THAT_SUM : null;
}

/** Returns remarks on a schedule with how far measurements stay behind its time, where some are known to. */
export function withOptimism(schedule: AnySchedule, notes: readonly string[]): readonly string[] {
  const optimism = optimismOf(schedule);
  return optimism === null ? notes : [...notes, optimism];
}
