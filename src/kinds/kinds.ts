import { isJoint } from "../model/joint/joint-schedule.ts";
import { isPhaseSchedule } from "../model/phases/phase-schedule.ts";
import { isTreeFlow } from "../model/trees/tree-flow.ts";
import { jointKind } from "./joint.ts";
import type { GivenSchedule, Kind } from "./kind.ts";
import { phasesKind } from "./phases.ts";
import { stepsKind } from "./steps.ts";
import { treesKind } from "./trees.ts";

/** Returns what is to be known of a schedule by its kind: nobody else asks which kind it holds. */
export function kindOf(schedule: GivenSchedule): Kind {
  if (isJoint(schedule)) return jointKind(schedule);
  if (isPhaseSchedule(schedule)) return phasesKind(schedule);
  return isTreeFlow(schedule) ? treesKind(schedule) : stepsKind(schedule);
}
