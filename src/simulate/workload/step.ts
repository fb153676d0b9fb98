import { InputError, inWords } from "../../base/errors.ts";
import { type Grouped, groupedBy, heap } from "../../model/graph/graph.ts";
import type { StepTasks } from "../../model/workload/step-tasks.ts";

/** What works take. */
export interface WorkCosts {
  /** [works] picoseconds alone, whole: of a communication while it uses links. */
  readonly ps: Float64Array;
  /** [works] picoseconds until it is done, when it has left the links. */
  readonly latencyPs: Float64Array;
  /** [works] Those with a smaller number get the links first. */
  readonly priority: Int32Array;
  /** Work w, alone, takes share[k] of resource resource[k], k = offset[w] .. offset[w + 1]; shares in (0, 1]. */
  readonly offset: Int32Array;
  readonly resource: Int32Array;
  readonly share: Float64Array;
  readonly resourceCount: number;
}

/** When tasks run. */
export interface StepTimes {
  /** When the last task ends, picoseconds. */
  readonly ps: number;
  /** [tasks] picoseconds, whole numbers */
  readonly startPs: Float64Array;
  readonly endPs: Float64Array;
}

/** A communication that uses links. */
interface Flow {
  readonly task: number;
  readonly work: number;
  /** Picoseconds that it would take alone from `since` on. */
  left: number;
  rate: number;
  since: number;
  /** When it is done at this rate; Infinity while others have its links. */
  endPs: number;
}

/**
 * Returns when the tasks of a step run. A task starts when its lane is free and what it waits for is done, in the order of its
 * lane. Computations take their time. Communications that use the same resources share them: those of the first priority all run
 * at the greatest rate at which no resource gives more than it has, those that no full resource keeps back go on rising (max-min
 * fair, Bertsekas and Gallager 1992, 6.5.2), and the next priority shares what is left; none is faster than alone. So rates
 * change only when a communication begins or leaves the links. Times are rounded up to whole picoseconds at such changes. Throws
 * InputError where tasks wait for each other in a circle.
 * O(tasks log tasks + changes x communications under way x resources of each).
 */
export function simulateStep(tasks: StepTasks, costs: WorkCosts): StepTimes {
  const { lanes, work, lane, offset } = tasks;
  const count = work.length;
  const startPs = new Float64Array(count);
  const endPs = new Float64Array(count);
  const waitsFor = new Int32Array(count);
  const { offset: waiterOffset, items: waiters } = waitersOf(tasks);
  for (let t = 0; t < count; t++) waitsFor[t] = offset[t + 1] - offset[t];

  const ready = lanes.map(() => heap());
  const busy = lanes.map(() => false);
  /** In lanes in order: which of their tasks comes next. */
  const inLane = groupedBy(lane, lanes.length);
  const next = new Int32Array(lanes.length);
  const events = heap();
  const flows: Flow[] = [];
  const rates = ratesOf(costs);
  let changed = false;
  let done = 0;
  let last = 0;

  const enqueue = (task: number, now: number): void => {
    const own = lane[task];
    ready[own].add(lanes[own].inOrder ? task : now, task);
    touch(own, now);
  };
  const begin = (task: number, now: number): void => {
    startPs[task] = now;
    const w = work[task];
    if (costs.offset[w + 1] > costs.offset[w] && costs.ps[w] > 0) {
      flows.push({ task, work: w, left: costs.ps[w], rate: 0, since: now, endPs: Number.POSITIVE_INFINITY });
      changed = true;
    } else events.add(now + costs.ps[w] + costs.latencyPs[w], task);
  };
  /** Starts what a lane can start. */
  const touch = (own: number, now: number): void => {
    if (busy[own] || ready[own].size() === 0) return;
    if (lanes[own].inOrder) {
      const head = inLane.items[inLane.offset[own] + next[own]];
      if (ready[own].key() !== head) return;
      next[own]++;
    }
    busy[own] = true;
    begin(ready[own].take(), now);
  };
  const finish = (task: number, now: number): void => {
    endPs[task] = now;
    last = now;
    done++;
    busy[lane[task]] = false;
    for (let k = waiterOffset[task]; k < waiterOffset[task + 1]; k++) {
      if (--waitsFor[waiters[k]] === 0) enqueue(waiters[k], now);
    }
    touch(lane[task], now);
  };

  for (let t = 0; t < count; t++) if (waitsFor[t] === 0) enqueue(t, 0);
  for (let now = 0; done < count; ) {
    if (changed) rates(flows, now);
    changed = false;
    now = events.key();
    for (const flow of flows) if (flow.endPs < now) now = flow.endPs;
    if (now === Number.POSITIVE_INFINITY) {
      throw new InputError(
        "the tasks of the step",
        "none that wait for each other in a circle",
        inWords(`${count - done} that cannot begin`),
      );
    }
    for (let i = flows.length - 1; i >= 0; i--) {
      if (flows[i].endPs > now) continue;
      events.add(now + costs.latencyPs[flows[i].work], flows[i].task);
      flows.splice(i, 1);
      changed = true;
    }
    while (events.key() === now) finish(events.take(), now);
  }
  return { ps: last, startPs, endPs };
}

