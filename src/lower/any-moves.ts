import type { Collective } from "../model/collective/collective.ts";
import { isJoint, type JointSchedule, jointTransferCount } from "../model/joint/joint-schedule.ts";
import type { Schedule } from "../model/slots/slot-schedule.ts";
import { stepsOf, transfersOf } from "../model/steps/schedule.ts";
import { isTreeFlow, type TreeFlow } from "../model/trees/tree-flow.ts";
import { type Moves, movesOf, refuseMany, type UnequalBlocks } from "./moves.ts";
import { joinedRuns } from "./runs.ts";
import { together } from "./together.ts";

/** A schedule that can become a program. */
export type LoweredSchedule = Schedule | TreeFlow | JointSchedule;

/** Returns whether a schedule becomes the program of a table: of a custom collective, several groups, or several collectives. */
export const becomesCustom = (schedule: LoweredSchedule): boolean =>
  isJoint(schedule) ||
  schedule.collective.kind === "custom" ||
  (schedule.collective.groupCount > 1 && !isTreeFlow(schedule));

/**
 * Returns what a schedule of any kind moves between ranks. Several groups and several collectives become one custom collective
 * (`together`); the blocks of a custom one are runs of chunks that go the same ways (`joinedRuns`). Throws InputError as movesOf
 * and together do. O(moves log moves).
 */
export function anyMovesOf(schedule: LoweredSchedule): Moves {
  if (isTreeFlow(schedule as Schedule | TreeFlow) || !becomesCustom(schedule))
    return movesOf(schedule as Schedule | TreeFlow);
  if (isJoint(schedule)) {
    refuseMany(jointTransferCount(schedule));
    const all = together(schedule);
    return joinedRuns(inParts(movesOf(all.schedule), all.blocks), all.blocks);
  }
  const given = schedule as Schedule;
  refuseMany(transfersOf(given));
  const steps = stepsOf(given);
  if (steps.collective.groupCount === 1) return joinedRuns(movesOf(steps), singleBlocks(steps.collective));
  const { topology, routes, ...tenant } = steps;
  return anyMovesOf({ topology, routes, tenants: [tenant] });
}

/** Returns the blocks of a custom collective: its chunks. */
const singleBlocks = ({ chunkCount, reduces }: Collective): UnequalBlocks => ({
  start: Int32Array.from({ length: chunkCount + 1 }, (_, chunk) => chunk),
  sums: new Uint8Array(chunkCount).fill(reduces ? 1 : 0),
});

/** Returns moves of whole blocks, which they number as chunks, as moves of the chunks of these blocks. */
const inParts = (moves: Moves, { start }: UnequalBlocks): Moves => ({
  ...moves,
  chunkCount: start[start.length - 1],
  chunk: moves.chunk.map((block) => start[block]),
  chunks: moves.chunk.map((block) => start[block + 1] - start[block]),
});
