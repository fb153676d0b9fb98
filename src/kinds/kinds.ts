import { type GivenSchedule, isJoint } from "../model/joint/joint-schedule.ts";
import { isPeriodSchedule } from "../model/periods/period-schedule.ts";
import { isPhaseSchedule } from "../model/phases/phase-schedule.ts";
import type { AnySchedule } from "../model/steps/schedule.ts";
import { isTreeFlow } from "../model/trees/tree-flow.ts";
import { jointKind } from "./joint.ts";
import type { Kind } from "./kind.ts";
import { periodsKind } from "./periods.ts";
import { phasesKind } from "./phases.ts";
import { stepsKind } from "./steps.ts";
import { treesKind } from "./trees.ts";

/** Returns what is to be known of a schedule by its kind; who draws or lowers one asks for its own form besides. */
export function kindOf(schedule: AnySchedule): Kind;
export function kindOf(schedule: GivenSchedule): Kind<unknown>;
export function kindOf(schedule: GivenSchedule): Kind<unknown> {
  if (isJoint(schedule)) return jointKind(schedule);
  if (isPhaseSchedule(schedule)) return phasesKind(schedule);
  if (isPeriodSchedule(schedule)) return periodsKind(schedule);
  return isTreeFlow(schedule) ? treesKind(schedule) : stepsKind(schedule);
}