/** Returns who waits for each task. */
function waitersOf({ offset, awaited }: StepTasks): Grouped {
  const waiter = new Int32Array(awaited.length);
  for (let t = 0; t + 1 < offset.length; t++) waiter.fill(t, offset[t], offset[t + 1]);
  const places = groupedBy(awaited, offset.length - 1);
  return { offset: places.offset, items: places.items.map((row) => waiter[row]) };
}

/**
 * Returns a function that gives flows their rates from `now` on. Progressive filling, priority by priority: the level at which
 * the first resource is full is the rate of its flows, the others go on without what it gave them. Levels above 1 are 1.
 */
function ratesOf({
  priority,
  offset,
  resource,
  share,
  resourceCount,
}: WorkCosts): (flows: Flow[], now: number) => void {
  const left = new Float64Array(resourceCount);
  const wanted = new Float64Array(resourceCount);
  const level = (r: number): number => (wanted[r] > 0 ? Math.max(0, left[r]) / wanted[r] : Number.POSITIVE_INFINITY);
  return (flows, now) => {
    const waiting = [...flows].sort((a, b) => priority[a.work] - priority[b.work] || a.task - b.task);
    for (const { work } of waiting) for (let k = offset[work]; k < offset[work + 1]; k++) left[resource[k]] = 1;
    for (let from = 0; from < waiting.length; ) {
      const first = priority[waiting[from].work];
      let to = from;
      while (to < waiting.length && priority[waiting[to].work] === first) to++;
      let rising = waiting.slice(from, to);
      from = to;
      while (rising.length > 0) {
        for (const { work } of rising) for (let k = offset[work]; k < offset[work + 1]; k++) wanted[resource[k]] = 0;
        for (const { work } of rising)
          for (let k = offset[work]; k < offset[work + 1]; k++) wanted[resource[k]] += share[k];
        let least = 1;
        for (const { work } of rising)
          for (let k = offset[work]; k < offset[work + 1]; k++) least = Math.min(least, level(resource[k]));
        const isFull = ({ work }: Flow): boolean => {
          if (least === 1) return true;
          for (let k = offset[work]; k < offset[work + 1]; k++) if (level(resource[k]) <= least) return true;
          return false;
        };
        const full = rising.filter(isFull);
        rising = rising.filter((flow) => !isFull(flow));
        for (const flow of full) {
          setRate(flow, least, now);
          for (let k = offset[flow.work]; k < offset[flow.work + 1]; k++) left[resource[k]] -= least * share[k];
        }
      }
    }
  };
}

/** Gives a flow another rate. */
function setRate(flow: Flow, rate: number, now: number): void {
  flow.left -= (now - flow.since) * flow.rate;
  flow.since = now;
  if (rate === flow.rate && flow.endPs !== Number.POSITIVE_INFINITY) return;
  flow.rate = rate;
  // what is left of a millionth of a picosecond is a rounding
  flow.endPs = rate === 0 ? Number.POSITIVE_INFINITY : now + Math.max(0, Math.ceil(flow.left / rate - 1e-6));
}
