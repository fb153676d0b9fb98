import { bigLcm } from "../../model/numbers/integers.ts";
import { nearbyFraction } from "../../model/numbers/nearby-fractions.ts";
import { compare, divide, multiply, type Rational, rational } from "../../model/numbers/rational.ts";
import type { DualCertificate } from "../../model/trees/tree-flow.ts";
import type { AllReducePrices, Direction } from "./allreduce-lp.ts";
import type { AllReduceNetwork } from "./allreduce-network.ts";
import type { AllReduceOrbits } from "./allreduce-symmetry.ts";

/**
 * Weak duality of (B.5) in its cut form. Take node sets that each lack a member, with weights w, and potentials g at nodes
 * that only forward (0 at members), both for each direction. If the weights of the sets around each member, of both
 * directions together, sum to 1 or more, then
 *   sum of x_v <= sum over sets of w x(S) <= sum over links of cBC (W_out + G_out) + cRE (W_in + G_in)
 *              <= sum over links of b max(0, W_out + G_out, W_in + G_in),
 * where W_out is the weight of the sets "out" that the link leaves, W_in that of the sets "in" that it enters, and G the
 * potential of its end less that of its start: those terms vanish in sum, as forwarding nodes are balanced.
 *
 * Without potentials the bound would hold, and often be reached, for switches that duplicate and reduce messages.
 */
export type AllReduceCertificate = Required<DualCertificate>;

/** Weights of cuts, each for all of its images together, and potentials that are equal on orbits; all exact. */
export interface OrbitProof {
  readonly cuts: readonly { readonly inside: Uint8Array; readonly direction: Direction; readonly weight: Rational }[];
  /** [nodes] */
  readonly out: readonly Rational[];
  readonly in: readonly Rational[];
}

const ZERO = rational(0);
/** Precisions of the fractions that are tried, coarse ones first: the exact values mostly have small denominators. */
const PRECISIONS = [
  { error: 1e-7, most: 1e3 },
  { error: 1e-9, most: 1e5 },
  { error: 1e-13, most: 1e7 },
];
/** Node numbers that a certificate may list. */
const MOST_LISTED = 4_000_000;

/** Returns the least bound that prices prove, in units of the network, and its proof; null where they prove none. */
export function boundOf(
  network: AllReduceNetwork,
  orbits: AllReduceOrbits,
  prices: AllReducePrices,
): { readonly rate: Rational; readonly proof: OrbitProof } | null {
  let best: { rate: Rational; proof: OrbitProof } | null = null;
  for (const { error, most } of PRECISIONS) {
    const proof = normalized(network, orbits, exactProof(network, prices, error, most));
    if (proof === null) continue;
    const rate = provedRate(network, orbits, proof);
    if (best === null || compare(rate, best.rate) < 0) best = { rate, proof };
  }
  return best;
}

/**
 * Returns the proof of prices as fractions. On a network that equals its reverse the program has cuts "out" only, and each
 * stands for half of itself and half of its mirror image.
 */
function exactProof({ opposite }: AllReduceNetwork, prices: AllReducePrices, error: number, most: number): OrbitProof {
  const fraction = (value: number): Rational => {
    const { num, den } = nearbyFraction(Math.abs(value), error, most);
    return rational(value < 0 ? -num : num, den);
  };
  const half = rational(1, 2);
  const weighted = prices.cuts.map(({ cut, weight }) => ({ ...cut, weight: fraction(weight) }));
  if (opposite === null) {
    return { cuts: weighted, out: Array.from(prices.out, fraction), in: Array.from(prices.in, fraction) };
  }
  const halves = weighted.map((cut) => ({ ...cut, weight: multiply(cut.weight, half) }));
  const out = Array.from(prices.out, (value) => multiply(fraction(value), half));
  return {
    cuts: [...halves, ...halves.map((cut) => ({ ...cut, direction: "in" as const }))],
    out,
    in: out.map((value) => rational(-value.num, value.den)),
  };
}

/** Returns a proof whose sets have weight 1 around the members that have least; null where some have none. */
function normalized(
  { memberCount }: AllReduceNetwork,
  { nodeOrbit, nodes }: AllReduceOrbits,
  proof: OrbitProof,
): OrbitProof | null {
  const scale = commonScale(proof);
  const around = new Map<number, bigint>();
  for (let v = 0; v < memberCount; v++) around.set(nodeOrbit[v], 0n);
  for (const { inside, weight } of proof.cuts) {
    const scaled = scale(weight);
    for (let v = 0; v < memberCount; v++) {
      if (inside[v] === 1) around.set(nodeOrbit[v], (around.get(nodeOrbit[v]) as bigint) + scaled);
    }
  }
  const means = [...around].map(([orbit, sum]) => rational(sum, nodes[orbit]));
  const least = means.reduce((a, b) => (compare(b, a) < 0 ? b : a));
  if (least.num <= 0n) return null;
  const { num, den } = divide(least, rational(scale(rational(1))));
  const unit = rational(den, num);
  return {
    cuts: proof.cuts.map((cut) => ({ ...cut, weight: multiply(cut.weight, unit) })),
    out: proof.out.map((value) => multiply(value, unit)),
    in: proof.in.map((value) => multiply(value, unit)),
  };
}

