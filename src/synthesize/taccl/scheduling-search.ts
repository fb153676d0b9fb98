import { type Random, random } from "../../base/random.ts";
import { type Grouped, groupedBy } from "../../model/graph/graph.ts";
import { type Clock, clockOf, copyOfPlan, join, type Plan, setPlan, type Tasks, takeOut } from "./scheduling.ts";

/**
 * Local search over orders and messages: late acceptance (Burke and Bykov 2017) of small changes along the critical path, the
 * messages each of which starts when the one before ends. A change swaps neighbours on a link, joins or parts messages of one
 * route, moves a chunk between them, lets a message go earlier, or takes another way; the clock tells its time exactly.
 */
export interface SearchOptions {
  /** Plans tried. */
  readonly tries: number;
  /** Nothing more is tried once this is reached. */
  readonly boundPs: number;
  readonly seed: number;
  /** Asked now and then: whether to end with what is found. */
  readonly isOver?: (() => boolean) | undefined;
  /** As in SynthesisContext. */
  readonly breathe?: (() => Promise<void>) | undefined;
  /** Returns the tasks with another way for one of them, or null where there is none. */
  readonly reroute?: Reroute | undefined;
}

export type Reroute = (tasks: Tasks, task: number, draws: Random) => Tasks | null;

export interface Planned {
  readonly tasks: Tasks;
  /** Its keys are starts. */
  readonly plan: Plan;
  readonly endPs: number;
  /** Plans tried. */
  readonly tries: number;
}

/** A change is accepted where it is no worse than the plan of this many tries ago. */
const MEMORY = 64;
/**
 * Weight of the mean of NPUs' last arrivals beside the end: a direction where many paths are critical. With 1, half of the
 * searches of 20,000 tries order an all-gather of one NDv2 box without gaps (69.9 us); with 1/8 or 4 hardly any (92.6).
 */
const MEAN_WEIGHT = 1;
/** Timings of tasks between two looks at the clock: some 30 ms. */
const LOOK_AFTER = 1e5;
/** Tries without a better plan after which the search goes back to the best. */
const PATIENCE = 4000;

/** A plan with what was found out about it. */
interface Standing {
  tasks: Tasks;
  plan: Plan;
  endPs: number;
  cost: number;
  path: Int32Array;
}

/** Returns the best plan found from a given one on. Deterministic for a seed while time lasts. O(tries * tasks * log tasks). */
export async function searched(from: Tasks, start: Plan, options: SearchOptions): Promise<Planned> {
  const { tries: most, boundPs, seed, reroute, isOver, breathe } = options;
  const looks = Math.ceil(LOOK_AFTER / (from.count + 1));
  const draws = random(seed, 1);
  const weight = MEAN_WEIGHT / (from.routes.target.reduce((top, npu) => Math.max(top, npu), 0) + 1);
  let clock = clockOf(from);
  let members = membersOfRoutes(from);
  const plan = copyOfPlan(start);
  const standing = (tasks: Tasks, ran: Clock, endPs: number, cost: number): Standing => {
    keysFromStarts(plan, ran);
    return {
      tasks,
      plan: copyOfPlan(plan),
      endPs,
      cost,
      path: chainTo(lastMessage(plan, ran, endPs, draws), ran.cause),
    };
  };
  const priceOf = (ran: Clock, end: number): number =>
    end === Number.POSITIVE_INFINITY ? end : end + weight * ran.sumOfEnds();
  const first = clock.run(plan);
  let now = standing(from, clock, first, priceOf(clock, first));
  let best = now;
  const memory = new Float64Array(MEMORY).fill(now.cost);
  let tries = 0;
  for (let since = 0; tries < most && best.endPs > boundPs && best.path.length > 0; tries++) {
    if (tries % looks === looks - 1) {
      await breathe?.();
      if (isOver?.() === true) break;
    }
    const changed = change(plan, now, members, draws, reroute);
    if (changed !== null) {
      const timed = changed === now.tasks ? clock : clockOf(changed);
      const end = timed.run(plan);
      const cost = priceOf(timed, end);
      if (cost <= memory[tries % MEMORY] || cost <= now.cost) {
        if (changed !== now.tasks) members = membersOfRoutes(changed);
        clock = timed;
        now = standing(changed, clock, end, cost);
        if (end < best.endPs || (end === best.endPs && cost < best.cost)) {
          best = now;
          since = 0;
        }
      }
    }
    if (++since >= PATIENCE) {
      since = 0;
      if (best.tasks !== now.tasks) {
        clock = clockOf(best.tasks);
        members = membersOfRoutes(best.tasks);
      }
      now = best;
      memory.fill(best.cost);
    }
    setPlan(plan, now.plan);
    memory[tries % MEMORY] = now.cost;
  }
  return { tasks: best.tasks, plan: best.plan, endPs: best.endPs, tries };
}

