import type { Collective } from "../model/collective/collective.ts";
import { isJoint, type JointSchedule, jointTransferCount } from "../model/joint/joint-schedule.ts";
import type { Schedule } from "../model/slots/slot-schedule.ts";
import { stepsOf, transfersOf } from "../model/steps/schedule.ts";
import { isTreeFlow, type TreeFlow } from "../model/trees/tree-flow.ts";
import { type MoveTimes, retimed } from "./messages.ts";
import { type Moves, movesOf, refuseMany, type UnequalBlocks } from "./moves.ts";
import { joinedRuns, type RunCut } from "./runs.ts";
import { takingPart, together } from "./together.ts";

/** A schedule that can become a program. */
export type LoweredSchedule = Schedule | TreeFlow | JointSchedule;

/** Returns whether a schedule becomes the program of a table: of a custom collective, several groups, or several collectives. */
export const becomesCustom = (schedule: LoweredSchedule): boolean =>
  isJoint(schedule) ||
  (!isTreeFlow(schedule) && (schedule.collective.kind === "custom" || schedule.collective.groupCount > 1));

/**
 * Returns what a schedule of any kind moves between ranks. Several groups and several collectives become one custom collective
 * (`together`); the blocks of a custom one are runs of chunks that go the same ways (`joinedRuns`). Throws InputError as movesOf
 * and together do. O(moves log moves).
 */
export function anyMovesOf(schedule: LoweredSchedule, cut: RunCut, how: MovesOptions = {}): Moves {
  const { lanes, times } = how;
  const inTime = (moves: Moves): Moves => (times === undefined ? moves : retimed(moves, times));
  if (isJoint(schedule)) {
    refuseMany(jointTransferCount(schedule));
    const all = together(schedule);
    return joinedRuns(inParts(inTime(movesOf(all.schedule)), all.blocks), all.blocks, cut);
  }
  if (isTreeFlow(schedule) || !becomesCustom(schedule)) return inTime(movesOf(schedule, lanes));
  refuseMany(transfersOf(schedule));
  if (schedule.collective.groupCount > 1) return anyMovesOf(asJoint(schedule), cut, how);
  return joinedRuns(inTime(movesOf(schedule)), singleBlocks(schedule.collective), cut);
}

/** How schedules become moves. */
interface MovesOptions {
  /** Trees; see movesOf. */
  readonly lanes?: boolean;
  /** [transfers] when they really depart and arrive, of several collectives in the order of jointRows; else as planned. */
  readonly times?: MoveTimes;
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

/** Returns the groups of a schedule as what runs at once. */
export function asJoint(schedule: Schedule): JointSchedule {
  const { topology, routes, ...tenant } = stepsOf(schedule);
  return { topology, routes, tenants: [tenant] };
}

/** Returns the NPUs of the ranks of a schedule's program, [ranks]. O(members + transfers). */
export function ranksOf(schedule: LoweredSchedule): Int32Array {
  if (isJoint(schedule)) return takingPart(schedule);
  if (isTreeFlow(schedule) || schedule.collective.groupCount === 1) return schedule.collective.groupMembers;
  return takingPart(asJoint(schedule));
}
