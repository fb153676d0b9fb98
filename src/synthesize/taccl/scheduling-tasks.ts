import { type Grouped, groupedBy } from "../../model/graph/graph.ts";
import type { RouteSet, RouteTimes } from "../../model/routes/routes.ts";
import { OP_COPY, OP_REDUCE } from "../../model/steps/step-schedule.ts";
import type { Lanes } from "./scheduling-lanes.ts";
import type { Sends } from "./stages.ts";

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
export function inOrderOf(tasks: Tasks, ordered: (route: number) => boolean, rank: (chunk: number) => number): Tasks {
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
