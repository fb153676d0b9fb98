import { bothEnds, type Grouped, groupedBy } from "../graph/graph.ts";
import { gcd } from "../numbers/integers.ts";
import { nodeCount, type Topology } from "../topology/topology.ts";
import type { NetworkSymmetry } from "../trees/tree-flow.ts";
import { imagesOfLinks, isOneToOne, linkKinds } from "./network-maps.ts";
import { factorizations, factorsOf, translateAll } from "./translation.ts";

/**
 * Returns an abelian group of maps of the network onto itself that takes every NPU to every other by exactly one map: the
 * translations of NPUs of some sizes (translation.ts), extended to switches; null where none is found. Sizes are tried in the
 * order of symmetryCandidates. Every map is checked exactly: nodes one to one, links to links of the same bandwidth and
 * latency, generators that commute and have their orders. A size costs little where its first generator fails, and
 * O(dimensions * (links + dimensions * nodes)) where it holds.
 */
export function networkSymmetry(topology: Topology): NetworkSymmetry | null {
  if (topology.npuCount < 2 || topology.linkSource.length === 0) return null;
  const kinds = linkKinds(topology);
  if (!npusLookAlike(topology, kinds)) return null;
  const matcher = switchMatcher(topology, kinds);
  for (const sizes of symmetryCandidates(topology)) {
    // alike switches turned into each other make larger orbits, but what joins them above may forbid it
    const symmetry = symmetryOf(topology, kinds, matcher, sizes, true);
    if (symmetry !== null) return symmetry;
    if (nodeCount(topology) === topology.npuCount) continue;
    const still = symmetryOf(topology, kinds, matcher, sizes, false);
    if (still !== null) return still;
  }
  return null;
}

/** Returns whether every NPU has as many links of each kind, each way, to NPUs and to switches, as NPU 0, as far as a sum tells. */
function npusLookAlike({ npuCount, linkSource, linkTarget }: Topology, kinds: Int32Array): boolean {
  const sum = new Int32Array(npuCount);
  const feed = (npu: number, other: number, kind: number, leaves: number): void => {
    if (npu >= npuCount) return;
    const x = Math.imul(4 * kind + 2 * leaves + (other < npuCount ? 1 : 0) + 1, 0x9e3779b1);
    sum[npu] += Math.imul(x ^ (x >>> 15), 0x2c1b3c6d);
  };
  for (let link = 0; link < kinds.length; link++) {
    feed(linkSource[link], linkTarget[link], kinds[link], 1);
    feed(linkTarget[link], linkSource[link], kinds[link], 0);
  }
  return sum.every((value) => value === sum[0]);
}

/** Returns the translations of these sizes as maps of the whole network; null where they are none. */
function symmetryOf(
  topology: Topology,
  kinds: Int32Array,
  matcher: SwitchMatcher,
  sizes: readonly number[],
  turning: boolean,
): NetworkSymmetry | null {
  const steps: Int32Array[] = [];
  let stride = 1;
  for (let d = 0; d < sizes.length; d++) {
    const step = new Int32Array(nodeCount(topology));
    translateAll(sizes, stride, step.subarray(0, topology.npuCount));
    if (!matcher.extend(step, turning ? turnOf(sizes, d) : (k) => k)) return null;
    if (!isOneToOne(step) || !hasOrder(step, sizes[d]) || imagesOfLinks(topology, kinds, step) === null) return null;
    if (!steps.every((other) => commute(other, step))) return null;
    steps.push(step);
    stride *= sizes[d];
  }
  return { sizes, steps };
}

/**
 * How generator d turns m switches that are alike: their numbers have a digit for each generator, with as many values as
 * divide both its order and what the digits before leave of m, and generator d turns digit d.
 */
function turnOf(sizes: readonly number[], d: number): (k: number, m: number) => number {
  return (k, m) => {
    let before = 1;
    for (let e = 0; e < d; e++) before *= gcd(m / before, sizes[e]);
    const values = gcd(m / before, sizes[d]);
    const digit = Math.floor(k / before) % values;
    return k + before * (((digit + 1) % values) - digit);
  };
}

/** Returns whether the order-th power of a map is the identity: every circle's length divides it. O(nodes). */
function hasOrder(map: Int32Array, order: number): boolean {
  const seen = new Uint8Array(map.length);
  for (let v = 0; v < map.length; v++) {
    let length = 0;
    for (let u = v; seen[u] === 0; u = map[u]) {
      seen[u] = 1;
      length++;
    }
    if (length > 0 && order % length !== 0) return false;
  }
  return true;
}

function commute(a: Int32Array, b: Int32Array): boolean {
  for (let v = 0; v < a.length; v++) if (a[b[v]] !== b[a[v]]) return false;
  return true;
}

/** Above this many candidates the search for a group gives up. */
const MOST_CANDIDATES = 512;

const product = (sizes: readonly number[]): number => sizes.reduce((all, size) => all * size, 1);

