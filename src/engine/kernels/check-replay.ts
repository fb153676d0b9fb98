import { badRow } from "../../model/replay/plan.ts";
import { hopCountOf, REPLAY_MODE, REPLAY_WANTS, type ReplayProblem, TOO_LATE } from "../../model/replay/problem.ts";
import { ascending, INT32_MAX, inRange, isInteger, require } from "./check.ts";

/** Throws when a length or a setting of a replay problem does not fit the others. O(1). */
export function checkReplayShapes(problem: ReplayProblem): void {
  const { mode, linkCount, routeSource, links, firstChunk, holders, setOffset, setMembers, chunk } = problem;
  const isCutThrough = mode === REPLAY_MODE.cutThrough;
  require(isInteger(mode, 0, 2) && isInteger(problem.wants, 0, isCutThrough ? REPLAY_WANTS.times : REPLAY_WANTS.hops));
  require(isInteger(problem.npuCount, 1, INT32_MAX) && isInteger(linkCount, 0, INT32_MAX - 1));
  for (const { length } of [routeSource, links, firstChunk, holders, setOffset, setMembers, chunk]) {
    require(length < INT32_MAX);
  }
  require(problem.routeTarget.length === routeSource.length && problem.linkOffset.length === routeSource.length + 1);
  require(firstChunk.length > 1 && setOffset.length > 0 && problem.reduces.length === firstChunk.length - 1);
  const timed = (firstChunk.length - 1) * (isCutThrough ? routeSource.length : linkCount);
  require(timed <= INT32_MAX && problem.serial.length === timed && problem.delay.length === timed);
  require(problem.cost.length === (isCutThrough ? links.length : 0));
  require(problem.capacity.length === (isCutThrough ? linkCount : 0));
  require(problem.route.length === chunk.length);
  require(problem.plannedStart.length === chunk.length && problem.plannedEnd.length === chunk.length);
}

function areTimes(times: Float64Array): boolean {
  for (let i = 0; i < times.length; i++) {
    if (!(Number.isInteger(times[i]) && times[i] >= 0 && times[i] <= TOO_LATE)) return false;
  }
  return true;
}

/** Throws when an index or a value of a replay problem is out of range, rows aside; the shapes have been checked. */
export function checkReplayValues(problem: ReplayProblem): void {
  const { npuCount, routeSource, linkOffset, links, cost, capacity, setOffset, setMembers } = problem;
  require(inRange(routeSource, npuCount) && inRange(problem.routeTarget, npuCount));
  require(ascending(linkOffset, links.length) && inRange(links, problem.linkCount));
  for (let r = 0; r < routeSource.length; r++) require(linkOffset[r] < linkOffset[r + 1]);
  require(ascending(problem.firstChunk, problem.holders.length) && problem.reduces.every((flag) => flag <= 1));
  require(areTimes(problem.serial) && areTimes(problem.delay));
  for (let i = 0; i < capacity.length; i++) require(isInteger(capacity[i], 1, Number.MAX_SAFE_INTEGER));
  for (let p = 0; p < cost.length; p++) require(isInteger(cost[p], 1, capacity[links[p]]));
  require(inRange(problem.holders, setOffset.length - 1));
  require(ascending(setOffset, setMembers.length) && inRange(setMembers, npuCount));
  for (let set = 0; set < setOffset.length - 1; set++) {
    for (let i = setOffset[set] + 1; i < setOffset[set + 1]; i++) require(setMembers[i - 1] < setMembers[i]);
  }
  require(badRow(problem) >= 0 || hopCountOf(problem) <= INT32_MAX);
}
