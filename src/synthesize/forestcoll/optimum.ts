import { InfeasibleError, InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { Rate, RateProblem } from "../../engine/contract/kernels.ts";
import { bigGcd, bigSum, commonDivisor } from "../../model/numbers/integers.ts";
import { add, compare, multiply, type Rational, rational } from "../../model/numbers/rational.ts";
import { balancedCapacity } from "./cuts.ts";
import type { PackingNetwork } from "./packing.ts";

/** What the optimum depends on. */
export type RatedNetwork = Pick<PackingNetwork, "nodeCount" | "npuCount" | "linkSource" | "linkTarget" | "bandwidth">;

/** The kernel `rate`, wherever it runs. */
export type RateKernel = (problem: RateProblem) => Rate | Promise<Rate>;

/** How many equal copies of trees start at each NPU and fit on each link (B.5.1: the graph G({U b_e})). */
export interface Packing {
  /** Copies per unit of weight, the weights divided by their greatest common divisor: k of the dissertation. */
  readonly k: bigint;
  /** Copies per byte per second of a link: U. */
  readonly copiesPerBandwidth: Rational;
  /** y = 1/U */
  readonly copyBytesPerSecond: Rational;
  /** [npus] k times the NPU's weight. */
  readonly copies: readonly bigint[];
  /** [links] U times the bandwidth, rounded down where k was given. */
  readonly capacity: readonly bigint[];
  /** Bandwidth of all copies: data of the whole collective per second (algorithm bandwidth). */
  readonly bytesPerSecond: Rational;
}

/** The packing that reaches the optimum with the fewest copies. */
export interface Optimum extends Packing {
  /** 1/x*: seconds that one byte from every NPU (weight bytes from each) takes to reach all. */
  readonly inverse: Rational;
  /** [nodes] 1 in the bottleneck cut, a set of nodes that lacks an NPU. */
  readonly cut: Uint8Array;
}

/**
 * Returns the optimum for NPUs that contribute in proportion to `weight` [npus] (exact integers >= 0, not all 0): 1 for all is
 * an all-gather, 1 at one NPU alone a broadcast. Throws InfeasibleError when an NPU cannot be reached, with the cut that
 * nothing leaves; InputError for fewer than two NPUs. One call of the kernel, then O(nodes + links).
 */
export async function optimumOf(network: RatedNetwork, weight: Float64Array, rate: RateKernel): Promise<Optimum> {
  const { nodeCount, npuCount, linkSource, linkTarget, bandwidth } = network;
  return optimumFrom(
    network,
    weight,
    await rate({ nodeCount, npuCount, linkSource, linkTarget, capacity: bandwidth, weight }),
  );
}

/**
 * Returns the optimum where the rate is known. Zhao 2026, 4.5.2 "Determine k" and the proposition in B.5.1: with 1/x* = p/q in
 * lowest terms U = p / gcd(q, all b_e) and k = U x*. Weights: divided by their greatest common divisor, for then k must be an
 * integer as well (a sum of multiples of the weights is 1), and the proposition holds as it stands. Throws as optimumOf does.
 */
export function optimumFrom({ bandwidth, npuCount }: RatedNetwork, weight: Float64Array, rate: Rate): Optimum {
  if (npuCount < 2) throw new InputError("members", "at least two NPUs", npuCount).as("out-of-range");
  if (rate.capacity === 0n) throw unreachable(rate.cut);
  const unit = BigInt(commonDivisor(weight));
  const inverse = rational(rate.shards, rate.capacity);
  const { num: p, den: q } = rational(rate.shards, rate.capacity * unit);
  const divisor = bigGcd(q, BigInt(commonDivisor(bandwidth)));
  const copiesPerBandwidth = rational(p, divisor);
  const k = q / divisor;
  return { ...packing(weight, k, copiesPerBandwidth, bandwidth), inverse, cut: rate.cut };
}

/** Returns the packing of k copies per unit of weight with U copies per bandwidth. O(npus + links). */
export function packing(weight: Float64Array, k: bigint, perBandwidth: Rational, bandwidth: Float64Array): Packing {
  const unit = BigInt(commonDivisor(weight));
  const copies = Array.from(weight, (w) => (k * BigInt(w)) / unit);
  const copyBytesPerSecond = rational(perBandwidth.den, perBandwidth.num);
  return {
    k,
    copiesPerBandwidth: perBandwidth,
    copyBytesPerSecond,
    copies,
    capacity: Array.from(bandwidth, (b) => (perBandwidth.num * BigInt(b)) / perBandwidth.den),
    bytesPerSecond: multiply(rational(bigSum(copies)), copyBytesPerSecond),
  };
}

/** Returns capacities and copies as the kernel `pack` takes them; null where their sum leaves 2^53 - 1. */
export function packable({ capacity, copies }: Packing): { capacity: Float64Array; copies: Float64Array } | null {
  if (bigSum(capacity) + bigSum(copies) > BigInt(Number.MAX_SAFE_INTEGER)) return null;
  return { capacity: Float64Array.from(capacity, Number), copies: Float64Array.from(copies, Number) };
}

/** The error where nothing leaves a set of nodes: its witness lists them. */
const unreachable = (cut: Uint8Array): InfeasibleError =>
  new InfeasibleError("no link leaves a set of nodes that lacks an NPU", {
    nodes: [...cut.keys()].filter((node) => cut[node] === 1),
  });

/** The best packing with k copies per unit of weight. */
export interface FixedPacking extends Packing {
  /** What theorem 35 grants: U* is at most k/x* + 1 / (the least bandwidth). */
  readonly mostCopiesPerBandwidth: Rational;
  /**
   * A node that only forwards and can send on more copies than come in, null where there is none. With one the trees may not
   * exist, and the rate is only an upper bound: floors need not leave a network balanced (B.5.4) unless every link has an
   * opposite one of the same bandwidth. Then `nextCopies` leads on: at most 7 times in 2,000 random networks.
   */
  readonly wider: number | null;
}

/**
 * Returns the best packing with `k` copies per unit of weight (weights divided by their greatest common divisor): the least U
 * for which all cuts of the network with capacities floor(U b_e) are wide enough. Throws InfeasibleError where an NPU cannot be
 * reached.
 *
 * Zhao 2026, algorithm 5 and theorems 33 and 34, by Newton on cuts instead of a binary search: at first U = k/x*; while the
 * narrowest cut is too narrow, U rises to the least that makes that one wide enough. Every U on the way is a lower bound of U*,
 * and a cut once wide enough stays so. One call of the kernel per cut, O(links log links) between them.
 */
export async function fixedCopies(
  network: RatedNetwork,
  weight: Float64Array,
  k: bigint,
  optimum: Pick<Optimum, "k" | "copiesPerBandwidth">,
  rate: RateKernel,
): Promise<FixedPacking> {
  const { bandwidth } = network;
  const least = multiply(rational(k, optimum.k), optimum.copiesPerBandwidth);
  let perBandwidth = least;
  for (;;) {
    const found = packing(weight, k, perBandwidth, bandwidth);
    const narrow = await narrowCut(network, found, rate);
    if (narrow !== null) {
      perBandwidth = leastFor(narrow, network, found, perBandwidth);
      continue;
    }
    const mostCopiesPerBandwidth = add(least, rational(1, BigInt(bandwidth.reduce((a, b) => Math.min(a, b)))));
    return { ...(await rebalanced(network, found, rate)), mostCopiesPerBandwidth };
  }
}

/**
 * Returns the packing with less on links, so that nothing which only forwards has more room for copies out than in, where all cuts
 * stay wide enough then; else as it is. One maximum flow and one call of the kernel.
 */
async function rebalanced(
  network: RatedNetwork,
  found: Packing,
  rate: RateKernel,
): Promise<Packing & Pick<FixedPacking, "wider">> {
  const wider = widerNode(network, found.capacity);
  if (wider === null) return { ...found, wider };
  const all = bigSum(found.copies);
  const room = found.capacity.map((copies) => (copies < all ? copies : all));
  if (bigSum(room) > BigInt(Number.MAX_SAFE_INTEGER)) return { ...found, wider };
  const capacity = Array.from(balancedCapacity(network, Float64Array.from(room, Number)), BigInt);
  const fewer = { ...found, capacity };
  return (await narrowCut(network, fewer, rate)) === null ? { ...fewer, wider: null } : { ...found, wider };
}

/**
 * Returns the packing with the next greater U, at which some link holds one copy more: for when the trees of the present one do
 * not exist because a node that only forwards is `wider`. Its bytes per second are no longer known to be the best. O(links).
 */
export function nextCopies(network: RatedNetwork, weight: Float64Array, present: FixedPacking): FixedPacking {
  const { bandwidth } = network;
  const { k, copiesPerBandwidth: u, mostCopiesPerBandwidth } = present;
  const next = [...new Set(bandwidth)]
    .map((b) => rational((u.num * BigInt(b)) / u.den + 1n, b))
    .reduce((a, b) => (compare(b, a) < 0 ? b : a));
  const found = packing(weight, k, next, bandwidth);
  return { ...found, mostCopiesPerBandwidth, wider: widerNode(network, found.capacity) };
}

/**
 * Returns a cut that fewer copies fit through than start in it, null where there is none. Links that nothing fits on are left
 * out, and no link need have room for more than all copies.
 */
async function narrowCut(network: RatedNetwork, { capacity, copies }: Packing, rate: RateKernel) {
  const { nodeCount, npuCount, linkSource, linkTarget } = network;
  const all = bigSum(copies);
  if (all > BigInt(Number.MAX_SAFE_INTEGER))
    throw new InputError(optionName("k"), "fewer than 2^53 copies in all", all).as("out-of-range");
  const open = Int32Array.from(capacity.keys()).filter((link) => capacity[link] > 0n);
  const {
    shards,
    capacity: leaving,
    cut,
  } = await rate({
    nodeCount,
    npuCount,
    linkSource: open.map((link) => linkSource[link]),
    linkTarget: open.map((link) => linkTarget[link]),
    capacity: Float64Array.from(open, (link) => Number(capacity[link] < all ? capacity[link] : all)),
    weight: Float64Array.from(copies, Number),
  });
  return shards > leaving ? cut : null;
}

/**
 * Returns the least U above the present one for which all copies that start in a cut fit through the links that leave it. It is
 * at most (copies + links) / bandwidth, and up to there every link of bandwidth b has candidates j/b, about twice as many in all
 * as there are links: they are taken in ascending order, links of one bandwidth together.
 */
function leastFor(cut: Uint8Array, network: RatedNetwork, { copies }: Packing, present: Rational): Rational {
  const { linkSource, linkTarget, bandwidth } = network;
  const links = new Map<bigint, bigint>();
  for (let e = 0; e < bandwidth.length; e++) {
    if (cut[linkSource[e]] === 0 || cut[linkTarget[e]] === 1) continue;
    const b = BigInt(bandwidth[e]);
    links.set(b, (links.get(b) ?? 0n) + 1n);
  }
  if (links.size === 0) throw unreachable(cut);
  const starting = bigSum(copies.filter((_, v) => cut[v] === 1));
  const total = bigSum([...links].map(([b, count]) => b * count));
  const atLeast = rational(starting, total);
  const from = compare(atLeast, present) > 0 ? atLeast : present;
  const to = rational(starting + bigSum(links.values()), total);
  const floorAt = (u: Rational, b: bigint): bigint => (u.num * b) / u.den;
  let missing = starting - bigSum([...links].map(([b, count]) => floorAt(from, b) * count));
  if (missing <= 0n) return from;
  const candidates = [...links].flatMap(([b, count]) => {
    const first = floorAt(from, b) + 1n;
    const most = Number(floorAt(to, b) - first) + 1;
    return Array.from({ length: most }, (_, i) => ({ at: rational(first + BigInt(i), b), count }));
  });
  candidates.sort((a, b) => compare(a.at, b.at));
  for (const { at, count } of candidates) {
    missing -= count;
    if (missing <= 0n) return at;
  }
  return to;
}

/** Returns the first switch or other node that only forwards with more capacity out than in, null where there is none. */
function widerNode({ nodeCount, npuCount, linkSource, linkTarget }: RatedNetwork, capacity: readonly bigint[]) {
  const surplus = new Array<bigint>(nodeCount).fill(0n);
  for (let e = 0; e < capacity.length; e++) {
    surplus[linkSource[e]] += capacity[e];
    surplus[linkTarget[e]] -= capacity[e];
  }
  const found = surplus.findIndex((value, node) => node >= npuCount && value > 0n);
  return found < 0 ? null : found;
}
