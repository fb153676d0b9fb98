import { groupedBy } from "../../model/graph/graph.ts";
import { clockOf, type Plan } from "./scheduling-clock.ts";
import type { Tasks } from "./scheduling-tasks.ts";

/** The order of sends on links, as stage 3 takes it from stage 2. */
export interface FixedOrder {
  /** [tasks] When the message of the task starts and ends in the plan that the order is from. */
  readonly startPs: Float64Array;
  readonly endPs: Float64Array;
  /** Pairs of a route that follow each other on all its links: they may go together. */
  readonly together: readonly (readonly [number, number])[];
  /** Pairs of different routes that follow each other on a link. */
  readonly apart: readonly (readonly [number, number])[];
}

/**
 * Returns the order of the plan's tasks; those of one message by when they are there. Null where a link carries several
 * messages at once: which of its lanes a message takes is then no matter of order. O(uses log uses).
 */
export function fixedOrder(tasks: Tasks, plan: Plan): FixedOrder | null {
  const { count, route, before, lanes } = tasks;
  const { useOffset, resource, laneOffset } = lanes;
  const clock = clockOf(tasks);
  clock.run(plan);
  const startPs = Float64Array.from(plan.leader, (message) => clock.startPs[message]);
  const endPs = Float64Array.from(plan.leader, (message) => clock.endPs[message]);
  const readyPs = new Float64Array(count);
  for (let task = 0; task < count; task++) {
    for (let i = before.offset[task]; i < before.offset[task + 1]; i++) {
      readyPs[task] = Math.max(readyPs[task], endPs[before.items[i]]);
    }
  }
  const sequence = Int32Array.from({ length: count }, (_, task) => task).sort(
    (a, b) => startPs[a] - startPs[b] || plan.leader[a] - plan.leader[b] || readyPs[a] - readyPs[b] || a - b,
  );
  const keys: number[] = [];
  const users: number[] = [];
  for (const task of sequence) {
    for (let i = useOffset[route[task]]; i < useOffset[route[task] + 1]; i++) {
      if (laneOffset[resource[i] + 1] - laneOffset[resource[i]] > 1) return null;
      keys.push(resource[i]);
      users.push(task);
    }
  }
  const byResource = groupedBy(Int32Array.from(keys), laneOffset.length - 1);
  /** How many resources see the second task right after the first: all of the route's, or there is one in between. */
  const followed = new Map<number, number>();
  const apart = new Map<number, readonly [number, number]>();
  for (let k = 0; k + 1 < byResource.offset.length; k++) {
    for (let i = byResource.offset[k] + 1; i < byResource.offset[k + 1]; i++) {
      const [a, b] = [users[byResource.items[i - 1]], users[byResource.items[i]]];
      const pair = a * count + b;
      followed.set(pair, (followed.get(pair) ?? 0) + 1);
      apart.set(pair, [a, b]);
    }
  }
  const together: (readonly [number, number])[] = [];
  for (const [pair, [a, b]] of apart) {
    const uses = useOffset[route[a] + 1] - useOffset[route[a]];
    if (route[a] !== route[b] || followed.get(pair) !== uses) continue;
    together.push([a, b]);
    apart.delete(pair);
  }
  return { startPs, endPs, together, apart: [...apart.values()] };
}