/** Returns a function that multiplies the proof's fractions, and 1, by their common denominator. */
function commonScale({ cuts, out, in: into }: OrbitProof): (value: Rational) => bigint {
  let common = 1n;
  for (const { den } of [...cuts.map(({ weight }) => weight), ...out, ...into]) common = bigLcm(common, den);
  return ({ num, den }) => num * (common / den);
}

/** Returns what a normalized proof proves: the last sum above, over orbits of links. O(cuts * links). */
function provedRate(network: AllReduceNetwork, { linkOrbit, links }: AllReduceOrbits, proof: OrbitProof): Rational {
  const { source, target, bandwidth } = network;
  const scale = commonScale(proof);
  const out = new Array<bigint>(links.length).fill(0n);
  const into = new Array<bigint>(links.length).fill(0n);
  for (const { inside, direction, weight } of proof.cuts) {
    const scaled = scale(weight);
    const sums = direction === "out" ? out : into;
    const [near, far] = direction === "out" ? [source, target] : [target, source];
    for (let l = 0; l < source.length; l++) {
      if (inside[near[l]] === 1 && inside[far[l]] === 0) sums[linkOrbit[l]] += scaled;
    }
  }
  const gains = [proof.out, proof.in].map((potential) => potential.map(scale)) as [bigint[], bigint[]];
  const bandwidths = new Float64Array(links.length);
  for (let l = 0; l < source.length; l++) {
    bandwidths[linkOrbit[l]] = bandwidth[l];
    out[linkOrbit[l]] += (gains[0][target[l]] as bigint) - (gains[0][source[l]] as bigint);
    into[linkOrbit[l]] += (gains[1][target[l]] as bigint) - (gains[1][source[l]] as bigint);
  }
  let sum = 0n;
  for (let o = 0; o < links.length; o++) {
    const more = out[o] > into[o] ? out[o] : into[o];
    if (more > 0n) sum += more * BigInt(bandwidths[o]);
  }
  return rational(sum, scale(rational(1)));
}

/**
 * Returns the proof as a certificate for the topology: every cut with all its images under the maps, which share its weight.
 * Null where that would be millions of nodes. O(nodes listed * maps).
 */
export function certificateOf(
  network: AllReduceNetwork,
  orbits: AllReduceOrbits,
  proof: OrbitProof,
): AllReduceCertificate | null {
  let left = MOST_LISTED;
  const cuts: AllReduceCertificate["cuts"][number][] = [];
  for (const { inside, direction, weight } of proof.cuts) {
    const images = imagesOf(inside, orbits.maps, left);
    if (images === null) return null;
    const share = multiply(weight, rational(1, images.length));
    for (const image of images) {
      const nodes = network.node.filter((_, v) => image[v] === 1).sort();
      left -= nodes.length;
      cuts.push({ nodes, direction, weight: share });
    }
  }
  const potentials = proof.out.flatMap((out, v) => {
    const into = proof.in[v] ?? ZERO;
    return out.num === 0n && into.num === 0n ? [] : [{ node: network.node[v], out, in: into }];
  });
  return { kind: "dual", cuts, potentials: potentials.sort((a, b) => a.node - b.node) };
}

/** Returns the images of a node set under the group that maps generate, itself first; null where they list too many nodes. */
function imagesOf(inside: Uint8Array, maps: readonly Int32Array[], most: number): Uint8Array[] | null {
  const images = [inside];
  const known = new Set([keyOf(inside)]);
  const size = inside.reduce((sum, bit) => sum + bit, 0);
  for (const set of images) {
    if (images.length * size > most) return null;
    for (const map of maps) {
      const image = new Uint8Array(set.length);
      for (let v = 0; v < set.length; v++) image[map[v]] = set[v];
      const key = keyOf(image);
      if (known.has(key)) continue;
      known.add(key);
      images.push(image);
    }
  }
  return images;
}

/** Returns a text that tells node sets apart. */
function keyOf(inside: Uint8Array): string {
  let key = "";
  for (let v = 0; v < inside.length; v += 16) {
    let bits = 0;
    for (let i = v; i < Math.min(v + 16, inside.length); i++) bits = bits * 2 + inside[i];
    key += String.fromCharCode(bits);
  }
  return key;
}
