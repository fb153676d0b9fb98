import { type Collective, membersOf } from "../../model/collective/collective.ts";
import { routeCount } from "../../model/routes/routes.ts";
import { mayCarry, type SketchNetwork } from "../../model/sketch/sketch.ts";
import { type RoutingSymmetry, routingSymmetry } from "./routing-options.ts";
import { clockOf, join, type Plan, singles, type Tasks, tasksOf, timing } from "./scheduling.ts";
import type { Sends } from "./stages.ts";

/** More sends are no matter of latency. */
const MOST_SENDS = 8000;

/** Ways of few steps with what goes together. */
export interface Stepped {
  readonly tasks: Tasks;
  readonly plan: Plan;
  readonly endPs: number;
  readonly name: string;
}

/**
 * Returns the ways of few steps (see Digits) that end first when the sends of a step go together, or null where the sketch has
 * none; `note` tells where its symmetry is against better ones. Stage 1 cannot find them: it counts a latency for every chunk
 * inside a box, and ways there are the shortest ones, so that nothing passes a third NPU where all are neighbours.
 * O(ways tried * sends (log sends + rotations)).
 */
export function stepped(
  network: SketchNetwork,
  collective: Collective,
): { readonly best: Stepped | null; readonly note: string | null } {
  const times = timing(network, collective);
  const symmetry = routingSymmetry(network, collective);
  const isOneBox = network.sketch.boxes === 1;
  let best: Stepped | null = null;
  let left: Stepped | null = null;
  for (const digits of digitsToTry(network)) {
    const sends = digitSends(network, collective, digits, MOST_SENDS);
    if (sends === null || sends.chunk.length === 0) continue;
    const tasks = tasksOf(network, collective, sends, times);
    const clock = clockOf(tasks);
    const isKept = isSymmetric(sends, symmetry, routeCount(network.routes));
    for (const stepOf of isOneBox ? GROUPINGS.slice(0, 1) : GROUPINGS) {
      const plan = together(sends, stepOf);
      const endPs = clock.run(plan);
      const most = (isKept ? best : left)?.endPs ?? Number.POSITIVE_INFINITY;
      if (endPs >= most) continue;
      const found: Stepped = { tasks, plan, endPs, name: nameOf(digits, isOneBox) };
      if (isKept) best = found;
      else left = found;
    }
  }
  const isWorse = left !== null && left.endPs < (best?.endPs ?? Number.POSITIVE_INFINITY);
  return { best, note: isWorse ? `symmetry_offsets leave out ways ${left?.name}` : null };
}

/** What tells sends of a route apart that do not go together: digits; digits of each box on the way; times. */
const GROUPINGS: readonly ((sends: DigitSends, send: number) => number)[] = [
  ({ place }, send) => place[send],
  ({ place, level, stage }, send) => (place[send] < 0 ? -1 : level[send] * stage.length + place[send]),
  ({ stage }, send) => stage[send],
];

/** Returns the plan in which sends of equal route and step are one message; earlier stages go first, then lesser digits. */
function together(sends: DigitSends, stepOf: (sends: DigitSends, send: number) => number): Plan {
  const { stage, digit } = sends;
  const most = digit.reduce((a, b) => Math.max(a, b), 0) + 1;
  const plan = singles(Float64Array.from(stage, (at, send) => at * most + digit[send]));
  const leaders = new Map<string, number>();
  sends.route.forEach((route, send) => {
    const key = `${route} ${stepOf(sends, send)}`;
    const leader = leaders.get(key);
    if (leader === undefined) {
      leaders.set(key, send);
      return;
    }
    plan.key[leader] = Math.max(plan.key[leader], plan.key[send]);
    join(plan, leader, send);
  });
  return plan;
}

/** Returns whether every rotation in use maps sends onto sends. O(maps * sends). */
function isSymmetric({ chunk, route }: Sends, { maps }: RoutingSymmetry, routes: number): boolean {
  const sent = new Set(Array.from(chunk, (c, send) => c * routes + route[send]));
  return maps.every(({ chunkTo, routeTo }) =>
    chunk.every((c, send) => sent.has(chunkTo[c] * routes + routeTo[route[send]])),
  );
}

function nameOf({ inside, boxRadix }: Digits, isOneBox: boolean): string {
  const offsets = inside.xor ? "bitwise offsets" : "offsets";
  return `in steps, by digits of ${offsets} to base ${inside.radix}${isOneBox ? "" : `, of boxes to base ${boxRadix}`}`;
}

/**
 * Ways of few steps: the offset between two ranks is travelled digit by digit, the least one first. Chunks of equal digits go
 * together, so that a latency is paid for each digit and not for each rank: an all-gather is the algorithm of Bruck et al.
 * (1997), an all-to-all theirs too, with `xor` recursive doubling; trees of one chunk are binomial where the radix is 2.
 */
interface Digits {
  readonly inside: Numbering;
  /** Radix of the offsets between boxes. */
  readonly boxRadix: number;
}

/** Offsets of ranks in a box: differences modulo their number, which every rotation keeps, or bitwise ones. */
interface Numbering {
  readonly radix: number;
  readonly xor: boolean;
}

/** Sends in ascending order of (chunk, route), with where they are on the way. */
interface DigitSends {
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

/** Returns the ways to number ranks and boxes that are worth a look; none where NPUs failed, to which digits would lead. */
function digitsToTry({ sketch, topology }: SketchNetwork): readonly Digits[] {
  const { boxes, npusPerBox: ranks } = sketch;
  if (topology.npuCount !== boxes * ranks) return [];
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
function digitSends(
  network: SketchNetwork,
  collective: Collective,
  { inside, boxRadix }: Digits,
  most: number,
): DigitSends | null {
  const { routes, sketch, boxOf } = network;
  const { npuCount } = network.topology;
  const { npusPerBox: ranks, boxes } = sketch;
  const { routeOf, between } = routesByEnds(network);
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
      if (!mayCarry(network, owner, sender)) continue;
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

/** Returns the first route between two NPUs by source * NPUs + target, and those between two boxes, the last one first. */
function routesByEnds({ topology, sketch, routes, leavesBox, boxOf }: SketchNetwork) {
  const routeOf = new Map<number, number>();
  const between = new Map<number, number[]>();
  for (let route = routeCount(routes) - 1; route >= 0; route--) {
    const [from, to] = [routes.source[route], routes.target[route]];
    routeOf.set(from * topology.npuCount + to, route);
    if (leavesBox[route] === 0) continue;
    const key = boxOf[from] * sketch.boxes + boxOf[to];
    const known = between.get(key);
    if (known === undefined) between.set(key, [route]);
    else known.push(route);
  }
  return { routeOf, between };
}
