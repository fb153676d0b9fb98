import type { Random } from "../../base/random.ts";
import { type Grouped, groupedBy } from "../../model/graph/graph.ts";
import { type Clock, join, type Plan, takeOut } from "./scheduling-clock.ts";
import type { Tasks } from "./scheduling-tasks.ts";

/** Small changes of a plan whose keys are starts. Each returns whether there was something to change. */

/** Returns the tasks of each route. */
export const membersOfRoutes = ({ route, times }: Tasks): Grouped => groupedBy(route, times.slotPs.length);

/** Makes starts the keys: the same plan, with room between keys. */
export function keysFromStarts({ leader, key }: Plan, { startPs }: Clock): void {
  for (let task = 0; task < leader.length; task++) if (leader[task] === task) key[task] = startPs[task];
}

/** Returns the chain of messages each of which starts when the next one in the list ends, down to one that starts at 0. */
export function chainTo(message: number, cause: Int32Array): Int32Array {
  const path: number[] = [];
  for (let at = message; at >= 0; at = cause[at]) path.push(at);
  return Int32Array.from(path);
}

/** Returns a message that ends last, any of them by `drawn` (0 .. 2^32 - 1). O(tasks). */
export function lastMessage({ leader }: Plan, { endPs }: Clock, end: number, draws: Random): number {
  let last = -1;
  let ties = 0;
  for (let task = 0; task < leader.length; task++) {
    if (leader[task] === task && endPs[task] === end && draws.below(++ties) === 0) last = task;
  }
  return last;
}

/** Lets the message at `place` of the path go before what it waits for, where that only is in its way. */
export function swap({ key }: Plan, path: Int32Array, place: number): boolean {
  if (place + 1 >= path.length) return false;
  key[path[place]] = key[path[place + 1]] - 0.5;
  return true;
}

/** Lets a message go earlier by up to a quarter of the whole time. */
export function goEarlier({ key }: Plan, message: number, endPs: number, draws: Random): boolean {
  key[message] -= (endPs / 4) * (draws.below(1024) / 1024) + 0.5;
  return true;
}

/** Returns a task of the message. */
export function memberOf({ next }: Plan, message: number, draws: Random): number {
  let task = message;
  for (let steps = draws.below(4); steps > 0; steps--) task = next[task];
  return task;
}

/** Joins the message with another of its route, at the place of either. */
export function joinAlike(plan: Plan, members: Grouped, over: number, message: number, draws: Random): boolean {
  const from = members.offset[over];
  const many = members.offset[over + 1] - from;
  if (many < 2) return false;
  const other = plan.leader[members.items[from + draws.below(many)]];
  if (other === message) return false;
  if (draws.below(2) === 0) plan.key[message] = plan.key[other];
  join(plan, message, other);
  return true;
}

/** Takes a chunk out of the message, to go before or after it. */
export function part(plan: Plan, message: number, draws: Random): boolean {
  const task = memberOf(plan, message, draws);
  const key = plan.key[message];
  if (takeOut(plan, task) < 0) return false;
  plan.key[task] = key + (draws.below(2) === 0 ? 0.5 : -0.5);
  return true;
}

/** Moves a chunk from the message to another one of its route. */
export function moveOver(plan: Plan, members: Grouped, over: number, message: number, draws: Random): boolean {
  const task = memberOf(plan, message, draws);
  const from = members.offset[over];
  const other = members.items[from + draws.below(members.offset[over + 1] - from)];
  if (plan.leader[other] === message) return false;
  takeOut(plan, task);
  join(plan, plan.leader[other], task);
  return true;
}
