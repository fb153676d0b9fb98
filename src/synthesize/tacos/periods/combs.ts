import type { Grid } from "../../../model/topology/topology.ts";
import type { DuplexNetwork } from "./duplex.ts";

/**
 * Combs: trees of a grid that use all its links alike. A comb has an order of dimensions: its spine is one line of the first,
 * from whose NPUs a line of the second goes, from whose NPUs one of the third, and so on. It is told by the place of its spine.
 * For every cyclic order of the dimensions there is a comb at each place, as often as the multiplicity of that order says; in an
 * n x n mesh all 2n combs cross each link n + 1 times. A ring is left open opposite to the tree, and spines in turn.
 */
export interface Combs {
  /** [orders] how many combs stand at each place of the order that begins with that dimension. */
  readonly copies: readonly number[];
  readonly count: number;
}

/** A dimension's links take equally long; its lines are rings or not. */
interface Side {
  readonly size: number;
  readonly serialPs: number;
  readonly ring: boolean;
}

/** Returns the dimensions from `first` on, in cyclic order. */
const cyclic = (dimensions: number, first: number): number[] =>
  Array.from({ length: dimensions }, (_, i) => (first + i) % dimensions);

/** Returns the place of an NPU along each dimension. */
function coordinates(shape: readonly number[], place: number): number[] {
  let rest = place;
  return shape.map((size) => {
    const at = rest % size;
    rest = (rest - at) / size;
    return at;
  });
}

/**
 * Returns the dimension of each edge, and where on its line it begins: it goes from there to the next place, or from the last to
 * the first. Null where one joins others than such neighbours.
 */
function edgesOfGrid({ shape, place }: Grid, { tail, head }: DuplexNetwork) {
  const dimension = new Uint8Array(tail.length);
  const from = new Int32Array(tail.length);
  for (let e = 0; e < tail.length; e++) {
    const a = coordinates(shape, place[tail[e]]);
    const b = coordinates(shape, place[head[e]]);
    const differ = shape.flatMap((_, d) => (a[d] === b[d] ? [] : [d]));
    if (differ.length !== 1) return null;
    const d = differ[0];
    const [low, high] = [Math.min(a[d], b[d]), Math.max(a[d], b[d])];
    if (high - low !== 1 && (low !== 0 || high !== shape[d] - 1)) return null;
    dimension[e] = d;
    from[e] = high - low === 1 ? low : high;
  }
  return { dimension, from };
}

/** Combs of a grid and all that they are made of. */
export interface CombMaker {
  /** Multiplicities worth trying, by number of combs. */
  readonly choices: readonly Combs[];
  /** Returns the edges of comb i: [edges] 1 where it uses one. Forests where the grid has gaps. */
  readonly comb: (combs: Combs, i: number) => Uint8Array;
}

/** Multiplicities up to this are tried for each order. */
const MOST_COPIES = 8;
/** More combs are worth it from this gain on. */
const WORTH = 0.002;
/** Combs that make the busiest links so much busier than the best take long to mend and get deep. */
const UNLIKE = 1.06;

/** Returns the combs of the network, or null where it is not a grid of lines and rings with links alike in each dimension. */
export function combsOf(grid: Grid, network: DuplexNetwork, mostTrees: number): CombMaker | null {
  const { shape, place } = grid;
  const edges = edgesOfGrid(grid, network);
  if (edges === null) return null;
  const { dimension, from } = edges;
  const slots = shape.map(() => new Set<number>());
  const wraps = shape.map(() => false);
  for (let e = 0; e < dimension.length; e++) {
    slots[dimension[e]].add(network.serialPs[e]);
    if (shape[dimension[e]] > 2 && from[e] === shape[dimension[e]] - 1) wraps[dimension[e]] = true;
  }
  if (slots.some((lengths, d) => lengths.size > 1 || (shape[d] > 1 && lengths.size === 0))) return null;
  const sides = shape.map((size, d): Side => ({ size, serialPs: [...slots[d]][0] ?? 0, ring: wraps[d] }));
  const places = shape.map((_, d) => Int32Array.from(network.tail, (npu) => coordinates(shape, place[npu])[d]));
  const comb = ({ copies }: Combs, i: number): Uint8Array => {
    let rest = i;
    let first = 0;
    while (rest >= copies[first] * positions(shape, first)) rest -= copies[first] * positions(shape, first++);
    const order = cyclic(shape.length, first);
    const rank = order.map((_, d) => order.indexOf(d));
    const spine = new Int32Array(shape.length);
    let digits = Math.floor(rest / copies[first]);
    for (const d of order.slice(1)) {
      spine[d] = digits % shape[d];
      digits = Math.floor(digits / shape[d]);
    }
    const turn = order.slice(1).reduce((sum, d) => sum + spine[d], rest % copies[first]);
    const open = shape.map((size, d) => (wraps[d] ? (rank[d] === 0 ? turn : spine[d] + (size >> 1)) % size : -1));
    const used = new Uint8Array(dimension.length);
    for (let e = 0; e < used.length; e++) {
      const d = dimension[e];
      if (from[e] === open[d]) continue;
      let on = rank[d] + 1;
      while (on < order.length && places[order[on]][e] === spine[order[on]]) on++;
      if (on === order.length) used[e] = 1;
    }
    return used;
  };
  return { choices: choicesOf(sides, mostTrees), comb };
}

/** Returns how many places a spine of this first dimension has. */
const positions = (shape: readonly number[], first: number): number =>
  shape.reduce((count, size, d) => (d === first ? count : count * size), 1);

/**
 * Returns multiplicities by number of combs: each makes the busiest links less busy, for each comb, than all with fewer combs do;
 * and the doubles of the last, which leave room to mend combs with gaps.
 */
function choicesOf(sides: readonly Side[], mostTrees: number): Combs[] {
  const shape = sides.map(({ size }) => size);
  const all: (Combs & { readonly busyPs: number })[] = [];
  const copies = shape.map(() => 0);
  const visit = (d: number): void => {
    if (d < shape.length) {
      for (copies[d] = 0; copies[d] <= (shape[d] === 1 ? 0 : MOST_COPIES); copies[d]++) visit(d + 1);
      return;
    }
    const count = copies.reduce((sum, each, first) => sum + each * positions(shape, first), 0);
    if (count === 0 || count > mostTrees) return;
    let busyPs = 0;
    for (const [d, { size, serialPs, ring }] of sides.entries()) {
      if (size === 1) continue;
      let load = 0;
      for (const [first, each] of copies.entries()) {
        const order = cyclic(shape.length, first);
        load += each * order.slice(1, order.indexOf(d) + 1).reduce((product, other) => product * shape[other], 1);
      }
      busyPs = Math.max(busyPs, ((load * serialPs) / count) * (ring ? (size - 1) / size : 1));
    }
    all.push({ copies: copies.slice(), count, busyPs });
  };
  visit(0);
  all.sort((a, b) => a.count - b.count || a.busyPs - b.busyPs);
  let leastPs = Number.POSITIVE_INFINITY;
  const better = all.filter(({ busyPs }) => {
    const isBetter = busyPs < leastPs * (1 - WORTH);
    if (isBetter) leastPs = busyPs;
    return isBetter;
  });
  const last = better.slice(-1);
  const doubled = [2, 4].flatMap((factor) =>
    last.map(({ copies: each, count }) => ({ copies: each.map((n) => n * factor), count: count * factor })),
  );
  return [
    ...better.filter(({ busyPs }) => busyPs <= UNLIKE * leastPs),
    ...doubled.filter(({ count }) => count <= mostTrees),
  ];
}
