import { draw } from "../../base/random.ts";
import { groupedBy, type Heap, heap } from "../../model/graph/graph.ts";
import { type Clock, clockOf, join, type Plan, singles, type Tasks, turnedTasks } from "./scheduling.ts";
import { keysFromStarts, type Planned, type Reroute, searched } from "./scheduling-search.ts";

export interface PlanOptions {
  readonly seed: number;
  /** Tasks that may be timed, over all plans tried; about 1e7 take a second. */
  readonly budget: number;
  /** [routes] 1: from box to box. */
  readonly leavesBox: Uint8Array;
  /** No plan of the sketch ends sooner; 0 where nothing is known. */
  readonly leastPs: number;
  readonly reroute?: Reroute | undefined;
  /** Asked now and then: whether to end with what is found. */
  readonly isOver?: (() => boolean) | undefined;
  /** As in SynthesisContext. */
  readonly breathe?: (() => Promise<void>) | undefined;
  /** A plan to start from as well. */
  readonly known?: Plan | undefined;
}

/** A plan and the order that it began with. */
export interface NamedPlan extends Planned {
  readonly name: string;
  /** No plan ends sooner, of these ways where ways are fixed. */
  readonly boundPs: number;
}

/** Most chunks of a message that list schedules are made with. */
const MOST_TOGETHER = [1, Number.POSITIVE_INFINITY, 2, 4] as const;
/** Local searches, one for this many tries, each with an equal part of most of them; the rest go on from the best. */
const TRIES_OF_SEARCH = 16_000;
const LEAST_SEARCHES = 3;
const MOST_SEARCHES = 12;
const PART_OF_SEARCHES = 0.75;
/** They begin with the best this many plans in turn. */
const STARTS = 4;
/** List schedules may take this part of the budget; one costs as much as this many timings. */
const PART_OF_LISTS = 0.3;
const COST_OF_LIST = 6;

/**
 * Returns the best plan of list schedules and of local search from the best of them. Each list schedule is made forwards, and
 * backwards in time from the ends, whose starts are the keys of a forward one. O(budget).
 */
export async function planned(
  tasks: Tasks,
  { seed, budget, leavesBox, leastPs: least, reroute, known, isOver, breathe }: PlanOptions,
): Promise<NamedPlan> {
  // a search that changes ways may end sooner than these ways allow
  const boundPs = Math.max(least, reroute === undefined ? pathsOf(tasks).boundPs : 0);
  const clock = clockOf(tasks);
  if (tasks.count === 0)
    return { tasks, plan: singles(new Float64Array(0)), endPs: 0, tries: 0, name: "nothing to send", boundPs: 0 };
  const found: { readonly plan: Plan; readonly endPs: number; readonly cost: number; readonly name: string }[] = [];
  const add = (plan: Plan, name: string): void => {
    const endPs = clock.run(plan);
    if (endPs === Number.POSITIVE_INFINITY) return;
    keysFromStarts(plan, clock);
    found.push({ plan, endPs, cost: clock.sumOfEnds(), name });
  };
  if (known !== undefined) add(known, "found before");
  const back = turnedTasks(tasks, { ...tasks.routes, source: tasks.routes.target, target: tasks.routes.source }, false);
  const backClock = clockOf(back);
  const most = Math.max(2, Math.floor((PART_OF_LISTS * budget) / (2 * COST_OF_LIST * Math.max(1, tasks.count))));
  const variants = variantsOf(tasks, seed).slice(0, most);
  const backVariants = variantsOf(back, seed);
  for (const [i, variant] of variants.entries()) {
    add(listed(tasks, variant, leavesBox), variant.name);
    const turned = listed(back, backVariants[i], leavesBox);
    add(mirrored(turned, backClock), `backwards, ${variant.name}`);
    await breathe?.();
    if (found.some(({ endPs }) => endPs <= boundPs) || isOver?.() === true) break;
  }
  found.sort((a, b) => a.endPs - b.endPs || a.cost - b.cost);
  const tries = Math.floor(((1 - PART_OF_LISTS) * budget) / Math.max(1, tasks.count));
  const searches = Math.max(LEAST_SEARCHES, Math.min(MOST_SEARCHES, Math.floor(tries / TRIES_OF_SEARCH)));
  const each = Math.floor((PART_OF_SEARCHES * tries) / searches);
  let best: Planned = { tasks, ...(found[0] as (typeof found)[number]), tries: 0 };
  let name = found[0].name;
  let ran = found.length;
  const search = async (from: Planned, how: string, most: number, number: number): Promise<void> => {
    const next = await searched(from.tasks, from.plan, {
      tries: most,
      boundPs,
      seed: seed + number,
      reroute,
      isOver,
      breathe,
    });
    ran += next.tries;
    if (next.endPs >= best.endPs) return;
    best = next;
    name = how;
  };
  for (let i = 0; i < searches; i++) {
    const one = found[i % Math.min(STARTS, found.length)];
    await search({ ...one, tasks, tries: 0 }, one.name, each, i);
  }
  await search(best, name, tries - searches * each, searches);
  return { ...best, name, boundPs, tries: ran };
}

