import type { Topology } from "../topology/topology.ts";
import { switchTiers } from "./network-symmetry-switches.ts";

/** Above so many candidates the search for a group gives up. */
const MOST_CANDIDATES = 512;

const product = (sizes: readonly number[]): number => sizes.reduce((all, size) => all * size, 1);

/**
 * Yields sizes of groups of translations (translation.ts) that a network may have, likely ones first, none twice, none of them
 * 1: the topology's shape; the shape refined by the blocks of NPUs below each switch (servers of a leaf, leaves of a pod); one
 * ring; all prime factors; one of the sizes so far split in two or three; then products of two factors, of three, ...
 */
export function* symmetryCandidates(topology: Topology): Generator<readonly number[]> {
  const seen = new Set<string>();
  for (const sizes of inOrder(topology)) {
    const proper = sizes.filter((size) => size > 1);
    const key = proper.join();
    if (product(proper) !== topology.npuCount || seen.has(key)) continue;
    if (seen.size === MOST_CANDIDATES) return;
    seen.add(key);
    yield proper;
  }
}

function* inOrder(topology: Topology): Generator<readonly number[]> {
  const { npuCount, shape } = topology;
  const divisors: number[] = [];
  for (let d = 2; d < npuCount; d++) if (npuCount % d === 0) divisors.push(d);
  const primes: number[] = [];
  for (let rest = npuCount; rest > 1; rest /= primes[primes.length - 1]) {
    primes.push(divisors.find((d) => rest % d === 0) ?? rest);
  }
  const blocks = blocksOf(topology);
  const refined = chain([...shape.map((_, d) => product(shape.slice(0, d + 1))), ...blocks], npuCount);
  const blocked = chain(blocks, npuCount);
  yield shape;
  yield refined;
  yield blocked;
  yield [npuCount];
  yield primes;
  for (const sizes of [shape, refined, blocked]) yield* split(sizes);
  for (let factors = 2; factors <= primes.length; factors++) yield* factorizations(npuCount, factors, divisors);
}

/** Returns the lengths of the ranges of NPUs below each switch that divide the NPUs into equal blocks. O(links). */
function blocksOf(topology: Topology): number[] {
  const { npuCount, linkSource, linkTarget } = topology;
  const { tier, tiers } = switchTiers(topology);
  const first = Int32Array.from(tier, (_, v) => (v < npuCount ? v : npuCount));
  const last = Int32Array.from(tier, (_, v) => (v < npuCount ? v : -1));
  for (let t = 1; t <= tiers; t++) {
    for (let link = 0; link < linkSource.length; link++) {
      const [a, b] = [linkSource[link], linkTarget[link]];
      const above = tier[a] === t ? a : b;
      const below = above === a ? b : a;
      if (tier[above] !== t || tier[below] !== t - 1) continue;
      first[above] = Math.min(first[above], first[below]);
      last[above] = Math.max(last[above], last[below]);
    }
  }
  const lengths = new Set<number>();
  for (let v = npuCount; v < tier.length; v++) {
    const length = last[v] - first[v] + 1;
    if (length > 1 && npuCount % length === 0 && first[v] % length === 0) lengths.add(length);
  }
  return [...lengths];
}

/** Returns the ratios of strides that divide each other, shortest first, up to n. */
function chain(strides: readonly number[], n: number): number[] {
  const sizes: number[] = [];
  let last = 1;
  for (const stride of [...strides, n].sort((a, b) => a - b)) {
    if (stride <= last || stride % last !== 0 || n % stride !== 0) continue;
    sizes.push(stride / last);
    last = stride;
  }
  return sizes;
}

/** Yields the sizes with one of them split into two, then into three factors. */
function* split(sizes: readonly number[]): Generator<readonly number[]> {
  for (let factors = 2; factors <= 3; factors++) {
    for (let d = 0; d < sizes.length; d++) {
      const divisors: number[] = [];
      for (let x = 2; x < sizes[d]; x++) if (sizes[d] % x === 0) divisors.push(x);
      for (const parts of factorizations(sizes[d], factors, divisors)) {
        yield [...sizes.slice(0, d), ...parts, ...sizes.slice(d + 1)];
      }
    }
  }
}

/** Yields the ways to write n as an ordered product of so many of its divisors above 1. */
function* factorizations(n: number, factors: number, divisors: readonly number[]): Generator<readonly number[]> {
  if (factors === 1) {
    yield [n];
    return;
  }
  for (const d of divisors) {
    if (d >= n || n % d !== 0) continue;
    for (const rest of factorizations(n / d, factors - 1, divisors)) yield [d, ...rest];
  }
}
