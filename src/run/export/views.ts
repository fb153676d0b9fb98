import { type Timeline, timelineOf } from "../../export/pictures/timeline.ts";
import { isSlotSchedule, type Schedule } from "../../model/slots/slot-schedule.ts";
import { transfersOf } from "../../model/steps/schedule.ts";
import { isTreeFlow, type TreeFlow } from "../../model/trees/tree-flow.ts";
import { bestPieces } from "../../model/trees/tree-pieces.ts";
import { stepsOfTrees, treeTransfers } from "../../model/trees/tree-steps.ts";
import { simulate } from "../../simulate/simulate.ts";
import { simulateSchedule } from "../../simulate/steps/replay.ts";
import { simulateTreeFlow, treeFlowClock } from "../../simulate/trees/tree-flow.ts";
import { switchingFor } from "../pipeline.ts";

/** What pictures show of a schedule: how busy links are, and when. */

/** How long links are held, and until when. */
export interface Busy {
  /** By link, in picoseconds. */
  readonly linkBusyPs: Float64Array;
  readonly totalPs: number;
}

/** More transfers are not drawn one by one. */
export const MOST_DRAWN = 2e5;

/** Pieces of a tree's part that are fastest for the size of its collective. */
const piecesFor = (flow: TreeFlow): number => bestPieces(flow, flow.collective.sizeBytes, treeFlowClock(flow));

/** Returns how long links are held in the simulation, and until when. Costs one simulation. */
export function busyOf(schedule: Schedule | TreeFlow): Busy {
  const { linkBusyPs, ps } = isTreeFlow(schedule)
    ? simulateTreeFlow(schedule, piecesFor(schedule))
    : simulate(schedule, { switching: switchingFor(schedule) });
  return { linkBusyPs, totalPs: ps };
}

/**
 * Returns when links are held in the simulation; null where there are more than `mostDrawn` transfers, arrival logs, or switches
 * that duplicate and sum. Costs one simulation.
 */
export function timelineFor(schedule: Schedule | TreeFlow, mostDrawn = MOST_DRAWN): Timeline | null {
  if (isTreeFlow(schedule)) {
    if (schedule.inNetwork === true) return null;
    const pieces = piecesFor(schedule);
    if (treeTransfers(schedule, pieces) > mostDrawn) return null;
    const steps = stepsOfTrees(schedule, pieces);
    return timelineOf(steps, simulateSchedule(steps, { timeline: true }).startPs);
  }
  if (isSlotSchedule(schedule) || transfersOf(schedule) > mostDrawn) return null;
  // hops of messages that are stored on their way are not told apart; the plan's times stand for them
  if (switchingFor(schedule) !== "cut-through") return timelineOf(schedule);
  return timelineOf(schedule, simulateSchedule(schedule, { timeline: true }).startPs);
}