/** Returns the plan of tasks whose turned ones have this plan: what ends last starts first. */
function mirrored(plan: Plan, clock: Clock): Plan {
  clock.run(plan);
  return { ...plan, key: clock.endPs.map((end) => -end) };
}

/** Returns list schedules to try, those that differ most first. */
function variantsOf(tasks: Tasks, seed: number): OrderVariant[] {
  const paths = pathsOf(tasks);
  const priorities = TIES.map((tie) => ({ tie, priority: longestPathFirst(tasks, paths, tie, seed) }));
  const merges = MOST_TOGETHER.flatMap((mostInside) =>
    MOST_TOGETHER.map((mostBetween) => ({ mostInside, mostBetween })),
  );
  return merges.flatMap((most) =>
    priorities.map(({ tie, priority }) => ({ name: `longest path first, equal ones ${tie}`, priority, ...most })),
  );
}

/**
 * Stage 2, heuristic ordering (TACCL, section 5.1 step 2 and appendix B.2), as list scheduling: whenever links are free, the
 * ready send of the highest priority leaves. The paper picks paths round by round with running estimates of link and chunk
 * times, and takes sends in the order of the paths on NVLinks and in the opposite one behind NVSwitches; here the order of
 * equal paths is a variant like others. Sends of a route that are ready together may go as one message, which the paper
 * leaves to stage 3.
 */
interface OrderVariant {
  readonly name: string;
  /** [tasks] Less goes first. */
  readonly priority: Float64Array;
  /** Most chunks of a message within boxes and between them. */
  readonly mostInside: number;
  readonly mostBetween: number;
}

/** Ways to order sends whose paths are equally long. */
const TIES = ["in order of paths", "in the opposite order", "by distance of ranks", "at random"] as const;
type Tie = (typeof TIES)[number];

/**
 * Returns priorities: chunks with the longest path from now first, equal ones with the shortest path until now first (TACCL,
 * section 5.1), then as `tie` says. "by distance of ranks" makes a round of each distance, as direct algorithms do, so that
 * the ports of a switch do not wait for each other. O(tasks log tasks).
 */
export function longestPathFirst(tasks: Tasks, { headPs, tailPs }: Paths, tie: Tie, seed: number): Float64Array {
  const { count, chunk, route, routes } = tasks;
  const npus = routes.source.reduce((most, npu) => Math.max(most, npu), 0) + 1;
  const tieOf = (task: number): number => {
    switch (tie) {
      case "in order of paths":
        return chunk[task];
      case "in the opposite order":
        return -chunk[task];
      case "by distance of ranks":
        return (routes.target[route[task]] - routes.source[route[task]] + npus) % npus;
      case "at random":
        return draw(seed, 0, task);
    }
  };
  const ties = Float64Array.from({ length: count }, (_, task) => tieOf(task));
  const order = Int32Array.from({ length: count }, (_, task) => task).sort(
    (a, b) => tailPs[b] - tailPs[a] || headPs[a] - headPs[b] || ties[a] - ties[b] || a - b,
  );
  const priority = new Float64Array(count);
  for (let place = 0; place < count; place++) priority[order[place]] = place;
  return priority;
}

/**
 * Returns the plan of the list schedule: messages with their starts as keys. At each time the routes with something to send
 * go in order of their best send; a route takes up to the limit of what is ready. O(tasks (log tasks + routes of a link)).
 */
