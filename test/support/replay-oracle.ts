import { REPLAY_MODE, type ReplayOutcome, type ReplayProblem } from "../../src/model/replay/problem.ts";

/** The replay from the words of its definition: lists that are searched, an event list that is sorted at every event. */

interface Timeline {
  readonly start: number[];
  readonly end: number[];
  /** By row and hop. */
  readonly hops: number[][];
  readonly busy: number[];
}

const rowsOf = (problem: ReplayProblem): number[] => [...problem.route.keys()];

const linksOf = ({ links, linkOffset, route }: ReplayProblem, i: number): number[] => [
  ...links.subarray(linkOffset[route[i]], linkOffset[route[i] + 1]),
];

const collectiveOf = ({ firstChunk, chunk }: ReplayProblem, i: number): number =>
  firstChunk.findIndex((first, k) => first <= chunk[i] && chunk[i] < firstChunk[k + 1]);

const sums = (problem: ReplayProblem, i: number): boolean => problem.reduces[collectiveOf(problem, i)] === 1;

/** Returns whether the source of a row holds its chunk at the start. */
function isInitial({ holders, setOffset, setMembers, chunk, route, routeSource }: ReplayProblem, i: number): boolean {
  const set = holders[chunk[i]];
  return setMembers.subarray(setOffset[set], setOffset[set + 1]).includes(routeSource[route[i]]);
}

/** Returns the arrivals of the chunk that the plan has at the source of a row by its departure. */
function plannedBefore(problem: ReplayProblem, i: number): number[] {
  const { chunk, route, routeSource, routeTarget, plannedStart, plannedEnd } = problem;
  return rowsOf(problem).filter(
    (j) => chunk[j] === chunk[i] && routeTarget[route[j]] === routeSource[route[i]] && plannedEnd[j] <= plannedStart[i],
  );
}

/** Returns the first row whose chunk is never at its source, or -1. */
const neverThere = (problem: ReplayProblem): number =>
  rowsOf(problem).findIndex((i) => !isInitial(problem, i) && plannedBefore(problem, i).length === 0);

/** Tries, row by row, every instant at which something starts or ends. */
function cutThrough(problem: ReplayProblem): Timeline {
  const { route, routeSource, serial, delay, cost, capacity, linkOffset } = problem;
  const start: number[] = [];
  const end: number[] = [];
  const wayOf = (i: number): number => collectiveOf(problem, i) * routeSource.length + route[i];
  const freeOf = (i: number): number => start[i] + serial[wayOf(i)];
  const costOn = (i: number, link: number): number => {
    const hop = linksOf(problem, i).indexOf(link);
    return hop < 0 ? 0 : cost[linkOffset[route[i]] + hop];
  };
  for (const i of rowsOf(problem)) {
    const arrivals = plannedBefore(problem, i).map((j) => end[j]);
    const ready = sums(problem, i) ? Math.max(0, ...arrivals) : isInitial(problem, i) ? 0 : Math.min(...arrivals);
    const earlier = rowsOf(problem).filter((j) => j < i);
    const fits = (time: number): boolean =>
      time >= ready &&
      earlier.every((j) => route[j] !== route[i] || freeOf(j) <= time) &&
      linksOf(problem, i).every((link) => {
        const others = earlier.filter((j) => linksOf(problem, j).includes(link));
        const used = others.filter((j) => freeOf(j) > time).reduce((sum, j) => sum + costOn(j, link), 0);
        return others.every((j) => start[j] <= time) && used + costOn(i, link) <= capacity[link];
      });
    const instants = [ready, ...earlier.flatMap((j) => [start[j], freeOf(j)])].sort((a, b) => a - b);
    start[i] = instants.find(fits) ?? Number.NaN;
    end[i] = start[i] + delay[wayOf(i)];
  }
  const busy = Array.from(
    capacity,
    (all, link) => rowsOf(problem).reduce((sum, i) => sum + serial[wayOf(i)] * costOn(i, link), 0) / all,
  );
  return { start, end, hops: [], busy };
}

