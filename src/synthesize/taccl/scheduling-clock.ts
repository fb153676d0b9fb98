import type { Tasks } from "./scheduling-tasks.ts";

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
  const { count, route, after, before, follower, lanes, routes, times } = tasks;
  const { useOffset, resource, units, laneOffset } = lanes;
  const { serialPs, latencyPs } = times;
  const { target } = routes;
  const startPs = new Float64Array(count);
  const endPs = new Float64Array(count);
  const cause = new Int32Array(count);
  const pending = new Int32Array(count);
  const readyPs = new Float64Array(count);
  const heap = new Int32Array(count);
  const lanesInAll = laneOffset[laneOffset.length - 1];
  const freePs = new Float64Array(lanesInAll);
  const user = new Int32Array(lanesInAll);
  const arrivedPs = new Float64Array(target.reduce((most, npu) => Math.max(most, npu), -1) + 1);
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
  /** Sorts the lanes of a resource by when they are free; they nearly are. */
  const sortLanes = (from: number, to: number): void => {
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
  };
  const place = (message: number, many: number): number => {
    const over = route[message];
    let start = readyPs[message];
    let why = cause[message];
    const [first, behind] = [useOffset[over], useOffset[over + 1]];
    for (let i = first; i < behind; i++) {
      const lane = laneOffset[resource[i]] + units[i] - 1;
      if (freePs[lane] <= start) continue;
      start = freePs[lane];
      why = user[lane];
    }
    const end = start + latencyPs[over] + many * serialPs[over];
    for (let i = first; i < behind; i++) {
      const from = laneOffset[resource[i]];
      for (let lane = from; lane < from + units[i]; lane++) {
        freePs[lane] = end;
        user[lane] = message;
      }
      const to = laneOffset[resource[i] + 1];
      if (to - from > units[i]) sortLanes(from, to);
    }
    startPs[message] = start;
    endPs[message] = end;
    cause[message] = why;
    return end;
  };

  const run = ({ leader, next, key }: Plan): number => {
    pending.fill(0);
    readyPs.fill(0);
    cause.fill(-1);
    freePs.fill(0);
    user.fill(-1);
    arrivedPs.fill(0);
    size = 0;
    for (let task = 0; task < count; task++) {
      pending[leader[task]] += before.offset[task + 1] - before.offset[task];
      const then = follower[task];
      if (then >= 0 && leader[then] !== leader[task]) pending[leader[then]]++;
    }
    for (let task = 0; task < count; task++) if (leader[task] === task && pending[task] === 0) admit(task, key);
    let placed = 0;
    let last = 0;
    while (size > 0) {
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
  const sumOfEnds = (): number => arrivedPs.reduce((sum, end) => sum + end, 0);
  return { startPs, endPs, cause, run, sumOfEnds };
}
