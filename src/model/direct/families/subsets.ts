import { type Digraph, digraph } from "../digraph.ts";
import { range } from "./family.ts";

/** Graphs on the subsets of a small set. A subset a < b < c ... has number C(a, 1) + C(b, 2) + C(c, 3) ... among those of its size. */

/** Returns n over k as a double: exact where it is below 2^53. */
export function binomial(n: number, k: number): number {
  const fewer = Math.min(k, n - k);
  let ways = fewer < 0 ? 0 : 1;
  for (let i = 1; i <= fewer && ways < Infinity; i++) ways = (ways * (n - fewer + i)) / i;
  return ways;
}

/** The k-subsets of n elements: their number, each one ascending, and the number of one. */
interface Subsets {
  readonly count: number;
  readonly at: (index: number) => number[];
  readonly indexOf: (ascending: readonly number[]) => number;
}

function subsets(n: number, k: number): Subsets {
  /** [size][element] */
  const ways = Array.from({ length: k + 1 }, (_, size) =>
    Float64Array.from({ length: n + 1 }, (_, x) => binomial(x, size)),
  );
  return {
    count: binomial(n, k),
    at: (index) => {
      const chosen = new Array<number>(k);
      let rest = index;
      for (let size = k, x = n - 1; size > 0; size--) {
        while (ways[size][x] > rest) x--;
        rest -= ways[size][x];
        chosen[size - 1] = x;
      }
      return chosen;
    },
    indexOf: (ascending) => ascending.reduce((sum, x, i) => sum + ways[i + 1][x], 0),
  };
}

const outside = (n: number, set: readonly number[]): number[] => range(0, n - 1).filter((x) => !set.includes(x));
const without = (set: readonly number[], x: number): number[] => set.filter((y) => y !== x);

/** Returns an ascending set with another element in its place. */
function added(set: readonly number[], x: number): number[] {
  const place = set.findIndex((y) => y > x);
  return place < 0 ? [...set, x] : [...set.slice(0, place), x, ...set.slice(place)];
}

/** Returns J(n, k): k-subsets that differ in one element are neighbours. */
export function johnson(n: number, k: number): Digraph {
  const { count, at, indexOf } = subsets(n, k);
  return digraph(count, (v) => {
    const set = at(v);
    const others = outside(n, set);
    return set.flatMap((gone) => {
      const rest = without(set, gone);
      return others.map((x) => indexOf(added(rest, x)));
    });
  });
}

/** Returns O_k: disjoint (k - 1)-subsets of 2k - 1 elements are neighbours. */
export function odd(k: number): Digraph {
  const { count, at, indexOf } = subsets(2 * k - 1, k - 1);
  return digraph(count, (v) => {
    const rest = outside(2 * k - 1, at(v));
    return rest.map((left) => indexOf(without(rest, left)));
  });
}

/** Returns the doubled odd graph: (k - 1)-, then k-subsets of 2k - 1 elements; a set and one that contains it are neighbours. */
export function doubledOdd(k: number): Digraph {
  const n = 2 * k - 1;
  const small = subsets(n, k - 1);
  const large = subsets(n, k);
  return digraph(2 * small.count, (v) => {
    if (v < small.count) {
      const set = small.at(v);
      return outside(n, set).map((x) => small.count + large.indexOf(added(set, x)));
    }
    const set = large.at(v - small.count);
    return set.map((x) => small.indexOf(without(set, x)));
  });
}