type Happening = { readonly time: number; readonly turn: number } & (
  | { readonly arriving: number }
  | { readonly freed: number }
);

/** Runs events one by one, each time the least by (time, turn of being scheduled). */
function storeAndForward(problem: ReplayProblem): Timeline {
  const { mode, linkCount, chunk, route, routeSource, routeTarget, serial, delay } = problem;
  const rows = rowsOf(problem);
  const hops: number[][] = rows.map(() => []);
  const end: number[] = [];
  const busy: number[] = Array(linkCount).fill(0);
  const isBusy: boolean[] = Array(linkCount).fill(false);
  const queues: number[][] = Array.from({ length: linkCount }, () => []);
  const sent = new Set<number>();
  const events: Happening[] = [];
  let turn = 0;
  let now = 0;
  const linkAt = (i: number): number => linksOf(problem, i)[hops[i]?.length as number] as number;
  const transmit = (i: number, link: number): void => {
    const rate = collectiveOf(problem, i) * linkCount + link;
    isBusy[link] = true;
    hops[i]?.push(now);
    busy[link] += serial[rate];
    events.push({ time: now + delay[rate], turn: turn++, arriving: i });
    events.push({ time: now + serial[rate], turn: turn++, freed: link });
  };
  const enter = (i: number): void => {
    const link = linkAt(i);
    if (isBusy[link]) queues[link]?.push(i);
    else transmit(i, link);
  };
  const isReady = (i: number): boolean => {
    const planned = plannedBefore(problem, i);
    const come = planned.filter((j) => end[j] !== undefined);
    return sums(problem, i) ? come.length === planned.length : isInitial(problem, i) || come.length > 0;
  };
  const first = (i: number): number => linksOf(problem, i)[0] as number;
  const isAtHead = (i: number): boolean =>
    mode === REPLAY_MODE.firstCome || rows.every((j) => j >= i || first(j) !== first(i) || sent.has(j));
  const handOver = (head: number): void => {
    for (let i: number | undefined = head; i !== undefined && isReady(i); ) {
      sent.add(i);
      enter(i);
      const link = first(i);
      i = mode === REPLAY_MODE.firstCome ? undefined : rows.find((j) => first(j) === link && !sent.has(j));
    }
  };
  for (const i of rows) {
    if (!isAtHead(i) || !isReady(i)) continue;
    sent.add(i);
    enter(i);
  }
  const nextEvent = (): Happening | undefined => events.sort((a, b) => a.time - b.time || a.turn - b.turn).shift();
  for (let event = nextEvent(); event !== undefined; event = nextEvent()) {
    now = event.time;
    if ("freed" in event) {
      const next = queues[event.freed]?.shift();
      isBusy[event.freed] = false;
      if (next !== undefined) transmit(next, event.freed);
    } else {
      const i = event.arriving;
      if (hops[i]?.length === linksOf(problem, i).length) {
        end[i] = now;
        const place = routeTarget[route[i]];
        const waiting = rows.filter(
          (j) => !sent.has(j) && isAtHead(j) && chunk[j] === chunk[i] && routeSource[route[j]] === place,
        );
        for (const j of waiting) handOver(j);
      } else {
        enter(i);
      }
    }
  }
  return { start: hops.map(([start]) => start as number), end, hops, busy };
}

/** Returns the replay of a problem whose rows are in order. */
export function replayedByOracle(problem: ReplayProblem): ReplayOutcome {
  const row = neverThere(problem);
  if (row >= 0) return { kind: "refused", row };
  const { start, end, hops, busy } =
    problem.mode === REPLAY_MODE.cutThrough ? cutThrough(problem) : storeAndForward(problem);
  return {
    kind: "replayed",
    last: Math.max(0, ...end),
    linkBusy: Float64Array.from(busy),
    start: Float64Array.from(start),
    end: Float64Array.from(end),
    hopStart: Float64Array.from(hops.flat()),
  };
}
