import type { Tasks } from "./scheduling-tasks.ts";

/** Lengths of the ways that chunks take, each send paying its latency. */
export interface Paths {
  /** [tasks] What has passed when the task can start at the earliest, links all being free. */
  readonly headPs: Float64Array;
  /** [tasks] From the start of the task to the end of the last that needs its data. */
  readonly tailPs: Float64Array;
  /** No order and no merging of the tasks ends sooner. */
  readonly boundPs: number;
}

/** Returns the tasks in an order in which each comes after those that it needs. O(tasks). */
function topologicalOrder({ count, before, after }: Tasks): Int32Array {
  const order = new Int32Array(count);
  const pending = new Int32Array(count);
  let filled = 0;
  for (let task = 0; task < count; task++) {
    pending[task] = before.offset[task + 1] - before.offset[task];
    if (pending[task] === 0) order[filled++] = task;
  }
  for (let k = 0; k < filled; k++) {
    for (let i = after.offset[order[k]]; i < after.offset[order[k] + 1]; i++) {
      if (--pending[after.items[i]] === 0) order[filled++] = after.items[i];
    }
  }
  return order;
}

/** Returns heads, tails and the bound of links and ways. O(tasks). */
export function pathsOf(tasks: Tasks): Paths {
  const { count, route, after, times } = tasks;
  const headPs = new Float64Array(count);
  const tailPs = new Float64Array(count);
  const order = topologicalOrder(tasks);
  for (let k = 0; k < count; k++) {
    const task = order[k];
    const end = headPs[task] + times.slotPs[route[task]];
    for (let i = after.offset[task]; i < after.offset[task + 1]; i++) {
      if (end > headPs[after.items[i]]) headPs[after.items[i]] = end;
    }
  }
  let boundPs = 0;
  for (let k = count - 1; k >= 0; k--) {
    const task = order[k];
    let rest = 0;
    for (let i = after.offset[task]; i < after.offset[task + 1]; i++) {
      if (tailPs[after.items[i]] > rest) rest = tailPs[after.items[i]];
    }
    tailPs[task] = rest + times.slotPs[route[task]];
    if (headPs[task] + tailPs[task] > boundPs) boundPs = headPs[task] + tailPs[task];
  }
  return { headPs, tailPs, boundPs: Math.max(boundPs, loadBound(tasks, headPs, tailPs)) };
}

/**
 * Returns the longest time that some lane must be busy, with what must pass before its first message and after its last. Merged
 * messages pay latencies once, so one latency counts for a resource, shared between its lanes.
 */
function loadBound(tasks: Tasks, headPs: Float64Array, tailPs: Float64Array): number {
  const { count, route, times, lanes } = tasks;
  const { useOffset, resource, units, laneOffset } = lanes;
  const resources = laneOffset.length - 1;
  const loadPs = new Float64Array(resources);
  const leastHead = new Float64Array(resources).fill(Number.POSITIVE_INFINITY);
  const leastRest = new Float64Array(resources).fill(Number.POSITIVE_INFINITY);
  const leastLatency = new Float64Array(resources).fill(Number.POSITIVE_INFINITY);
  for (let task = 0; task < count; task++) {
    const over = route[task];
    const rest = tailPs[task] - times.slotPs[over];
    for (let i = useOffset[over]; i < useOffset[over + 1]; i++) {
      const k = resource[i];
      loadPs[k] += units[i] * times.serialPs[over];
      if (headPs[task] < leastHead[k]) leastHead[k] = headPs[task];
      if (rest < leastRest[k]) leastRest[k] = rest;
      if (units[i] * times.latencyPs[over] < leastLatency[k]) leastLatency[k] = units[i] * times.latencyPs[over];
    }
  }
  let bound = 0;
  for (let k = 0; k < resources; k++) {
    if (loadPs[k] === 0) continue;
    const busy = Math.ceil((loadPs[k] + leastLatency[k]) / (laneOffset[k + 1] - laneOffset[k]));
    bound = Math.max(bound, leastHead[k] + busy + leastRest[k]);
  }
  return bound;
}
