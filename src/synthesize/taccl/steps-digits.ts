import { type Collective, membersOf } from "../../model/collective/collective.ts";
import { routeCount } from "../../model/routes/routes.ts";
import type { SketchNetwork } from "../../model/sketch/sketch-network.ts";
import { mayCarry } from "../../model/sketch/sketch-relays.ts";

/**
 * Ways of few steps: the offset between two ranks is travelled digit by digit, the least one first. Chunks of equal digits go
 * together, so that a latency is paid for each digit and not for each rank: an all-gather is the algorithm of Bruck et al.
 * (1997), an all-to-all theirs too, with `xor` recursive doubling; trees of one chunk are binomial where the radix is 2.
 */
export interface Digits {
  readonly inside: Numbering;
  /** Radix of the offsets between boxes. */
  readonly boxRadix: number;
}

/** Offsets of ranks in a box: differences modulo their number, which every rotation keeps, or bitwise ones. */
export interface Numbering {
  readonly radix: number;
  readonly xor: boolean;
}

/** Sends in ascending order of (chunk, route), with where they are on the way. */
export interface DigitSends {
  readonly chunk: Int32Array;
  readonly route: Int32Array;
  /** [sends] Place of the digit that the send is for; -1 between boxes. */
  readonly place: Int32Array;
  /** [sends] That digit; 0 between boxes. */
  readonly digit: Int32Array;
  /** [sends] Boxes that the chunk has left before. */
  readonly level: Int32Array;
  /** [sends] Sends of one chunk follow each other in ascending order. */
  readonly stage: Int32Array;
}

/** Larger radixes are between few digits and sending directly. */
const RADIXES = [2, 3, 4, 8] as const;

/** Returns the ways to number ranks and boxes that are worth a look. */
export function digitsToTry({ sketch }: SketchNetwork): readonly Digits[] {
  const { boxes, npusPerBox: ranks } = sketch;
  const radixes = [...RADIXES.filter((radix) => radix < ranks), ranks];
  const isPowerOf = (radix: number): boolean => {
    let power = radix;
    while (power < ranks) power *= radix;
    return power === ranks;
  };
  const numberings = [
    ...radixes.map((radix) => ({ radix, xor: false })),
    ...[2, 4].filter((radix) => radix < ranks && isPowerOf(radix)).map((radix) => ({ radix, xor: true })),
  ];
  const boxRadixes = boxes > 2 ? [2, boxes] : [2];
  return numberings.flatMap((inside) => boxRadixes.map((boxRadix) => ({ inside, boxRadix })));
}

/** Returns the hops from one of `count` ranks to another, each with its digit and the place of that. */
export function hopsOf(
  from: number,
  to: number,
  count: number,
  { radix, xor }: Numbering,
): (readonly [to: number, place: number, digit: number])[] {
  const hops: (readonly [number, number, number])[] = [];
  let left = xor ? from ^ to : (to - from + count) % count;
  let at = from;
  for (let place = 0, weight = 1; left > 0; place++, weight *= radix) {
    const digit = left % radix;
    const step = digit * weight;
    left = Math.floor(left / radix);
    if (digit === 0) continue;
    at = xor ? at ^ step : (at + step) % count;
    hops.push([at, place, digit]);
  }
  return hops;
}

/** Where a chunk came into a box, and after which stage. */
interface Entry {
  readonly npu: number;
  readonly stage: number;
  readonly level: number;
}

type Row = readonly [chunk: number, route: number, place: number, digit: number, level: number, stage: number];

/**
 * Returns the chunks' ways, over the sketch's routes and by its relays alone; null where a digit has no route, a chunk has
 * several holders, or there are more than `most` sends. O(sends + chunks * boxes * routes between two boxes).
 */
export function digitSends(
  network: SketchNetwork,
  collective: Collective,
  { inside, boxRadix }: Digits,
  most: number,
): DigitSends | null {
  const { routes, sketch, leavesBox, boxOf } = network;
  const { npuCount } = network.topology;
  const { npusPerBox: ranks, boxes } = sketch;
  const routeOf = new Map<number, number>();
  const between = new Map<number, number[]>();
  for (let route = routeCount(routes) - 1; route >= 0; route--) {
    const [from, to] = [routes.source[route], routes.target[route]];
    routeOf.set(from * npuCount + to, route);
    if (leavesBox[route] === 0) continue;
    const key = boxOf[from] * boxes + boxOf[to];
    const known = between.get(key);
    if (known === undefined) between.set(key, [route]);
    else known.push(route);
  }
  const rows: Row[] = [];

  /** Takes a chunk to an NPU of the box; returns the stage after which it is there, or null where there is no route. */
  const goInside = (chunk: number, entry: Entry, npu: number, there: Map<number, number>): number | null => {
    const first = npu - (npu % ranks);
    let at = entry.npu;
    for (const [rank, place, digit] of hopsOf(at - first, npu - first, ranks, inside)) {
      const next = first + rank;
      if (!there.has(next)) {
        const route = routeOf.get(at * npuCount + next);
        if (route === undefined) return null;
        rows.push([chunk, route, place, digit, entry.level, entry.stage + place]);
        there.set(next, entry.stage + place + 1);
      }
      at = next;
    }
    return there.get(npu) ?? entry.stage;
  };
  /** Returns the route to another box whose ends are next to the entry. */
  const wayOut = (owner: number, entry: Entry, toBox: number): number | null => {
    const offset = (from: number, to: number): number => (to - from + ranks) % ranks;
    let best: number | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const route of between.get(boxOf[entry.npu] * boxes + toBox) ?? []) {
      const sender = routes.source[route];
      if (!mayCarry(sketch, owner, sender)) continue;
      const [a, b, c] = [entry.npu % ranks, sender % ranks, routes.target[route] % ranks];
      const cost = (hopsOf(a, b, ranks, inside).length * ranks + offset(a, b)) * ranks + offset(b, c);
      // the first of parallel routes comes last
      if (cost > least) continue;
      least = cost;
      best = route;
    }
    return best;
  };
  const routed = (chunk: number, owner: number): boolean => {
    const entries = new Map<number, Entry>([[boxOf[owner], { npu: owner, stage: 0, level: 0 }]]);
    const there = new Map<number, number>([[owner, 0]]);
    for (const target of membersOf(collective, collective.post, chunk)) {
      let entry = entries.get(boxOf[owner]) as Entry;
      for (const [box] of hopsOf(boxOf[owner], boxOf[target], boxes, { radix: boxRadix, xor: false })) {
        let next = entries.get(box);
        if (next === undefined) {
          const route = wayOut(owner, entry, box);
          const stage = route === null ? null : goInside(chunk, entry, routes.source[route], there);
          if (route === null || stage === null) return false;
          rows.push([chunk, route, -1, 0, entry.level, stage]);
          next = { npu: routes.target[route], stage: stage + 1, level: entry.level + 1 };
          entries.set(box, next);
          there.set(next.npu, next.stage);
        }
        entry = next;
      }
      if (goInside(chunk, entry, target, there) === null) return false;
    }
    return rows.length <= most;
  };

  for (let chunk = 0; chunk < collective.chunkCount; chunk++) {
    const holders = membersOf(collective, collective.pre, chunk);
    if (holders.length !== 1 || !routed(chunk, holders[0])) return null;
  }
  rows.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const column = (i: number): Int32Array => Int32Array.from(rows, (row) => row[i]);
  const [chunk, route, place] = [column(0), column(1), column(2)];
  return { chunk, route, place, digit: column(3), level: column(4), stage: column(5) };
}
