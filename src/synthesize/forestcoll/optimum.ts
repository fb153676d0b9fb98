import { InfeasibleError, InputError } from "../../base/errors.ts";
import type { Rate, RateProblem } from "../../engine/contract/kernels.ts";
import { bigGcd, bigSum, commonDivisor } from "../../model/numbers/integers.ts";
import { multiply, type Rational, rational } from "../../model/numbers/rational.ts";
import type { PackingNetwork } from "./packing-network.ts";

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
  if (npuCount < 2) throw new InputError("members", "at least two NPUs", npuCount);
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
export const unreachable = (cut: Uint8Array): InfeasibleError =>
  new InfeasibleError("no link leaves a set of nodes that lacks an NPU", {
    nodes: [...cut.keys()].filter((node) => cut[node] === 1),
  });
