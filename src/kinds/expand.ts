import { InputError, inWords } from "../base/errors.ts";
import { optionName, type Place } from "../base/option-names.ts";
import { isPeriodSchedule, type PeriodSchedule } from "../model/periods/period-schedule.ts";
import { isPhaseSchedule, type PhaseSchedule } from "../model/phases/phase-schedule.ts";
import { phaseTransfers, stepsOfPhases } from "../model/phases/phase-steps.ts";
import type { Schedule } from "../model/slots/slot-schedule.ts";
import { type AnySchedule, stepsOf, transfersOf, withoutPhases } from "../model/steps/schedule.ts";
import type { StepSchedule } from "../model/steps/step-schedule.ts";
import { demandForwarding, isTreeFlow, type TreeFlow } from "../model/trees/tree-flow.ts";
import { stepsOfTrees } from "../model/trees/tree-steps.ts";
import { bestPieces } from "../model/trees/tree-times.ts";
import type { Report } from "../report/result.ts";
import { treeFlowClock } from "../simulate/trees/tree-flow.ts";
import { verifyPeriods } from "../verify/periods/periods.ts";
import { verifyPhases } from "../verify/phases/phases.ts";

/** Schedules of every kind as transfers, refused where they would be too many. */

/** Above this many transfers arrival logs and periods are not written out transfer by transfer: about 50 bytes each. */
const MOST_EXPANDED = 2e7;
/** Phases of more transfers are not written as steps. */
const MOST_OF_PHASES = 4e6;

/** A schedule with the report of its making; null where it was read. */
interface MadeOrRead {
  readonly schedule: AnySchedule;
  readonly report: Report | null;
}

/** Returns whether a schedule can be written out transfer by transfer. */
export const canExpand = (schedule: Schedule | PeriodSchedule): boolean =>
  !("kind" in schedule) || transfersOf(schedule) <= MOST_EXPANDED;

/**
 * Returns a schedule transfer by transfer. Throws InputError, which names `place`, where arrival logs or periods have too many, and for
 * wrong periods.
 */
export function expanded(schedule: Schedule | PeriodSchedule, place: Place): StepSchedule {
  if (!canExpand(schedule)) {
    const most = `a schedule of at most ${MOST_EXPANDED.toExponential()} transfers`;
    const transfers = transfersOf(schedule);
    throw new InputError(place, most, transfers).saying(
      `${place} takes ${most}, and this one has ${transfers}; fewer chunks make fewer`,
    );
  }
  const { violations } = isPeriodSchedule(schedule) ? verifyPeriods(schedule, { limit: 1 }) : { violations: [] };
  if (violations.length > 0)
    throw new InputError(place, "correct periods", inWords("wrong ones")).saying(
      `these periods are wrong, so their transfers are not written: ${violations[0]?.message}`,
    );
  return stepsOf(schedule);
}

/** Returns the number of pieces that is fastest at the size of the collective. */
export const bestPiecesOf = (flow: TreeFlow): number =>
  bestPieces(flow, flow.collective.sizeBytes, treeFlowClock(flow));

/** Returns a tree flow transfer by transfer, in this many pieces or those that are best. Throws InputError, which names `place`, for too many. */
export function treesAsSteps(flow: TreeFlow, place: Place, pieces = bestPiecesOf(flow)): StepSchedule {
  demandForwarding(flow, place);
  try {
    return stepsOfTrees(flow, pieces);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(place, "trees that can be written as steps", error.message);
  }
}

/** Returns how many transfers correct phases make; null where switches sum. */
export function phaseTransfersOrNull(schedule: PhaseSchedule): number | null {
  const transfers = phaseTransfers(schedule);
  return Number.isFinite(transfers) ? transfers : null;
}

/** Returns phases transfer by transfer. Throws InputError, which names `place`, for wrong ones and for too many. */
export function phasesAsSteps(schedule: PhaseSchedule, place: Place): StepSchedule {
  const { violations, violationCount } = verifyPhases(schedule, { limit: 1 });
  if (violationCount > 0) throw new InputError(place, "correct phases", violations[0]?.message);
  const transfers = phaseTransfersOrNull(schedule);
  if (transfers === null)
    throw new InputError(
      place,
      `phases between NPUs (made without ${optionName("offload")})`,
      inWords("sums in switches"),
    );
  if (transfers > MOST_OF_PHASES) {
    throw new InputError(place, `phases of at most ${MOST_OF_PHASES.toExponential()} transfers`, transfers);
  }
  return stepsOfPhases(schedule);
}

/** Returns the schedule with trees and periods as steps; phases only where steps are asked for. Throws InputError. */
export function asSteps({ schedule, report }: MadeOrRead, to: string): Schedule {
  if (isPhaseSchedule(schedule) && (to === "steps" || to === "csv"))
    return phasesAsSteps(schedule, optionName("to", ` ${to}`));
  const place = optionName("to", ` ${to}`);
  const plain = withoutPhases(schedule, place);
  if (isPeriodSchedule(plain)) return expanded(plain, place);
  return isTreeFlow(plain) ? treesAsSteps(plain, place, report?.schedule.pieces) : plain;
}

/** Returns the schedule transfer by transfer. Throws InputError where there are too many. */
export const stepsFor = (subject: MadeOrRead, to: string): StepSchedule =>
  expanded(asSteps(subject, to), optionName("to", ` ${to}`));
