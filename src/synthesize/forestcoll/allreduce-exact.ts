import { InfeasibleError } from "../../base/errors.ts";
import type { Rate } from "../../engine/contract/kernels.ts";
import { bigGcd, bigSum } from "../../model/numbers/integers.ts";
import { add, compare, divide, type Rational, rational } from "../../model/numbers/rational.ts";
import { type AllReduceNetwork, reversedNetwork, unbalancedNode } from "./allreduce-network.ts";
import type { RateKernel } from "./optimum.ts";

/** Exact values: whole copies of trees, and how many of them fit on each link. */
export interface AllReduceCopies {
  /** Buffer per second, in units of the network. */
  readonly rate: Rational;
  /** [members] copies of trees rooted at each: exact integers >= 0. */
  readonly copies: Float64Array;
  /** [links] copies of out-trees and of in-trees that fit: exact integers >= 0, balanced at nodes that only forward. */
  readonly out: Float64Array;
  readonly in: Float64Array;
  /** Bandwidth of one copy, in units of the network. */
  readonly copy: Rational;
}

const MOST = BigInt(Number.MAX_SAFE_INTEGER);

/** Returns the bottleneck of broadcasting: `weight` [members] from all members over links of these capacities. */
export async function bottleneckOf(
  network: AllReduceNetwork,
  weight: Float64Array,
  capacity: Float64Array,
  rate: RateKernel,
): Promise<Rate> {
  const used = Int32Array.from(capacity.keys()).filter((l) => capacity[l] > 0);
  return rate({
    nodeCount: network.nodeCount,
    npuCount: network.memberCount,
    linkSource: used.map((l) => network.source[l]),
    linkTarget: used.map((l) => network.target[l]),
    capacity: Float64Array.from(used, (l) => capacity[l]),
    weight,
  });
}

/**
 * Returns the fastest exact solution with shares and capacities in these proportions: `shares` [members], `out` and `in`
 * [links] are exact integers >= 0 with out + in <= parts * bandwidth on every link. Null where they are not, where forwarding
 * nodes are unbalanced, where a member is not reached, or where numbers leave 2^53 - 1. Two calls of the rate kernel.
 *
 * With p/q the greatest ratio x(S) / c(out of S) of both directions, q x and p c satisfy every cut, exactly; where those are
 * too large, x q/p rounded down and c do.
 */
export async function settled(
  network: AllReduceNetwork,
  parts: number,
  shares: Float64Array,
  out: Float64Array,
  into: Float64Array,
  rate: RateKernel,
): Promise<AllReduceCopies | null> {
  const { bandwidth } = network;
  for (let l = 0; l < bandwidth.length; l++) {
    const limit = parts * bandwidth[l];
    if (!(limit <= Number.MAX_SAFE_INTEGER && out[l] >= 0 && into[l] >= 0 && out[l] + into[l] <= limit)) return null;
  }
  const sum = (values: Float64Array): bigint => values.reduce((total, value) => total + BigInt(value), 0n);
  const total = sum(shares);
  if (total < 1n || [total, sum(out), sum(into)].some((value) => value > MOST)) return null;
  if (unbalancedNode(network, out) !== null || unbalancedNode(network, into) !== null) return null;
  const broadcast = await bottleneckOf(network, shares, out, rate);
  const reduce = await bottleneckOf(reversedNetwork(network), shares, into, rate);
  if (broadcast.capacity === 0n || reduce.capacity === 0n) return null;
  const a = rational(broadcast.shards, broadcast.capacity);
  const b = rational(reduce.shards, reduce.capacity);
  const { num: p, den: q } = compare(a, b) > 0 ? a : b;
  const scaledCopies = (of: (x: bigint) => bigint, by: bigint): AllReduceCopies | null => {
    const copies = Array.from(shares, (x) => of(BigInt(x)));
    const links = [out, into].map((column) => Array.from(column, (c) => BigInt(c) * by));
    const common = [copies, ...links].flat().reduce((divisor, x) => bigGcd(x, divisor), 0n);
    const all = bigSum(copies);
    if (all === 0n || [copies, ...links].some((column) => bigSum(column) > MOST * common)) return null;
    const [first, second] = links.map((column) => Float64Array.from(column, (c) => Number(c / common)));
    return {
      rate: rational(all, BigInt(parts) * by),
      copies: Float64Array.from(copies, (x) => Number(x / common)),
      out: first as Float64Array,
      in: second as Float64Array,
      copy: rational(common, BigInt(parts) * by),
    };
  };
  return (p === 0n ? null : scaledCopies((x) => x * q, p)) ?? scaledCopies((x) => (p > q ? (x * q) / p : x), 1n);
}

/**
 * Returns reduce-scatter and all-gather side by side: what each gets of the links, so that
 * both take equally long; null as above. Throws InfeasibleError where members cannot reach each other.
 */
export async function uniformCopies(network: AllReduceNetwork, rate: RateKernel): Promise<AllReduceCopies | null> {
  const ones = new Float64Array(network.memberCount).fill(1);
  const gather = await bottleneckOf(network, ones, network.bandwidth, rate);
  const scatter = await bottleneckOf(reversedNetwork(network), ones, network.bandwidth, rate);
  for (const { capacity, cut } of [gather, scatter]) {
    if (capacity > 0n) continue;
    const nodes = [...network.node.filter((_, v) => cut[v] === 1)].sort((a, b) => a - b);
    throw new InfeasibleError("some members of the group cannot be reached by the others", { nodes });
  }
  // both last as long as their ratios; links are divided in that proportion
  const a = rational(gather.shards, gather.capacity);
  const part = divide(a, add(a, rational(scatter.shards, scatter.capacity)));
  const parts = Number(part.den);
  if (!Number.isSafeInteger(parts)) return null;
  const out = network.bandwidth.map((bandwidth) => bandwidth * Number(part.num));
  const into = network.bandwidth.map((bandwidth) => bandwidth * Number(part.den - part.num));
  return settled(network, parts, ones, out, into, rate);
}
