import { InputError, inWords } from "../../base/errors.ts";
import type { Place } from "../../base/option-names.ts";
import type { Collective } from "../collective/collective.ts";
import { isPeriodSchedule, type PeriodSchedule, periodTransfers } from "../periods/period-schedule.ts";
import { stepsOfPeriods } from "../periods/period-steps.ts";
import { isPhaseSchedule, type PhaseSchedule } from "../phases/phase-schedule.ts";
import { stepsOfPhases } from "../phases/phase-steps.ts";
import type { RouteSet } from "../routes/routes.ts";
import {
  expandSlots,
  isSlotSchedule,
  type Schedule,
  slotMakespanPs,
  slotTransferCount,
} from "../slots/slot-schedule.ts";
import type { Topology } from "../topology/topology.ts";
import { isTreeFlow, type TreeFlow } from "../trees/tree-flow.ts";
import { stepsOfTrees } from "../trees/tree-steps.ts";
import { makespanPs, type StepSchedule, transferCount } from "./step-schedule.ts";

/** What schedules of either kind, and files of either format, have in common. */
export interface ScheduleHeader {
  readonly topology: Topology;
  readonly collective: Collective;
  readonly routes: RouteSet;
}

/** The kinds of schedules of one collective. */
export type KindName = "steps" | "slots" | "periods" | "trees" | "phases";

/** A schedule of any kind: its transfers, their arrival logs, their periods, its trees, or its phases within dimensions. */
export type AnySchedule = Schedule | PeriodSchedule | TreeFlow | PhaseSchedule;

/** Returns a schedule that is not one of phases. Throws InputError, which names `place`, for one of phases. */
export function withoutPhases(schedule: AnySchedule, place: Place): Exclude<AnySchedule, PhaseSchedule> {
  if (!isPhaseSchedule(schedule)) return schedule;
  const steps = `a schedule of transfers (\`banyan export FILE --to steps\` makes one of phases)`;
  throw new InputError(place, steps, inWords(`${schedule.chunk.length} phases`));
}

/** Returns the number of transfers of a schedule that has one. */
export function transfersOf(schedule: Schedule | PeriodSchedule): number {
  if (isPeriodSchedule(schedule)) return periodTransfers(schedule);
  return isSlotSchedule(schedule) ? slotTransferCount(schedule) : transferCount(schedule);
}

/** Returns when the last transfer ends, in picoseconds (link-busy model). O(transfers) for a step schedule. */
export const makespanOf = (schedule: Schedule): number =>
  isSlotSchedule(schedule) ? slotMakespanPs(schedule) : makespanPs(schedule);

/**
 * Returns the schedule transfer by transfer: itself, its arrival logs or periods expanded to about 20 bytes a transfer, its trees with
 * each copy's part in this many pieces (`report.schedule.pieces` has the best number), or the messages of its phases. Throws as
 * stepsOfTrees and stepsOfPhases do.
 */
export const stepsOf = (schedule: AnySchedule, pieces = 1): StepSchedule => {
  if (isPhaseSchedule(schedule)) return stepsOfPhases(schedule);
  if (isTreeFlow(schedule)) return stepsOfTrees(schedule, pieces);
  if (isPeriodSchedule(schedule)) return stepsOfPeriods(schedule);
  return isSlotSchedule(schedule) ? expandSlots(schedule) : schedule;
};

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
