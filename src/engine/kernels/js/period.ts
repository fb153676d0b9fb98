import { CancelledError } from "../../../base/errors.ts";
import { draw } from "../../../base/random.ts";
import type { CancelFlag, PeriodProblem, PeriodTimetable } from "../../contract/kernels.ts";
import { STATUS } from "../status.ts";
import { group, type Lists, NONE } from "./lists.ts";

const POLL_EVENTS = 4096;

/** The trees rooted: `entry` is written, and keys where starts come. */
interface Rooted {
  readonly incident: Lists;
  /** [trees x NPUs] NPUs below that have not arrived. */
  readonly waiting: Int32Array;
}

const otherEnd = ({ tail, head }: PeriodProblem, edge: number, npu: number): number =>
  tail[edge] === npu ? head[edge] : tail[edge];

/** Roots all trees in their middles; null where one does not span all NPUs. */
function rooted(problem: PeriodProblem, { entry: entries, startPs }: PeriodTimetable): Rooted | null {
  const { npuCount, treeCount, tail, head, serialPs, latencyPs, used: uses, shakePs, seed, turn } = problem;
  const edges = tail.length;
  const incident = group(Int32Array.from([...tail, ...head]), npuCount);
  const waiting = new Int32Array(treeCount * npuCount);
  const order = new Int32Array(npuCount);
  const hops = new Int32Array(npuCount);
  const entry = new Int32Array(npuCount);
  const above = new Float64Array(npuCount);
  const below = new Float64Array(npuCount);

  /** Walks from an NPU by hops through the edges of a tree; returns whether it reaches all. */
  const walk = (used: Uint8Array, first: number): boolean => {
    hops.fill(NONE);
    order[0] = first;
    hops[first] = 0;
    entry[first] = NONE;
    let reached = 1;
    for (let at = 0; at < reached; at++) {
      const npu = order[at];
      for (let k = incident.offset[npu]; k < incident.offset[npu + 1]; k++) {
        const edge = incident.items[k] % edges;
        if (used[edge] === 0) continue;
        const next = otherEnd(problem, edge, npu);
        if (hops[next] >= 0) continue;
        hops[next] = hops[npu] + 1;
        entry[next] = edge;
        order[reached++] = next;
      }
    }
    return reached === npuCount;
  };

  const shaken = (key: number, job: number): number =>
    Math.fround(key + (shakePs * draw(seed, turn, job)) / 4294967296);

  for (let tree = 0; tree < treeCount; tree++) {
    const used = uses.subarray(tree * edges, (tree + 1) * edges);
    if (used.reduce((sum, use) => sum + use, 0) !== npuCount - 1) return null;
    if (!walk(used, 0) || !walk(used, order[npuCount - 1])) return null;
    let middle = order[npuCount - 1];
    for (let steps = hops[middle] >> 1; steps > 0; steps--) middle = otherEnd(problem, entry[middle], middle);
    walk(used, middle);
    below.fill(0);
    above[middle] = 0;
    for (let at = 1; at < npuCount; at++) {
      const npu = order[at];
      const up = otherEnd(problem, entry[npu], npu);
      above[npu] = above[up] + serialPs[entry[npu]] + latencyPs[entry[npu]];
      waiting[tree * npuCount + up]++;
    }
    for (let at = npuCount - 1; at > 0; at--) {
      const npu = order[at];
      const up = otherEnd(problem, entry[npu], npu);
      below[up] = Math.max(below[up], below[npu] + serialPs[entry[npu]] + latencyPs[entry[npu]]);
    }
    for (let npu = 0; npu < npuCount; npu++) {
      const edge = entry[npu];
      entries[tree * npuCount + npu] = edge;
      const up = 2 * tree * npuCount + npu;
      const down = up + npuCount;
      startPs[up] = edge < 0 ? -1 : shaken(above[npu] + below[middle], up);
      startPs[down] = edge < 0 ? -1 : shaken(serialPs[edge] + latencyPs[edge] + below[npu], down);
    }
  }
  return { incident, waiting };
}

/** The cells of every direction of every edge in a period, its slot after slot; null where some have too few for their jobs. */
function cellsOf({ tail, serialPs, periodPs, treeCount, used }: PeriodProblem) {
  const edges = tail.length;
  const load = new Int32Array(edges);
  for (let i = 0; i < treeCount; i++) for (let e = 0; e < edges; e++) load[e] += used[i * edges + e];
  const begin = new Int32Array(2 * edges + 1);
  for (let e = 0; e < edges; e++) {
    const cells = Math.floor(periodPs / serialPs[e]);
    if (load[e] > cells) return null;
    begin[2 * e + 1] = begin[2 * e] + Math.ceil(cells / 32);
    begin[2 * e + 2] = begin[2 * e + 1] + Math.ceil(cells / 32);
  }
  /** [words] a bit for each free cell, direction by direction. */
  const free = new Int32Array(begin[2 * edges]).fill(-1);
  for (let direction = 0; direction < 2 * edges; direction++) {
    const cells = Math.floor(periodPs / serialPs[direction >> 1]);
    if (cells % 32 !== 0) free[begin[direction + 1] - 1] = (1 << (cells % 32)) - 1;
  }
  /** Returns the first free cell of a direction from one on; behind all of them where there is none. */
  const freeFrom = (direction: number, cell: number): number => {
    const first = begin[direction];
    const words = begin[direction + 1] - first;
    for (let w = Math.floor(cell / 32); w < words; w++) {
      const bits = free[first + w] & (w * 32 < cell ? -1 << (cell & 31) : -1);
      if (bits !== 0) return 32 * w + 31 - Math.clz32(bits & -bits);
    }
    return 32 * words;
  };
  return {
    /** Returns when the next free cell of a direction begins, now or later. */
    nextPs(direction: number, now: number): number {
      const slot = serialPs[direction >> 1];
      const behind = 32 * (begin[direction + 1] - begin[direction]);
      const period = Math.floor(now / periodPs) * periodPs;
      const cell = freeFrom(direction, Math.min(behind, Math.ceil((now - period) / slot)));
      if (cell < behind) return period + cell * slot;
      return period + periodPs + freeFrom(direction, 0) * slot;
    },
    take(direction: number, now: number): void {
      const cell = Math.floor((now % periodPs) / serialPs[direction >> 1] + 0.5);
      free[begin[direction] + (cell >> 5)] &= ~(1 << (cell & 31));
    },
  };
}

