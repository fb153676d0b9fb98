import { below, draw } from "../../base/random.ts";
import { metacyclicProduct } from "../../model/direct/families/metacyclic.ts";
import { gcd } from "../../model/numbers/integers.ts";
import { distinct } from "./offsets.ts";

/** Arcs that the search in one group looks at before it ends. */
const BUDGET = 100_000;
/** Exchanges without success before the search starts anew. */
const PATIENCE = 12;
/** Sets of a group that are kept: as many of different scores. */
const KEPT = 3;

/** Parameters of the family `Cayley`: m, n, r, then the elements that nodes lead on by. */
export interface Elements {
  readonly parameters: readonly number[];
  readonly diameter: number;
}

/**
 * Returns sets of elements of groups Z_m : Z_n that do not commute, whose Cayley digraphs of so many nodes have the least
 * diameter found, then the least mean distance, then the longest ways back. (Sums of offsets in any order are the same node, so
 * circulants of 16 nodes of degree 4 have diameter 3, but Cayley(8,2,7,{1,6,8,11}) has 2.) Hill climbing as in `offsets.ts`.
 */
export function elementsOfSmallDiameter(nodes: number, degree: number): Elements[] {
  if (degree < 2 || degree >= nodes - 1) return [];
  const found = groupsOf(nodes).flatMap((group) => search(group, nodes, degree));
  found.sort((a, b) => byScore(a, b) || byNumbers(a.parameters, b.parameters));
  return found
    .filter(({ diameter }) => diameter === found[0].diameter)
    .map(({ parameters, diameter }) => ({ parameters, diameter }));
}

type Group = readonly [m: number, n: number, r: number];

/** Returns the groups of so many elements that do not commute; r and r^j give the same group where j has no factor of n. */
export function groupsOf(nodes: number): Group[] {
  const groups: Group[] = [];
  for (let n = 2; n <= nodes / 3; n++) {
    if (nodes % n !== 0) continue;
    const m = nodes / n;
    for (let r = 2; r < m; r++) {
      const powers = [1];
      for (let i = 1; i < n; i++) powers.push((powers[i - 1] * r) % m);
      const same = powers.filter((_, j) => gcd(j, n) === 1);
      if ((powers[n - 1] * r) % m === 1 && same.every((power) => r <= power)) groups.push([m, n, r]);
    }
  }
  return groups;
}

interface Score {
  readonly diameter: number;
  readonly distances: number;
  /** Sum of the distances back along the arcs of a node. */
  readonly back: number;
}

const byScore = (a: Score, b: Score): number => a.diameter - b.diameter || a.distances - b.distances || b.back - a.back;

function byNumbers(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at < 0 ? 0 : a[at] - b[at];
}

/** Returns the best sets of a group, one of each score. */
function search(group: Group, nodes: number, degree: number): (Elements & Score)[] {
  const [m, n, r] = group;
  const scoreOf = scorer(group, nodes, degree);
  const best: (Elements & Score)[] = [];
  const remember = (elements: readonly number[], score: Score): void => {
    if (score.diameter === Number.POSITIVE_INFINITY || best.some((other) => byScore(other, score) === 0)) return;
    best.push({ parameters: [m, n, r, ...[...elements].sort((a, b) => a - b)], ...score });
    best.sort(byScore);
    if (best.length > KEPT) best.pop();
  };
  let counter = 0;
  const next = (bound: number): number => below(draw(nodes * m + r, degree, counter++), bound);
  for (let spent = 0; spent < BUDGET; ) {
    let elements = distinct(degree, nodes - 1, next);
    let score = scoreOf(elements);
    spent += nodes * degree;
    remember(elements, score);
    for (let failed = 0; failed < PATIENCE && spent < BUDGET; ) {
      const exchanged = [...elements];
      exchanged[next(degree)] = 1 + next(nodes - 1);
      spent += nodes * degree;
      if (new Set(exchanged).size < degree) {
        failed++;
        continue;
      }
      const other = scoreOf(exchanged);
      const order = byScore(other, score);
      failed = order < 0 ? 0 : failed + 1;
      if (order > 0) continue;
      [elements, score] = [exchanged, other];
      remember(elements, score);
    }
  }
  return best;
}

/** Returns a function that scores a set of elements by breadth-first search from 1. O(nodes^2) once, O(arcs) each. */
function scorer([m, n, r]: Group, nodes: number, degree: number): (elements: readonly number[]) => Score {
  const product = metacyclicProduct(m, n, r);
  const table = new Int32Array(nodes * nodes);
  const inverse = new Int32Array(nodes);
  for (let element = 0; element < nodes; element++) {
    for (let v = 0; v < nodes; v++) {
      const to = product(v, element);
      table[element * nodes + v] = to;
      if (to === 0) inverse[element] = v;
    }
  }
  const distance = new Int32Array(nodes);
  const queue = new Int32Array(nodes);
  return (elements) => {
    distance.fill(-1);
    distance[0] = 0;
    let [tail, distances] = [1, 0];
    for (let head = 0; head < tail; head++) {
      const level = distance[queue[head]] + 1;
      for (let k = 0; k < degree; k++) {
        const to = table[elements[k] * nodes + queue[head]];
        if (distance[to] >= 0) continue;
        distance[to] = level;
        queue[tail++] = to;
        distances += level;
      }
    }
    if (tail < nodes) return { diameter: Number.POSITIVE_INFINITY, distances, back: 0 };
    const back = elements.reduce((sum, element) => sum + distance[inverse[element]], 0);
    return { diameter: distance[queue[tail - 1]], distances, back };
  };
}
