import { InputError } from "../../base/errors.ts";
import type { Schedule } from "../../model/slots/slot-schedule.ts";
import { stepsOf, transfersOf } from "../../model/steps/schedule.ts";
import { demandForwarding, groupOrder, isTreeFlow, listedTrees, type TreeFlow } from "../../model/trees/tree-flow.ts";
import type { Moves } from "./moves.ts";
import { movesOfSteps } from "./moves-of-steps.ts";
import { movesOfTrees } from "./moves-of-trees.ts";

/** Above so many moves nothing is lowered: no runtime takes a fraction of them. */
const MOST_MOVES = 4e6;

/**
 * Returns what a schedule moves between ranks, in an order in which it can happen one after the other. Steps: their order in
 * time, arrivals before departures of the same time. Trees: tree by tree, one move for each edge, of all chunks that the tree
 * carries; a contribution's way up before the sum's way down. Links, switches and NPUs that only forward disappear: runtimes
 * route by themselves.
 *
 * An all-reduce, a broadcast and a reduce are one block of chunks.
 *
 * Throws InputError for more than 4e6 moves, for several process groups, for trees whose switches duplicate or sum, and for
 * transfers that end or begin outside of the group. O(moves log moves).
 */
export function movesOf(schedule: Schedule | TreeFlow): Moves {
  const groups = schedule.collective.groupCount;
  if (groups !== 1) throw new InputError("a schedule to be lowered", "one process group", `${groups} groups`);
  if (isTreeFlow(schedule)) demandForwarding(schedule, "a schedule to be lowered to messages");
  const moves = isTreeFlow(schedule)
    ? listedTrees(schedule) * groupOrder(schedule.symmetry) * (schedule.collective.groupSize - 1)
    : transfersOf(schedule);
  if (moves > MOST_MOVES) throw new InputError("a schedule to be lowered", `at most ${MOST_MOVES} transfers`, moves);
  return isTreeFlow(schedule) ? movesOfTrees(schedule) : movesOfSteps(stepsOf(schedule));
}
