import { type Digraph, digraph } from "../digraph.ts";

/** Graphs on the subsets of a small set. Subsets are numbered in lexicographic order of their ascending elements. */

/** Returns n over k as a double: exact where it is below 2^53. */
export function binomial(n: number, k: number): number {
  let ways = 1;
  for (let i = 1; i <= Math.min(k, n - k) && ways < Infinity; i++) ways = (ways * (n - Math.min(k, n - k) + i)) / i;
  return ways;
}

function subsets(n: number, k: number): number[][] {
  const list: number[][] = [];
  const grow = (chosen: readonly number[], from: number): void => {
    if (chosen.length === k) list.push([...chosen]);
    else for (let x = from; x <= n - k + chosen.length; x++) grow([...chosen, x], x + 1);
  };
  grow([], 0);
  return list;
}

const key = (set: readonly number[]): string => set.join(" ");
const indexOf = (sets: readonly (readonly number[])[]): ReadonlyMap<string, number> =>
  new Map(sets.map((set, i) => [key(set), i]));
const outside = (n: number, set: readonly number[]): number[] =>
  Array.from({ length: n }, (_, x) => x).filter((x) => !set.includes(x));
const sorted = (set: readonly number[]): number[] => [...set].sort((a, b) => a - b);
const without = (set: readonly number[], x: number): number[] => set.filter((y) => y !== x);

/** Returns J(n, k): k-subsets that differ in one element are neighbours. */
export function johnson(n: number, k: number): Digraph {
  const sets = subsets(n, k);
  const index = indexOf(sets);
  return digraph(sets.length, (v) =>
    sets[v].flatMap((gone) =>
      outside(n, sets[v]).map((come) => index.get(key(sorted([...without(sets[v], gone), come]))) as number),
    ),
  );
}

/** Returns O_k: disjoint (k - 1)-subsets of 2k - 1 elements are neighbours. */
export function odd(k: number): Digraph {
  const sets = subsets(2 * k - 1, k - 1);
  const index = indexOf(sets);
  return digraph(sets.length, (v) => {
    const rest = outside(2 * k - 1, sets[v]);
    return rest.map((left) => index.get(key(without(rest, left))) as number);
  });
}

/** Returns the doubled odd graph: (k - 1)-subsets, then k-subsets of 2k - 1 elements; a set and one that contains it are neighbours. */
export function doubledOdd(k: number): Digraph {
  const n = 2 * k - 1;
  const small = subsets(n, k - 1);
  const large = subsets(n, k);
  const smallIndex = indexOf(small);
  const largeIndex = indexOf(large);
  return digraph(2 * small.length, (v) =>
    v < small.length
      ? outside(n, small[v]).map((x) => small.length + (largeIndex.get(key(sorted([...small[v], x]))) as number))
      : large[v - small.length].map((x) => smallIndex.get(key(without(large[v - small.length], x))) as number),
  );
}