/**
 * Yields sizes of groups of translations (translation.ts) that a network may have, likely ones first, none twice, none of them
 * 1: the topology's shape; the shape refined by the blocks of NPUs below each switch (servers of a leaf, leaves of a pod); one
 * ring; all prime factors; one of the sizes so far split in two or three; then products of two factors, of three, ...
 */
function* symmetryCandidates(topology: Topology): Generator<readonly number[]> {
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
  const { divisors, primes } = factorsOf(npuCount);
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

/** The tier of each node: 0 for NPUs, t for switches t links away from the nearest; -1 where no links lead to one. */
interface SwitchTiers {
  /** [nodes] */
  readonly tier: Int32Array;
  /** The highest tier. */
  readonly tiers: number;
  /** Switches by tier, then number. */
  readonly order: Int32Array;
}

/** Returns the ends of links at each node: link l as 2l where it leaves it, 2l + 1 where it enters. O(nodes + links). */
const linkEnds = (topology: Topology): Grouped =>
  groupedBy(bothEnds(topology.linkSource, topology.linkTarget), nodeCount(topology));

/** Returns the tier of each node, links taken both ways. O(nodes + links). */
function switchTiers(topology: Topology, ends = linkEnds(topology)): SwitchTiers {
  const { npuCount, linkSource, linkTarget } = topology;
  const nodes = nodeCount(topology);
  const tier = new Int32Array(nodes).fill(-1).fill(0, 0, npuCount);
  const queue = Int32Array.from({ length: nodes }, (_, v) => v);
  let last = npuCount;
  for (let i = 0; i < last; i++) {
    const v = queue[i];
    for (let j = ends.offset[v]; j < ends.offset[v + 1]; j++) {
      const link = ends.items[j] >> 1;
      const u = (ends.items[j] & 1) === 0 ? linkTarget[link] : linkSource[link];
      if (tier[u] >= 0) continue;
      tier[u] = tier[v] + 1;
      queue[last++] = u;
    }
  }
  const order = queue.slice(npuCount, last).sort((a, b) => tier[a] - tier[b] || a - b);
  return { tier, tiers: order.length === 0 ? 0 : tier[order[order.length - 1]], order };
}

/** Extends maps of the NPUs to switches. */
interface SwitchMatcher {
  /**
   * Completes `map` [nodes], which says where each NPU goes, tier by tier: a switch goes to one whose links to lower tiers are
   * those of its image; of several such switches the k-th to the k-th. Where these are the same switches again, `turn` says
   * where the k-th of m goes instead. Returns false when there is no such switch; that the result is a map of the network
   * onto itself is for the caller to check, for links are compared by a hash here. O(nodes + links).
   */
  extend(map: Int32Array, turn: (k: number, m: number) => number): boolean;
}

/** Two 32-bit hashes of the links of a node to lower tiers, in any order, as one number below 2^53. */
type Signature = (node: number, map: Int32Array | null) => number;

function mixed(neighbour: number, kind: number, salt: number): number {
  let x = Math.imul(neighbour + 1, 0x9e3779b1) ^ Math.imul(kind + salt, 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d);
  x = Math.imul(x ^ (x >>> 12), 0x297a2d39);
  return x ^ (x >>> 15);
}

/** Returns the matcher of a network whose links have these kinds: [links] equal where a map may take one to the other. */
function switchMatcher(topology: Topology, kinds: Int32Array): SwitchMatcher {
  const { linkSource, linkTarget } = topology;
  const ends = linkEnds(topology);
  const { tier, order } = switchTiers(topology, ends);
  const nodes = nodeCount(topology);

  const signature: Signature = (node, map) => {
    let low = 0;
    let high = tier[node];
    for (let i = ends.offset[node]; i < ends.offset[node + 1]; i++) {
      const link = ends.items[i] >> 1;
      const leaves = 1 - (ends.items[i] & 1);
      const u = leaves === 1 ? linkTarget[link] : linkSource[link];
      if (tier[u] >= tier[node]) continue;
      const image = map === null ? u : map[u];
      low = (low + mixed(image, 2 * kinds[link] + leaves, 1)) | 0;
      high = (high + mixed(image, 2 * kinds[link] + leaves, 0x51ed)) | 0;
    }
    return (low >>> 0) * 0x200000 + (high & 0x1fffff);
  };

  // switches that look alike from below, ascending
  const alike = new Map<number, number[]>();
  const own: (readonly number[])[] = new Array(nodes);
  const place = new Int32Array(nodes);
  for (const w of order) {
    const key = signature(w, null);
    const list = alike.get(key) ?? [];
    alike.set(key, list);
    own[w] = list;
    place[w] = list.length;
    list.push(w);
  }

  const extend = (map: Int32Array, turn: (k: number, m: number) => number): boolean => {
    for (let v = topology.npuCount; v < nodes; v++) map[v] = v;
    for (const w of order) {
      const list = alike.get(signature(w, map));
      if (list === undefined || list.length !== own[w].length) return false;
      map[w] = list[list === own[w] ? turn(place[w], list.length) : place[w]];
    }
    return true;
  };
  return { extend };
}