export function listed(tasks: Tasks, variant: OrderVariant, leavesBox: Uint8Array): Plan {
  const { count, route, after, before, follower, lanes, times } = tasks;
  const { priority, mostInside, mostBetween } = variant;
  const { useOffset, resource, units, laneOffset } = lanes;
  const plan = singles(new Float64Array(count));
  const idle = Int32Array.from({ length: laneOffset.length - 1 }, (_, k) => laneOffset[k + 1] - laneOffset[k]);
  const routeCount = useOffset.length - 1;
  const queues: (Heap | undefined)[] = new Array(routeCount);
  const users = usersOf(tasks);
  const pending = new Int32Array(count);
  for (let task = 0; task < count; task++) {
    pending[task] += before.offset[task + 1] - before.offset[task];
    if (follower[task] >= 0) pending[follower[task]]++;
  }
  const ends = heap();
  const stirred = new Set<number>();
  const best = new Float64Array(routeCount);
  const enqueue = (task: number): void => {
    const over = route[task];
    let queue = queues[over];
    if (queue === undefined) queue = queues[over] = heap();
    queue.add(priority[task], task);
    stirred.add(over);
  };
  const fits = (over: number): boolean => {
    for (let i = useOffset[over]; i < useOffset[over + 1]; i++) if (idle[resource[i]] < units[i]) return false;
    return true;
  };
  const occupy = (over: number, sign: 1 | -1): void => {
    for (let i = useOffset[over]; i < useOffset[over + 1]; i++) idle[resource[i]] -= sign * units[i];
  };
  const release = (task: number): void => {
    if (--pending[task] === 0) enqueue(task);
  };
  /** Sends what is first in the route's queue; followers of what leaves may leave with it. */
  const depart = (over: number, now: number): void => {
    const queue = queues[over] as Heap;
    const leader = queue.take();
    const most = leavesBox[over] === 1 ? mostBetween : mostInside;
    let many = 0;
    for (let task = leader; task >= 0; task = many < most ? queue.take() : -1) {
      if (many++ > 0) join(plan, leader, task);
      if (follower[task] >= 0) release(follower[task]);
    }
    plan.key[leader] = now;
    occupy(over, 1);
    ends.add(now + times.latencyPs[over] + many * times.serialPs[over], leader);
  };
  for (let task = 0; task < count; task++) if (pending[task] === 0) enqueue(task);
  for (let now = 0; ; now = ends.key()) {
    while (ends.key() === now && ends.size() > 0) {
      const leader = ends.take();
      occupy(route[leader], -1);
      for (let i = useOffset[route[leader]]; i < useOffset[route[leader] + 1]; i++) {
        for (let j = users.offset[resource[i]]; j < users.offset[resource[i] + 1]; j++) stirred.add(users.items[j]);
      }
      let task = leader;
      do {
        for (let i = after.offset[task]; i < after.offset[task + 1]; i++) release(after.items[i]);
        task = plan.next[task];
      } while (task !== leader);
    }
    const able = [...stirred].filter((over) => (queues[over]?.size() ?? 0) > 0);
    stirred.clear();
    for (const over of able) best[over] = (queues[over] as Heap).key();
    able.sort((a, b) => best[a] - best[b]);
    for (const over of able) if (fits(over)) depart(over, now);
    stirred.clear();
    if (ends.size() === 0) return plan;
  }
}

/** Returns the routes with tasks that use each resource. */
function usersOf({ lanes, route }: Tasks): { readonly offset: Int32Array; readonly items: Int32Array } {
  const { useOffset, resource, laneOffset } = lanes;
  const used = new Uint8Array(useOffset.length - 1);
  for (const over of route) used[over] = 1;
  const routes: number[] = [];
  const keys: number[] = [];
  for (let over = 0; over < used.length; over++) {
    for (let i = useOffset[over]; used[over] === 1 && i < useOffset[over + 1]; i++) {
      routes.push(over);
      keys.push(resource[i]);
    }
  }
  const { offset, items } = groupedBy(Int32Array.from(keys), laneOffset.length - 1);
  return { offset, items: items.map((i) => routes[i]) };
}

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
