import { random } from "../../base/random.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import type { Move } from "./found-rows.ts";
import { type FlowProblem, firstFrom, type Resource } from "./problem.ts";
import type { SpaceTimeMap } from "./space-time.ts";
import { type Block, type Columns, EXCHANGE, MEET } from "./windows.ts";

/**
 * All-reduces by negotiation (PathFinder: McMurchie and Ebeling 1995, there for wires of an FPGA): every chunk takes trees
 * in and out of one NPU, or of two neighbours that exchange their sums, by a given time, as if it were alone but for prices.
 * What is used beyond its capacity costs, and costs more with every round in which it was, so that chunks that have other
 * ways leave it. Under a group of maps only one chunk of each orbit is free, and its images come with it.
 */

export interface TreeProblem {
  readonly problem: FlowProblem;
  readonly resources: readonly Resource[];
  /** Where and when chunks may meet, and by when all ends. */
  readonly columns: Columns;
  /** The identity first. */
  readonly group: readonly SpaceTimeMap[];
  readonly seed: number;
}

/** Goes on as long as it is asked to. */
export interface TreeNegotiation {
  /**
   * Chooses trees anew for one chunk whose resources are overused; returns the schedule, in order of start, once none are,
   * else null. O(meetings x NPUs x ticks x (NPUs + routes)).
   */
  step(): Move[] | null;
}

/** So many meetings are tried at a step. */
const MEETINGS = 8;
/** Price of a transfer over what is free, so that of equals the shortest is taken. */
const LEAST_PRICE = 1e-3;
/** By how much a unit of overuse makes a resource dearer, each round. */
const GRUDGE = 0.5;
/** Prices are sums of fractions: closer ones are equal. */
const EQUAL = 1e-9;
const NOWHERE = 1e9;
const HELD = -2;
const WAITED = -1;

/** A place and time at which a chunk can meet. */
interface Meeting {
  readonly block: Block;
  readonly tick: number;
}

/** Transfers of a chunk: starts at route * width + tick. */
interface Trees {
  readonly meeting: Meeting;
  readonly copies: Int32Array;
  readonly sums: Int32Array;
}

/** Returns whether trees can be negotiated: all flows are all-reduces of chunks of one size among the same NPUs. */
export const areTrees = ({ flows }: FlowProblem): boolean =>
  flows.every(
    ({ kind, size, from, to }) =>
      kind === "both" && size === flows[0].size && from.join() === flows[0].from.join() && to.join() === from.join(),
  );