/** Changes the plan; returns the tasks that it is for, or null where nothing could be changed. */
function change(
  plan: Plan,
  { tasks, path, endPs }: Standing,
  members: ReturnType<typeof membersOfRoutes>,
  draws: Random,
  reroute: Reroute | undefined,
): Tasks | null {
  const place = draws.below(path.length);
  const message = path[place];
  const over = tasks.route[message];
  const kind = draws.below(16);
  if (reroute !== undefined && kind >= 10) {
    const task = memberOf(plan, message, draws);
    const rerouted = reroute(tasks, task, draws);
    if (rerouted !== null) takeOut(plan, task);
    return rerouted;
  }
  const changed =
    kind < 6
      ? swap(plan, path, place)
      : kind < 9
        ? joinAlike(plan, members, over, message, draws)
        : kind < 11
          ? part(plan, message, draws)
          : kind < 13
            ? moveOver(plan, members, over, message, draws)
            : goEarlier(plan, message, endPs, draws);
  return changed ? tasks : null;
}

/** Small changes of a plan whose keys are starts. Each returns whether there was something to change. */

/** Returns the tasks of each route. */
const membersOfRoutes = ({ route, times }: Tasks): Grouped => groupedBy(route, times.slotPs.length);

/** Makes starts the keys: the same plan, with room between keys. */
export function keysFromStarts({ leader, key }: Plan, { startPs }: Clock): void {
  for (let task = 0; task < leader.length; task++) if (leader[task] === task) key[task] = startPs[task];
}

/** Returns the chain of messages each of which starts when the next one in the list ends, down to one that starts at 0. */
function chainTo(message: number, cause: Int32Array): Int32Array {
  const path: number[] = [];
  for (let at = message; at >= 0; at = cause[at]) path.push(at);
  return Int32Array.from(path);
}

/** Returns a message that ends last, any of them by `drawn` (0 .. 2^32 - 1). O(tasks). */
function lastMessage({ leader }: Plan, { endPs }: Clock, end: number, draws: Random): number {
  let last = -1;
  let ties = 0;
  for (let task = 0; task < leader.length; task++) {
    if (leader[task] === task && endPs[task] === end && draws.below(++ties) === 0) last = task;
  }
  return last;
}

/** Lets the message at `place` of the path go before what it waits for, where that only is in its way. */
function swap({ key }: Plan, path: Int32Array, place: number): boolean {
  if (place + 1 >= path.length) return false;
  key[path[place]] = key[path[place + 1]] - 0.5;
  return true;
}

/** Lets a message go earlier by up to a quarter of the whole time. */
function goEarlier({ key }: Plan, message: number, endPs: number, draws: Random): boolean {
  key[message] -= (endPs / 4) * (draws.below(1024) / 1024) + 0.5;
  return true;
}

/** Returns a task of the message. */
function memberOf({ next }: Plan, message: number, draws: Random): number {
  let task = message;
  for (let steps = draws.below(4); steps > 0; steps--) task = next[task];
  return task;
}

/** Joins the message with another of its route, at the place of either. */
function joinAlike(plan: Plan, members: Grouped, over: number, message: number, draws: Random): boolean {
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
function moveOver(plan: Plan, members: Grouped, over: number, message: number, draws: Random): boolean {
  const task = memberOf(plan, message, draws);
  const from = members.offset[over];
  const other = members.items[from + draws.below(members.offset[over + 1] - from)];
  if (plan.leader[other] === message) return false;
  takeOut(plan, task);
  join(plan, plan.leader[other], task);
  return true;
}
