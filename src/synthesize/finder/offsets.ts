import { below, draw } from "../../base/random.ts";
import { gcd } from "../../model/numbers/integers.ts";

/** Arcs that a search looks at before it ends. */
const BUDGET = 250_000;
/** Exchanges without success before the search starts over. */
const PATIENCE = 15;
/** Sets of least diameter that are kept, and those from all whose neighbours it is equally far back. */
const KEPT = 4;
const KEPT_EVEN = 12;

/** Offsets of a circulant with the diameter that they give. */
export interface Offsets {
  readonly offsets: readonly number[];
  readonly diameter: number;
  /** From all nodes that this many arcs lead to it is equally far back: line graphs may then save a shard (`evaluated.ts`). */
  readonly even: number;
}

/**
 * Returns sets of offsets whose circulants, directed or both ways, have the least diameter found, even ones first, then those of
 * least mean distance; none where the degree does not allow any. Hill climbing: one offset is exchanged for a random one, and
 * the search starts over where that helps no more. It ends after this many arcs, so it is the same everywhere. (Random sets
 * without climbing had a diameter one greater at 1,024 nodes and degree 4, and at 16.)
 */
export function offsetsOfSmallDiameter(nodes: number, degree: number, undirected: boolean): Offsets[] {
  const half = undirected && degree % 2 === 1;
  const count = undirected ? degree >> 1 : degree;
  const range = undirected ? (nodes - 1) >> 1 : nodes - 1;
  if (count < 1 || count > range || (half && nodes % 2 === 1)) return [];
  const distances = roomFor(nodes, degree);
  const scoreOf = (offsets: readonly number[]): Score => distances(stepsOf(nodes, offsets, undirected, half));
  const least = leastDiameter(nodes, count, undirected, half);
  const found = new Map<string, Offsets & Score>();
  const remember = (offsets: readonly number[], score: Score): void => {
    if (score.diameter === Number.POSITIVE_INFINITY) return;
    const sorted = [...offsets].sort((a, b) => a - b);
    if (half) sorted.push(nodes / 2);
    found.set(sorted.join(), { offsets: sorted, ...score });
    if (score.diameter === least && (score.even > 0 || undirected)) best.add(sorted.join());
    if (found.size > 4 * (KEPT + KEPT_EVEN)) keepBest(found);
  };
  /** Sets of the least diameter that there can be: with enough of them the search is over. */
  const best = new Set<string>();
  const enough = undirected ? KEPT : KEPT_EVEN;
  let counter = 0;
  const next = (bound: number): number => below(draw(nodes, degree, counter++), bound);
  const all = count === range;
  for (let spent = 0; spent < BUDGET && best.size < enough; ) {
    let offsets = all ? Array.from({ length: count }, (_, i) => i + 1) : distinct(count, range, next);
    let score = scoreOf(offsets);
    spent += nodes * degree;
    remember(offsets, score);
    if (all) break;
    for (let failed = 0; failed < PATIENCE && spent < BUDGET && best.size < enough; ) {
      const exchanged = [...offsets];
      exchanged[next(count)] = 1 + next(range);
      if (new Set(exchanged).size < count) {
        failed++;
        spent += count;
        continue;
      }
      const other = scoreOf(exchanged);
      spent += nodes * degree;
      const order = byScore(other, score);
      failed = order < 0 ? 0 : failed + 1;
      if (order > 0) continue;
      [offsets, score] = [exchanged, other];
      remember(offsets, score);
    }
  }
  return keepBest(found);
}

/** Arcs that the search of pairs looks at before it ends. */
const PAIRS_BUDGET = 2e8;

/**
 * Returns the two offsets whose circulants, directed or both ways, have the least sums of distances, one pair of each sum and
 * diameter: of all pairs, but for those that a multiplication takes to others, whose first offset divides the nodes. (Of many
 * nodes only the first divisors, 1 before all, are tried.) O(divisors * nodes^2).
 */
export function pairsOfSmallDistance(nodes: number, undirected: boolean): (readonly number[])[] {
  const half = undirected ? Math.ceil(nodes / 2) : nodes;
  const distances = roomFor(nodes, undirected ? 4 : 2);
  const found: (Score & { readonly pair: readonly number[] })[] = [];
  for (let [first, spent] = [1, 0]; first < half && spent < PAIRS_BUDGET; first++) {
    if (nodes % first !== 0) continue;
    for (let second = 1; second < half; second++) {
      if (second === first || gcd(first, second) > 1) continue;
      const pair = [first, second].sort((a, b) => a - b);
      const score = distances(stepsOf(nodes, pair, undirected, false));
      spent += nodes * (undirected ? 4 : 2);
      if (!found.some((other) => other.distances === score.distances && other.diameter === score.diameter))
        found.push({ ...score, pair });
      found.sort((a, b) => a.distances - b.distances || a.diameter - b.diameter);
      if (found.length > KEPT) found.pop();
    }
  }
  return found.map(({ pair }) => pair);
}

