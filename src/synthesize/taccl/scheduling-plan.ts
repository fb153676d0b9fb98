import { listed, longestPathFirst, type OrderVariant, TIES } from "./ordering.ts";
import { pathsOf } from "./ordering-paths.ts";
import { type Clock, clockOf, type Plan, singles } from "./scheduling-clock.ts";
import { keysFromStarts } from "./scheduling-moves.ts";
import { type Planned, type Reroute, searched } from "./scheduling-search.ts";
import { type Tasks, turnedTasks } from "./scheduling-tasks.ts";

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
/** Local searches, one for so many tries, each with an equal part of most of them; the rest go on from the best. */
const TRIES_OF_SEARCH = 16_000;
const LEAST_SEARCHES = 3;
const MOST_SEARCHES = 12;
const PART_OF_SEARCHES = 0.75;
/** They begin with the best so many plans in turn. */
const STARTS = 4;
/** List schedules may take this part of the budget; one costs as much as so many timings. */
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
