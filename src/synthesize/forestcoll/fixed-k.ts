import { InputError } from "../../base/errors.ts";
import { bigSum } from "../../model/numbers/integers.ts";
import { add, compare, multiply, type Rational, rational } from "../../model/numbers/rational.ts";
import { type Optimum, type Packing, packing, type RatedNetwork, type RateKernel, unreachable } from "./optimum.ts";

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
    return { ...found, mostCopiesPerBandwidth, wider: widerNode(network, found.capacity) };
  }
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
  if (all > BigInt(Number.MAX_SAFE_INTEGER)) throw new InputError("--k", "fewer than 2^53 copies in all", all);
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
