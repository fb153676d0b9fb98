import { type GivenSchedule, isJoint } from "../../model/joint/joint-schedule.ts";
import { PS_PER_US } from "../../model/numbers/units.ts";
import { isPeriodSchedule, periodTransfers } from "../../model/periods/period-schedule.ts";
import { isPhaseSchedule } from "../../model/phases/phase-schedule.ts";
import type { Program } from "../../model/program/program.ts";
import { isSlotSchedule, slotTransferCount } from "../../model/slots/slot-schedule.ts";
import { stepsOf } from "../../model/steps/schedule.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import type { ProgramOptions } from "../../request/from-texts.ts";
import { type Attribution, attribute } from "../../simulate/program/attribution.ts";
import type { PlannedMessages } from "../../simulate/program/plan.ts";
import { simulateProgram } from "../../simulate/program/program.ts";
import { messagesIn } from "../../simulate/program/sizes.ts";
import { switchingFor } from "../../simulate/simulate.ts";
import { timedCall } from "./programs.ts";

/** Messages of a program, and transfers of a schedule, whose times are taken apart: some ten simulations in a second or two. */
export const FEW_MESSAGES = 100_000;

/** Returns the transfers of a schedule that is made of such, and of few; undefined of others. */
function plannedOf(given: GivenSchedule): PlannedMessages | undefined {
  if (isJoint(given) || isTreeFlow(given) || isPhaseSchedule(given)) return undefined;
  const transfers = isPeriodSchedule(given)
    ? periodTransfers(given)
    : isSlotSchedule(given)
      ? slotTransferCount(given)
      : given.chunk.length;
  if (transfers > FEW_MESSAGES) return undefined;
  const { topology, routes, route, collective } = stepsOf(given);
  return { topology, routes, route, chunkBytes: collective.chunkBytes, switching: switchingFor(given) };
}

/**
 * Returns why a program takes another time than its schedule's, as a sum; null where it has too many messages for that. Throws
 * InputError as simulateProgram does.
 */
export function differencesOf(
  program: Program,
  given: GivenSchedule,
  how: Pick<ProgramOptions, "blockBytesPerSecond">,
  scheduleUs: number,
): Attribution | null {
  const call = timedCall(program, given, how);
  if (messagesIn(program, call.sizeBytes) > FEW_MESSAGES) return null;
  const planned = plannedOf(given);
  const schedule = { ps: Math.round(scheduleUs * PS_PER_US), ...(planned === undefined ? {} : { planned }) };
  const taken = simulateProgram(program, given.topology, call);
  return attribute(program, given.topology, call, taken, schedule);
}
