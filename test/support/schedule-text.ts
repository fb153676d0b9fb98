import { phasesToJson } from "../../src/export/schedules/phases-json.ts";
import { scheduleToJson } from "../../src/export/schedules/schedule-json.ts";
import { treeFlowToJson } from "../../src/export/schedules/tree-flow-json.ts";
import { isPhaseSchedule } from "../../src/model/phases/phase-schedule.ts";
import { type AnySchedule, stepsOf } from "../../src/model/steps/schedule.ts";
import { isTreeFlow } from "../../src/model/trees/tree-flow.ts";

/** Returns any schedule as the JSON that its file has; arrival logs as their transfers. */
export function scheduleText(schedule: AnySchedule): string {
  if (isTreeFlow(schedule)) return treeFlowToJson(schedule);
  return isPhaseSchedule(schedule) ? phasesToJson(schedule) : scheduleToJson(stepsOf(schedule));
}
