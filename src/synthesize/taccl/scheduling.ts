import { type Collective, membersOf } from "../../model/collective/collective.ts";
import { type Grouped, groupedBy } from "../../model/graph/graph.ts";
import { gcd } from "../../model/numbers/integers.ts";
import { type RouteSet, type RouteTimes, routeCount, routeTimes } from "../../model/routes/routes.ts";
import type { SketchNetwork } from "../../model/sketch/sketch.ts";
import { emptyRows, OP_COPY, OP_REDUCE, type StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { tenNetwork } from "../tacos/network.ts";
import type { Sends } from "./stages.ts";

/** Returns what turns sends into tasks on a sketch's network. */
export function timing(
  network: SketchNetwork,
  collective: Collective,
): { readonly times: RouteTimes; readonly lanes: Lanes } {
  const times = routeTimes(network.topology, network.routes, collective.chunkBytes);
  return { times, lanes: lanesOf(network.topology, network.routes, times) };
}

/** Returns the sends as tasks, in the order of owners where the sketch enforces it. O(sends log sends). */
export function tasksOf(
  network: SketchNetwork,
  collective: Collective,
  sends: Sends,
  { times, lanes }: ReturnType<typeof timing>,
): Tasks {
  const tasks = copyTasks(sends, network.routes, times, lanes, network.topology.npuCount);
  return finished(network, collective, tasks);
}

/** Returns the tasks with what the sketch says about their order. */
export function finished(network: SketchNetwork, collective: Collective, tasks: Tasks): Tasks {
  if (network.sketch.internode?.enforceOrdering !== true) return tasks;
  const ownerOf = (chunk: number): number => membersOf(collective, collective.pre, chunk)[0];
  return inOrderOf(tasks, (route) => network.leavesBox[route] === 1, ownerOf);
}

/** Returns the schedule of a plan. O(tasks log tasks). */
export function stepsOfPlan(topology: Topology, collective: Collective, tasks: Tasks, plan: Plan): StepSchedule {
  const clock = clockOf(tasks);
  clock.run(plan);
  const { chunk, route, op, routes } = tasks;
  const start =
    plan.leader.length === 0 ? new Float64Array(0) : Float64Array.from(plan.leader, (m) => clock.startPs[m]);
  const order = Int32Array.from(start, (_, task) => task).sort(
    (a, b) => start[a] - start[b] || route[a] - route[b] || chunk[a] - chunk[b],
  );
  const schedule = emptyRows(topology, collective, routes, order.length);
  for (let row = 0; row < order.length; row++) {
    const task = order[row];
    schedule.chunk[row] = chunk[task];
    schedule.route[row] = route[task];
    schedule.op[row] = op[task];
    schedule.startPs[row] = start[task];
    schedule.endPs[row] = clock.endPs[plan.leader[task]];
  }
  return schedule;
}

/** Returns how many messages carry more than one chunk. */
export function mergedSends({ leader, next }: Plan): number {
  let many = 0;
  for (let task = 0; task < leader.length; task++) if (leader[task] === task && next[task] !== task) many++;
  return many;
}

/** Which tasks go as one message, and which of those that contend goes first. Every message has a leader, one of its tasks. */
export interface Plan {
  /** [tasks] The leader of the task's message. */
  readonly leader: Int32Array;
  /** [tasks] The next task of the message, round in a circle; all are of one route. */
  readonly next: Int32Array;
  /** [tasks] Of leaders: messages with less go first. */
  readonly key: Float64Array;
}

/** Returns the plan in which every task goes by itself. */
export function singles(key: Float64Array): Plan {
  const leader = Int32Array.from(key, (_, task) => task);
  return { leader, next: leader.slice(), key };
}

export const copyOfPlan = ({ leader, next, key }: Plan): Plan => ({
  leader: leader.slice(),
  next: next.slice(),
  key: key.slice(),
});

/** Overwrites a plan with another. */
export function setPlan(to: Plan, from: Plan): void {
  to.leader.set(from.leader);
  to.next.set(from.next);
  to.key.set(from.key);
}

/** Joins the messages of two leaders under the first. O(tasks of the second). */
export function join({ leader, next }: Plan, a: number, b: number): void {
  for (let task = next[b]; ; task = next[task]) {
    leader[task] = a;
    if (task === b) break;
  }
  const behind = next[a];
  next[a] = next[b];
  next[b] = behind;
}

/** Takes a task out of its message; it leads one of its own, and the others have the leader `rest` (-1: there are none). */
export function takeOut({ leader, next, key }: Plan, task: number): number {
  const rest = next[task];
  if (rest === task) return -1;
  let last = task;
  while (next[last] !== task) last = next[last];
  next[last] = rest;
  next[task] = task;
  const old = leader[task];
  leader[task] = task;
  if (old !== task) return old;
  key[rest] = key[task];
  for (let other = rest; ; other = next[other]) {
    leader[other] = rest;
    if (next[other] === rest) break;
  }
  return rest;
}

/** Times of the plan that was run last, by leader; to be read, not kept. */
export interface Clock {
  readonly startPs: Float64Array;
  readonly endPs: Float64Array;
  /** By leader: the message whose end it starts at, -1 where it starts at 0. */
  readonly cause: Int32Array;
  /**
   * Returns when the last message ends; Infinity where messages wait for each other. Messages start as early as they can, in
   * the order in which the keys let them (a serial generation scheme). Exact. O(tasks log tasks + uses).
   */
  run(plan: Plan): number;
  /** Sum over NPUs of their last arrivals in that plan: of two equal ends, the less the better. */
  sumOfEnds(): number;
}

/** Returns a clock for the tasks. */
export function clockOf(tasks: Tasks): Clock {
  const { count, route, after, follower, lanes, routes, times } = tasks;
  const { serialPs, latencyPs } = times;
  const { target } = routes;
  const startPs = new Float64Array(count);
  const endPs = new Float64Array(count);
  const cause = new Int32Array(count);
  const pending = new Int32Array(count);
  const readyPs = new Float64Array(count);
  const { clear, admit, take, isEmpty } = messageHeap(count);
  const turns = turnsOf(lanes);
  const arrivedPs = new Float64Array(target.reduce((most, npu) => Math.max(most, npu), -1) + 1);

  const place = (message: number, many: number): number => {
    const over = route[message];
    const lane = turns.last(over, readyPs[message]);
    const start = lane < 0 ? readyPs[message] : turns.freePs[lane];
    const why = lane < 0 ? cause[message] : turns.user[lane];
    const end = start + latencyPs[over] + many * serialPs[over];
    turns.take(over, end, message);
    startPs[message] = start;
    endPs[message] = end;
    cause[message] = why;
    return end;
  };

  const run = ({ leader, next, key }: Plan): number => {
    readyPs.fill(0);
    cause.fill(-1);
    turns.clear();
    arrivedPs.fill(0);
    clear();
    countPending(tasks, leader, pending);
    for (let task = 0; task < count; task++) if (leader[task] === task && pending[task] === 0) admit(task, key);
    let [placed, last] = [0, 0];
    while (!isEmpty()) {
      const message = take(key);
      let many = 0;
      for (let task = message; many === 0 || task !== message; task = next[task]) many++;
      const end = place(message, many);
      placed += many;
      if (end > last) last = end;
      const npu = target[route[message]];
      if (end > arrivedPs[npu]) arrivedPs[npu] = end;
      let task = message;
      for (let k = 0; k < many; k++, task = next[task]) {
        for (let i = after.offset[task]; i < after.offset[task + 1]; i++) {
          const waiting = leader[after.items[i]];
          if (end > readyPs[waiting]) {
            readyPs[waiting] = end;
            cause[waiting] = message;
          }
          if (--pending[waiting] === 0) admit(waiting, key);
        }
        const then = follower[task];
        if (then >= 0 && leader[then] !== message && --pending[leader[then]] === 0) admit(leader[then], key);
      }
    }
    return placed === count ? last : Number.POSITIVE_INFINITY;
  };
  return { startPs, endPs, cause, run, sumOfEnds: () => arrivedPs.reduce((sum, end) => sum + end, 0) };
}

/** Who has which lane until when. */
interface Turns {
  /** [lanes] to be read. */
  readonly freePs: Float64Array;
  /** [lanes] who took each last, -1: nobody. */
  readonly user: Int32Array;
  clear(): void;
  /** Returns the lane that a route waits for longest after `ready`, -1 where it need not wait. */
  last(route: number, ready: number): number;
  /** Takes the lanes of a route that are free first. */
  take(route: number, end: number, message: number): void;
}

/** Returns lanes that are all free. Each call takes O(lanes of the route's links). */
export function turnsOf({ useOffset, resource, units, laneOffset }: Lanes): Turns {
  const lanesInAll = laneOffset[laneOffset.length - 1];
  const freePs = new Float64Array(lanesInAll);
  const user = new Int32Array(lanesInAll).fill(-1);
  const clear = (): void => {
    freePs.fill(0);
    user.fill(-1);
  };
  const last = (route: number, ready: number): number => {
    let latest = ready;
    let found = -1;
    for (let i = useOffset[route]; i < useOffset[route + 1]; i++) {
      const lane = laneOffset[resource[i]] + units[i] - 1;
      if (freePs[lane] <= latest) continue;
      latest = freePs[lane];
      found = lane;
    }
    return found;
  };
  const take = (route: number, end: number, message: number): void => {
    for (let i = useOffset[route]; i < useOffset[route + 1]; i++) {
      const from = laneOffset[resource[i]];
      for (let lane = from; lane < from + units[i]; lane++) {
        freePs[lane] = end;
        user[lane] = message;
      }
      const to = laneOffset[resource[i] + 1];
      if (to - from > units[i]) sortLanes(freePs, user, from, to);
    }
  };
  return { freePs, user, clear, last, take };
}

/** Counts, by leader, what each message waits for. */
function countPending({ count, before, follower }: Tasks, leader: Int32Array, pending: Int32Array): void {
  pending.fill(0);
  for (let task = 0; task < count; task++) {
    pending[leader[task]] += before.offset[task + 1] - before.offset[task];
    const then = follower[task];
    if (then >= 0 && leader[then] !== leader[task]) pending[leader[then]]++;
  }
}

/** Returns a heap of messages, the one with the least key on top, ties by message. */
function messageHeap(room: number) {
  const heap = new Int32Array(room);
  let size = 0;
  /** Puts a message that waits for nothing more into the heap. */
  const admit = (message: number, key: Float64Array): void => {
    let i = size++;
    const own = key[message];
    while (i > 0) {
      const parent = (i - 1) >> 1;
      const other = heap[parent];
      if (key[other] < own || (key[other] === own && other < message)) break;
      heap[i] = other;
      i = parent;
    }
    heap[i] = message;
  };
  const take = (key: Float64Array): number => {
    const first = heap[0];
    const moved = heap[--size];
    const own = key[moved];
    let i = 0;
    for (let child = 1; child < size; child = 2 * i + 1) {
      if (child + 1 < size) {
        const [left, right] = [heap[child], heap[child + 1]];
        if (key[right] < key[left] || (key[right] === key[left] && right < left)) child++;
      }
      const other = heap[child];
      if (own < key[other] || (own === key[other] && moved < other)) break;
      heap[i] = other;
      i = child;
    }
    heap[i] = moved;
    return first;
  };
  return {
    clear: (): void => {
      size = 0;
    },
    isEmpty: (): boolean => size === 0,
    admit,
    take,
  };
}

/** Sorts the lanes of a resource by when they are free; they nearly are. */
function sortLanes(freePs: Float64Array, user: Int32Array, from: number, to: number): void {
  for (let i = from + 1; i < to; i++) {
    const time = freePs[i];
    const by = user[i];
    let j = i - 1;
    for (; j >= from && freePs[j] > time; j--) {
      freePs[j + 1] = freePs[j];
      user[j + 1] = user[j];
    }
    freePs[j + 1] = time;
    user[j + 1] = by;
  }
}

/** Sends with what must come before what: all that ordering and exact scheduling look at. */
export interface Tasks {
  readonly count: number;
  /** [tasks] */
  readonly chunk: Int32Array;
  readonly route: Int32Array;
  readonly op: Uint8Array;
  readonly routes: RouteSet;
  readonly times: RouteTimes;
  readonly lanes: Lanes;
  /** Tasks that need the data of each. */
  readonly after: Grouped;
  /** Tasks whose data each needs. */
  readonly before: Grouped;
  /** [tasks] The task of the same route that must not leave before this one (`enforce_ordering`); -1 for none. */
  readonly follower: Int32Array;
}

/** Returns the edges (from, to) as lists of what comes after and before each of `count` tasks. */
function linked(from: Int32Array, to: Int32Array, count: number): Pick<Tasks, "after" | "before"> {
  const listed = (keys: Int32Array, values: Int32Array): Grouped => {
    const { offset, items } = groupedBy(keys, count);
    return { offset, items: items.map((edge) => values[edge]) };
  };
  return { after: listed(from, to), before: listed(to, from) };
}

/** Returns the edges of the tasks, each as (from, to). */
function edgesOf({ after, count }: Tasks): { readonly from: number[]; readonly to: number[] } {
  const from: number[] = [];
  for (let task = 0; task < count; task++) {
    for (let i = after.offset[task]; i < after.offset[task + 1]; i++) from.push(task);
  }
  return { from, to: [...after.items] };
}

/**
 * Returns the sends as tasks: a send waits for the one that brings its chunk to its source, if there is one. For one chunk
 * they form a tree out of its holders, in ascending order of chunk. O(sends + NPUs).
 */
export function copyTasks(sends: Sends, routes: RouteSet, times: RouteTimes, lanes: Lanes, npuCount: number): Tasks {
  const { chunk, route } = sends;
  const count = chunk.length;
  const bringer = new Int32Array(npuCount).fill(-1);
  const from: number[] = [];
  const to: number[] = [];
  for (let first = 0, behind = 0; first < count; first = behind) {
    while (behind < count && chunk[behind] === chunk[first]) bringer[routes.target[route[behind]]] = behind++;
    for (let task = first; task < behind; task++) {
      const bring = bringer[routes.source[route[task]]];
      if (bring < 0) continue;
      from.push(bring);
      to.push(task);
    }
    for (let task = first; task < behind; task++) bringer[routes.target[route[task]]] = -1;
  }
  const op = new Uint8Array(count).fill(OP_COPY);
  const follower = new Int32Array(count).fill(-1);
  const links = linked(Int32Array.from(from), Int32Array.from(to), count);
  return { count, chunk, route, op, routes, times, lanes, ...links, follower };
}

/** Returns the tasks backwards in time over the same routes the other way round: copies, or with `reduces` reductions. */
export function turnedTasks(tasks: Tasks, routes: RouteSet, reduces: boolean): Tasks {
  const { count, after, before } = tasks;
  const follower = new Int32Array(count).fill(-1);
  for (let task = 0; task < count; task++) if (tasks.follower[task] >= 0) follower[tasks.follower[task]] = task;
  const op = reduces ? new Uint8Array(count).fill(OP_REDUCE) : tasks.op;
  return { ...tasks, routes, op, after: before, before: after, follower };
}

/** Returns tasks of which the first of each chunk in `second` wait for the last of it in `first`. O(tasks). */
export function followedBy(first: Tasks, second: Tasks): Tasks {
  const count = first.count + second.count;
  const shift = first.count;
  const a = edgesOf(first);
  const b = edgesOf(second);
  const from = a.from.concat(b.from.map((task) => task + shift));
  const to = a.to.concat(b.to.map((task) => task + shift));
  const lastOf = new Map<number, number[]>();
  for (let task = 0; task < first.count; task++) {
    if (first.after.offset[task] < first.after.offset[task + 1]) continue;
    const known = lastOf.get(first.chunk[task]);
    if (known === undefined) lastOf.set(first.chunk[task], [task]);
    else known.push(task);
  }
  for (let task = 0; task < second.count; task++) {
    if (second.before.offset[task] < second.before.offset[task + 1]) continue;
    for (const last of lastOf.get(second.chunk[task]) ?? []) {
      from.push(last);
      to.push(task + shift);
    }
  }
  const chunk = new Int32Array(count);
  const route = new Int32Array(count);
  const op = new Uint8Array(count);
  const follower = new Int32Array(count);
  for (const [tasks, base] of [
    [first, 0],
    [second, shift],
  ] as const) {
    chunk.set(tasks.chunk, base);
    route.set(tasks.route, base);
    op.set(tasks.op, base);
    for (let task = 0; task < tasks.count; task++) {
      follower[base + task] = tasks.follower[task] < 0 ? -1 : tasks.follower[task] + base;
    }
  }
  return { ...second, count, chunk, route, op, ...linked(Int32Array.from(from), Int32Array.from(to), count), follower };
}

/** Returns the tasks with followers: over each of these routes, chunks leave in ascending order of `rank`. */
function inOrderOf(tasks: Tasks, ordered: (route: number) => boolean, rank: (chunk: number) => number): Tasks {
  const follower = tasks.follower.slice();
  const byRoute = groupedBy(tasks.route, tasks.times.slotPs.length);
  for (let route = 0; route + 1 < byRoute.offset.length; route++) {
    if (!ordered(route)) continue;
    const own = byRoute.items.slice(byRoute.offset[route], byRoute.offset[route + 1]);
    own.sort((a, b) => rank(tasks.chunk[a]) - rank(tasks.chunk[b]) || a - b);
    for (let i = 1; i < own.length; i++) follower[own[i - 1]] = own[i];
  }
  return { ...tasks, follower };
}

/**
 * What routes take turns on: links that several share, as equal lanes of which a message takes as many as its share asks for,
 * and each route itself where no link of it is taken whole. A lane carries one message at a time.
 */
export interface Lanes {
  /** [routes + 1] route r uses resource[useOffset[r] .. useOffset[r + 1]]. */
  readonly useOffset: Int32Array;
  readonly resource: Int32Array;
  /** Lanes of the resource that the route takes. */
  readonly units: Int32Array;
  /** [resources + 1] */
  readonly laneOffset: Int32Array;
}

/** Shares that need more lanes take the whole link: it is never overfilled, at the price of some of it. */
const MOST_LANES = 64;

/** Returns the lanes of a network's routes. O(route links). */
export function lanesOf(topology: Topology, routes: RouteSet, times: RouteTimes): Lanes {
  const ten = tenNetwork(topology, routes, times);
  const step = Float64Array.from(ten.capacity);
  for (let i = 0; i < ten.useResource.length; i++) {
    step[ten.useResource[i]] = gcd(step[ten.useResource[i]], ten.useUnits[i]);
  }
  const lanes = Array.from(ten.capacity, (capacity, k) => (capacity / step[k] <= MOST_LANES ? capacity / step[k] : 1));
  const count = routeCount(routes);
  const useOffset = new Int32Array(count + 1);
  const resource: number[] = [];
  const units: number[] = [];
  for (let route = 0; route < count; route++) {
    let whole = false;
    for (let i = ten.useOffset[route]; i < ten.useOffset[route + 1]; i++) {
      const k = ten.useResource[i];
      const taken = Math.min(lanes[k], ten.useUnits[i] / step[k]);
      whole ||= taken === lanes[k];
      resource.push(k);
      units.push(taken);
    }
    if (!whole) {
      resource.push(lanes.length);
      units.push(1);
      lanes.push(1);
    }
    useOffset[route + 1] = resource.length;
  }
  const laneOffset = new Int32Array(lanes.length + 1);
  for (let k = 0; k < lanes.length; k++) laneOffset[k + 1] = laneOffset[k] + lanes[k];
  return { useOffset, resource: Int32Array.from(resource), units: Int32Array.from(units), laneOffset };
}