/** Returns a negotiation; null where a map takes some transfer to none, or nothing can meet in time. */
export function treeNegotiation({ problem, resources, columns, group, seed }: TreeProblem): TreeNegotiation | null {
  const { npuCount, routes, flows } = problem;
  const duration = problem.durations[flows[0].size];
  const { horizon, opposite } = columns;
  const last = firstFrom(columns.ticks, horizon);
  const ticks = columns.ticks.subarray(0, last + 1);
  const width = last + 1;
  const routeTotal = duration.length;
  const draws = random(seed);

  /** [routes * ticks] tick at which a transfer ends; [routes * ticks] at which one starts that ends then; -1: none. */
  const endOf = new Int32Array(routeTotal * width).fill(-1);
  const startOf = new Int32Array(routeTotal * width).fill(-1);
  for (let r = 0; r < routeTotal; r++) {
    for (let k = 0; k < last; k++) {
      const end = firstFrom(ticks, ticks[k] + duration[r]);
      if (end > last) break;
      endOf[r * width + k] = end;
      startOf[r * width + end] = k;
    }
  }

  const images = imagesUnder(group, opposite, endOf, width, last, ticks, duration);
  const meetings = meetingsOf(columns);
  if (images === null || meetings.length === 0) return null;

  /** Load, capacity and grudge of every resource at every tick; price of every transfer. */
  const load = new Float64Array(resources.length * width);
  const dearness = new Float64Array(load.length).fill(1);
  const price = new Float64Array(endOf.length).fill(LEAST_PRICE);
  const uses: { readonly at: number; readonly units: number }[][] = Array.from(duration, () => []);
  for (const [at, { route, units }] of resources.entries()) {
    for (const [i, r] of route.entries()) uses[r].push({ at, units: units[i] });
  }
  /** Images of a transfer that are the transfer itself. */
  const repeats = Float64Array.from(endOf, (_, x) => images.reduce((sum, image) => sum + (image[x] === x ? 1 : 0), 0));

  /** By how much a resource is overused, in parts of its capacity, with so many units more. */
  const excess = (at: number, cell: number, more: number): number =>
    Math.max(0, load[cell] + more - resources[at].capacity) / resources[at].capacity;
  /** What that costs: the more the more of it. */
  const fine = (at: number, cell: number, more: number): number => {
    const over = excess(at, cell, more);
    return (dearness[cell] * over * (1 + over)) / 2;
  };
  const priceOf = (x: number): number => {
    let sum = LEAST_PRICE;
    const k = x % width;
    for (const { at, units } of uses[(x - k) / width]) {
      for (let tick = k; tick < endOf[x]; tick++) {
        const cell = at * width + tick;
        sum += fine(at, cell, units * repeats[x]) - fine(at, cell, 0);
      }
    }
    return sum;
  };
  /** Prices what goes over a resource at a tick. */
  const touch = (at: number, tick: number): void => {
    for (const r of resources[at].route) {
      for (let k = tick; k >= 0; k--) {
        const end = endOf[r * width + k];
        if (end >= 0 && end <= tick) break;
        if (end >= 0) price[r * width + k] = priceOf(r * width + k);
      }
    }
  };
  /** What all overuse costs at its prices. */
  let overuse = 0;
  const use = (x: number, sign: number): void => {
    for (const image of images) {
      const y = image[x];
      const k = y % width;
      for (const { at, units } of uses[(y - k) / width]) {
        for (let tick = k; tick < endOf[y]; tick++) {
          const cell = at * width + tick;
          overuse -= fine(at, cell, 0);
          load[cell] += sign * units;
          overuse += fine(at, cell, 0);
          touch(at, tick);
        }
      }
    }
  };
  const useAll = ({ copies, sums, meeting }: Trees, sign: number): void => {
    for (const x of copies) use(x, sign);
    for (const x of sums) use(x, sign);
    for (const x of exchanged(meeting)) use(x, sign);
  };
  const exchanged = ({ block: { side, place }, tick }: Meeting): number[] =>
    side === EXCHANGE ? [place * width + tick, opposite[place] * width + tick] : [];

  const outOf = groupedBy(routes.source, npuCount);
  const into = groupedBy(routes.target, npuCount);
  const best = new Float64Array(npuCount * width);
  const via = new Int32Array(npuCount * width);
  const held = new Int32Array(npuCount);
  const by = new Int32Array(npuCount);
  let mixed = 0;

  /**
   * Uses a tree that spreads from `roots` at step `from` to all members, path by path, the cheapest first; a path may come to an
   * NPU of the tree before the tree does, and then takes its place. Backwards: a tree of sums, steps from the end.
   */
  const grow = (roots: readonly number[], from: number, backwards: boolean): Int32Array => {
    held.fill(width);
    by.fill(-1);
    for (const v of roots) held[v] = from;
    const { offset, items } = backwards ? into : outOf;
    const [near, far] = backwards ? [routes.target, routes.source] : [routes.source, routes.target];
    const members = flows[0].to;
    for (;;) {
      best.fill(NOWHERE);
      for (let v = 0; v < npuCount; v++) {
        for (let s = held[v]; s < width; s++) {
          best[v * width + s] = 0;
          via[v * width + s] = HELD;
        }
      }
      for (let s = from; s < width; s++) {
        for (let v = 0; v < npuCount; v++) {
          const here = v * width + s;
          if (s > from && s < held[v] && best[here - 1] <= best[here] + EQUAL) {
            best[here] = best[here - 1];
            via[here] = WAITED;
          }
          const paid = best[here];
          if (paid >= NOWHERE) continue;
          for (let i = offset[v]; i < offset[v + 1]; i++) {
            const r = items[i];
            const k = backwards ? startOf[r * width + last - s] : s;
            if (k < 0) continue;
            const x = r * width + k;
            if (endOf[x] < 0) continue;
            const next = backwards ? last - k : endOf[x];
            const w = far[r];
            if (next >= held[w]) continue;
            const cost = paid + price[x];
            const known = best[w * width + next];
            if (cost > known + EQUAL) continue;
            if (cost > known - EQUAL) {
              mixed = (Math.imul(0x9e3779b1, mixed) + 0x7f4a7c15) >>> 0;
              if (mixed >>> 31 === 0) continue;
            }
            best[w * width + next] = cost;
            via[w * width + next] = r;
          }
        }
      }
      let goal = -1;
      let least = NOWHERE;
      let alike = 0;
      for (const v of members) {
        if (held[v] < width) continue;
        const cost = best[v * width + last];
        if (cost < least - EQUAL) [goal, least, alike] = [v, cost, 1];
        else if (cost < least + EQUAL && draws.below(++alike) === 0) goal = v;
      }
      if (goal < 0) return by.filter((x) => x >= 0);
      let v = goal;
      for (let s = last; ; ) {
        while (via[v * width + s] === WAITED) s--;
        const r = via[v * width + s];
        if (r === HELD) break;
        if (by[v] >= 0) use(by[v], -1);
        held[v] = s;
        by[v] = r * width + (backwards ? last - s : startOf[r * width + s]);
        use(by[v], 1);
        s = backwards ? last - endOf[by[v]] : by[v] % width;
        v = near[r];
      }
    }
  };

  /** Uses trees that meet there, and returns them. */
  const grown = (meeting: Meeting): Trees => {
    const { block, tick } = meeting;
    for (const x of exchanged(meeting)) use(x, 1);
    const met = block.side === EXCHANGE;
    const roots = met ? [routes.source[block.place], routes.target[block.place]] : [block.place];
    const copies = grow(roots, met ? endOf[block.place * width + tick] : tick, false);
    return { meeting, copies, sums: grow(roots, last - tick, true) };
  };

  const chosen: (Trees | null)[] = Array.from({ length: flows.length / group.length }, () => null);
  const isOver = (trees: Trees): boolean =>
    [...trees.copies, ...trees.sums, ...exchanged(trees.meeting)].some((x) => {
      const k = x % width;
      return uses[(x - k) / width].some(({ at }) => {
        for (let tick = k; tick < endOf[x]; tick++) if (excess(at, at * width + tick, 0) > EQUAL) return true;
        return false;
      });
    });
  const rechoose = (c: number): void => {
    const known = chosen[c];
    if (known !== null) useAll(known, -1);
    let cheapest: Trees | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < MEETINGS; i++) {
      mixed = draws.next();
      const meeting = known !== null && i === 0 ? known.meeting : meetings[draws.below(meetings.length)];
      const before = overuse;
      const trees = grown(meeting);
      const cost = overuse - before + LEAST_PRICE * (trees.copies.length + trees.sums.length);
      useAll(trees, -1);
      if (cost < least) [cheapest, least] = [trees, cost];
    }
    chosen[c] = cheapest;
    if (cheapest !== null) useAll(cheapest, 1);
  };

  let waiting: number[] = [];
  /** Begins a round: overused resources become dearer. Returns whether there are none. */
  const begin = (): boolean => {
    let isFree = true;
    for (const [at, { route }] of resources.entries()) {
      for (let tick = 0; tick < width; tick++) {
        const cell = at * width + tick;
        const over = excess(at, cell, 0);
        if (over <= EQUAL) continue;
        isFree = false;
        overuse -= fine(at, cell, 0);
        dearness[cell] += GRUDGE * over;
        overuse += fine(at, cell, 0);
        if (route.length > 0) touch(at, tick);
      }
    }
    waiting = chosen.map((_, c) => c);
    for (let i = waiting.length - 1; i > 0; i--) {
      const j = draws.below(i + 1);
      [waiting[i], waiting[j]] = [waiting[j], waiting[i]];
    }
    return isFree && !chosen.includes(null);
  };
  const movesOfAll = (): Move[] =>
    chosen
      .flatMap((trees, base) =>
        trees === null
          ? []
          : group.flatMap(({ backwards }, h) => {
              const as = (list: Iterable<number>, reduces: boolean): Move[] =>
                Array.from(list, (x) => {
                  const y = images[h][x];
                  const k = y % width;
                  return { flow: base * group.length + h, route: (y - k) / width, start: ticks[k], reduces };
                });
              return [
                ...as(trees.copies, backwards),
                ...as(trees.sums, !backwards),
                ...as(exchanged(trees.meeting), true),
              ];
            }),
      )
      .sort((a, b) => a.start - b.start || a.route - b.route || a.flow - b.flow);

  return {
    step: () => {
      for (;;) {
        const c = waiting.pop();
        if (c === undefined) {
          if (begin()) return movesOfAll();
          continue;
        }
        const trees = chosen[c];
        if (trees !== null && !isOver(trees)) continue;
        rechoose(c);
        return null;
      }
    },
  };
}