interface Score {
  readonly diameter: number;
  readonly distances: number;
  readonly even: number;
}

const byScore = (a: Score, b: Score): number => a.diameter - b.diameter || b.even - a.even || a.distances - b.distances;

/** Returns those of least diameter, the most even ones first, then the best, and forgets the others. */
function keepBest(found: Map<string, Offsets & Score>): Offsets[] {
  const sorted = [...found].sort(([a, first], [b, second]) => byScore(first, second) || (a < b ? -1 : 1));
  const best = sorted.filter(([, { diameter }]) => diameter === sorted[0][1].diameter);
  const even = best.filter(([, offsets]) => offsets.even > 0);
  const uneven = best.filter(([, offsets]) => offsets.even === 0).slice(0, KEPT);
  found.clear();
  for (const [text, offsets] of [...even.slice(0, KEPT_EVEN), ...uneven]) found.set(text, offsets);
  return [...found.values()].map(({ offsets, diameter, even }) => ({ offsets, diameter, even }));
}

/** Returns this many different numbers of 1 .. range (Floyd's sampling). O(count). */
export function distinct(count: number, range: number, next: (bound: number) => number): number[] {
  const chosen = new Set<number>();
  for (let i = range - count + 1; i <= range; i++) {
    const drawn = 1 + next(i);
    chosen.add(chosen.has(drawn) ? i : drawn);
  }
  return [...chosen];
}

/**
 * Returns the least D for which this many offsets can reach every node in D steps: sums of D of them at most, in any order, are
 * C(D + k, k), and with signs sum of 2^i C(k, i) C(D, i).
 */
function leastDiameter(nodes: number, count: number, undirected: boolean, half: boolean): number {
  const within = (steps: number): number => {
    let [sum, term] = [0, 1];
    if (!undirected) {
      for (let i = 1; i <= count; i++) term *= (steps + i) / i;
      return Math.round(term);
    }
    for (let i = 0; i <= Math.min(count, steps); i++) {
      sum += term;
      term *= (2 * (count - i) * (steps - i)) / ((i + 1) * (i + 1));
    }
    return Math.round(sum);
  };
  let steps = 1;
  while (within(steps) + (half ? within(steps - 1) : 0) < nodes) steps++;
  return steps;
}

function stepsOf(nodes: number, offsets: readonly number[], undirected: boolean, half: boolean): Int32Array {
  if (!undirected) return Int32Array.from(offsets);
  const steps = offsets.flatMap((offset) => [offset, nodes - offset]);
  return Int32Array.from(half ? [...steps, nodes / 2] : steps);
}

/** Returns a function that tells the greatest distance from node 0 and the sum of all by breadth-first search. O(arcs) each. */
function roomFor(nodes: number, degree: number): (steps: Int32Array) => Score {
  const distance = new Int32Array(nodes);
  const queue = new Int32Array(nodes);
  const ends = new Int32Array(MOST_EVEN * nodes * degree);
  const seen = new Uint8Array(nodes);
  return (steps) => {
    distance.fill(-1);
    distance[0] = 0;
    let [head, tail, sum] = [0, 1, 0];
    while (head < tail) {
      const node = queue[head++];
      const level = distance[node] + 1;
      for (let k = 0; k < degree; k++) {
        const sumOf = node + steps[k];
        const to = sumOf >= nodes ? sumOf - nodes : sumOf;
        if (distance[to] >= 0) continue;
        distance[to] = level;
        queue[tail++] = to;
        sum += level;
      }
    }
    if (tail < nodes) return { diameter: Number.POSITIVE_INFINITY, distances: 0, even: 0 };
    return { diameter: distance[queue[tail - 1]], distances: sum, even: evenness(distance, steps, ends, seen) };
  };
}

/** Arcs of a path whose ends are looked at. */
const MOST_EVEN = 8;

/**
 * Returns the most arcs, up to eight, from whose ends, wherever they lead, it is equally far back; `distance` is from node 0, so
 * that back from node x is that of -x. O(arcs) per arc of the path.
 */
function evenness(distance: Int32Array, steps: Int32Array, ends: Int32Array, seen: Uint8Array): number {
  const nodes = distance.length;
  ends[0] = 0;
  let [from, to] = [0, 1];
  for (let arcs = 1; arcs <= MOST_EVEN; arcs++) {
    const back = distance[(2 * nodes - ends[from] - steps[0]) % nodes];
    if (to + (to - from) * steps.length > ends.length) return arcs - 1;
    seen.fill(0);
    const last = to;
    for (; from < last; from++) {
      for (const step of steps) {
        const end = (ends[from] + step) % nodes;
        if (seen[end] === 1) continue;
        if (distance[end === 0 ? 0 : nodes - end] !== back) return arcs - 1;
        seen[end] = 1;
        ends[to++] = end;
      }
    }
  }
  return MOST_EVEN;
}
