import { InternalError } from "../errors.ts";
import type { PhaseSchedule } from "./phase-schedule.ts";
import type { StepSchedule } from "./step-schedule.ts";

/** Returns how many transfers `stepsOfPhases` would make, a double; Infinity where a switch sums. O(phases). */
export function phaseTransfers(_schedule: PhaseSchedule): number {
  throw new InternalError("not there yet");
}

/** Returns every phase's messages as a step schedule. Throws InputError where a switch sums: that has no steps. */
export function stepsOfPhases(_schedule: PhaseSchedule): StepSchedule {
  throw new InternalError("not there yet");
}