/** Returns all places and times at which a chunk can meet: flows are alike, so those of the first. */
function meetingsOf({ blocks }: Columns): Meeting[] {
  return blocks
    .filter(({ flow, side }) => flow === 0 && (side === MEET || side === EXCHANGE))
    .flatMap((block) =>
      Array.from({ length: block.high - block.low + 1 }, (_, i): Meeting => ({ block, tick: block.low + i })),
    );
}

/** Returns [maps][routes * ticks] where each map takes transfers; null where it takes one to none. */
function imagesUnder(
  group: readonly SpaceTimeMap[],
  opposite: Int32Array,
  endOf: Int32Array,
  width: number,
  last: number,
  ticks: Float64Array,
  duration: Float64Array,
): Int32Array[] | null {
  const tickAt = new Map(Array.from(ticks, (time, k) => [time, k]));
  const images: Int32Array[] = [];
  for (const { map, backwards } of group) {
    const image = new Int32Array(endOf.length).fill(-1);
    for (let x = 0; x < endOf.length; x++) {
      if (endOf[x] < 0) continue;
      const k = x % width;
      const r = (x - k) / width;
      const to = backwards ? opposite[map.routeTo[r]] : map.routeTo[r];
      const start = backwards ? tickAt.get(ticks[last] - ticks[k] - duration[r]) : k;
      if (to < 0 || start === undefined) return null;
      image[x] = to * width + start;
    }
    images.push(image);
  }
  return images;
}