/**
 * The twin of native/kernels/period.h, with one heap of events in place of its calendar: the same timetable, written to `out`;
 * returns the status.
 */
export function periodJs(problem: PeriodProblem, out: PeriodTimetable, cancel?: CancelFlag): number {
  const { npuCount, treeCount, tail, serialPs, latencyPs } = problem;
  const { entry, startPs } = out;
  const cells = cellsOf(problem);
  const trees = cells === null ? null : rooted(problem, out);
  if (cells === null || trees === null) return STATUS.badArgument;
  const { incident, waiting } = trees;
  const jobs = 2 * npuCount * treeCount;
  const directions = 2 * tail.length;
  /** [directions] ready jobs, the greatest key first, of equal ones the first. */
  const ready = Array.from({ length: directions }, () => new Heap());
  /** [directions] the free cell next to the first of its ready jobs; -1 without any. */
  const planned = new Float64Array(directions).fill(-1);
  /** Arrivals of jobs, and behind them in number directions that start one. */
  const events = new Heap();

  const plan = (direction: number, time: number): void => {
    planned[direction] = time;
    events.add(time, jobs + direction);
  };
  const offer = (job: number, direction: number, now: number): void => {
    ready[direction].add(-startPs[job], job);
    const at = cells.nextPs(direction, now);
    if (planned[direction] < 0 || planned[direction] > at) plan(direction, at);
  };
  /** An NPU has the result: those below it are to receive it. */
  const spread = (tree: number, npu: number, now: number): void => {
    for (let k = incident.offset[npu]; k < incident.offset[npu + 1]; k++) {
      const edge = incident.items[k] % tail.length;
      const below = otherEnd(problem, edge, npu);
      if (entry[tree * npuCount + below] !== edge || entry[tree * npuCount + npu] === edge) continue;
      offer((2 * tree + 1) * npuCount + below, 2 * edge + (tail[edge] === npu ? 0 : 1), now);
    }
  };
  /** All NPUs below have sent. */
  const summed = (tree: number, npu: number, now: number): void => {
    const edge = entry[tree * npuCount + npu];
    if (edge < 0) spread(tree, npu, now);
    else offer(2 * tree * npuCount + npu, 2 * edge + (tail[edge] === npu ? 0 : 1), now);
  };
  const arrive = (job: number, now: number): void => {
    const tree = Math.floor(job / (2 * npuCount));
    const end = job - 2 * npuCount * tree;
    if (end >= npuCount) {
      spread(tree, end - npuCount, now);
      return;
    }
    const up = otherEnd(problem, entry[tree * npuCount + end], end);
    if (--waiting[tree * npuCount + up] === 0) summed(tree, up, now);
  };
  const start = (direction: number, now: number): void => {
    if (planned[direction] !== now) return;
    const job = ready[direction].take();
    startPs[job] = now;
    cells.take(direction, now);
    events.add(now + serialPs[direction >> 1] + latencyPs[direction >> 1], job);
    planned[direction] = -1;
    if (ready[direction].size > 0) plan(direction, cells.nextPs(direction, now));
  };

  for (let at = 0; at < waiting.length; at++) {
    if (waiting[at] === 0) summed(Math.floor(at / npuCount), at % npuCount, 0);
  }
  for (let taken = 0; events.size > 0; taken++) {
    if (taken % POLL_EVENTS === 0 && cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
    const now = events.leastKey;
    if (now > Number.MAX_SAFE_INTEGER) return STATUS.timeOverflow;
    const event = events.take();
    if (event < jobs) arrive(event, now);
    else start(event - jobs, now);
  }
  return STATUS.ok;
}

/** A heap of numbers by key, the least first, of equal keys the least number. */
class Heap {
  readonly #keys: number[] = [];
  readonly #items: number[] = [];

  get size(): number {
    return this.#items.length;
  }

  get leastKey(): number {
    return this.#keys[0];
  }

  add(key: number, item: number): void {
    let at = this.#items.length;
    this.#keys.push(key);
    this.#items.push(item);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!this.#before(key, item, above)) break;
      this.#put(at, this.#keys[above], this.#items[above]);
      at = above;
    }
    this.#put(at, key, item);
  }

  /** Removes the least and returns it. */
  take(): number {
    const least = this.#items[0];
    const key = this.#keys.pop() as number;
    const item = this.#items.pop() as number;
    const size = this.#items.length;
    if (size === 0) return least;
    let at = 0;
    for (let child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && this.#before(this.#keys[child + 1], this.#items[child + 1], child)) child++;
      if (!this.#before(this.#keys[child], this.#items[child], -1, key, item)) break;
      this.#put(at, this.#keys[child], this.#items[child]);
      at = child;
    }
    this.#put(at, key, item);
    return least;
  }

  #before(key: number, item: number, at: number, otherKey = this.#keys[at], other = this.#items[at]): boolean {
    return key !== otherKey ? key < otherKey : item < other;
  }

  #put(at: number, key: number, item: number): void {
    this.#keys[at] = key;
    this.#items[at] = item;
  }
}
