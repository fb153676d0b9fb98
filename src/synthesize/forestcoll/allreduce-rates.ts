import { InfeasibleError, InternalError } from "../../base/errors.ts";
import type { Rate } from "../../engine/contract/kernels.ts";
import type { LpSolver } from "../../engine/contract/programs.ts";
import { bigGcd, bigLcm, bigSum, commonDivisor } from "../../model/numbers/integers.ts";
import { add, compare, divide, multiply, type Rational, rational, toNumber } from "../../model/numbers/rational.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { DualCertificate } from "../../model/trees/tree-flow.ts";
import {
  type AllReduceNetwork,
  type AllReduceOrbits,
  type AllReducePoint,
  type AllReducePrices,
  allReduceNetwork,
  allReduceOrbits,
  allReduceProgram,
  type Direction,
  type OrbitCut,
  reversedNetwork,
} from "./allreduce-program.ts";
import { balancedCapacity, cutSearch, unbalancedNode } from "./cuts.ts";
import { PRECISIONS, partsTried, signedFraction } from "./exact-values.ts";
import type { RateKernel } from "./optimum.ts";

export interface AllReduceSolvers {
  readonly rate: RateKernel;
  readonly lp: LpSolver;
}

export interface AllReduceOptions {
  /** [links] bytes per second that may be used of each link: exact integers; default: all. */
  readonly usable?: Float64Array;
  /** Switches that duplicate and sum, and that all trees have to reach; the bound holds also for trees that need not. */
  readonly stops?: readonly number[];
  /** [nodes] each: maps of the network onto itself that are known; others are sought. */
  readonly maps?: readonly Int32Array[];
  /** Linear programs solved at most; the bound is then the best so far. */
  readonly rounds?: number;
  /** Cuts taken at most, likewise. */
  readonly cuts?: number;
  /** With more orbits of links than this nothing is solved. */
  readonly orbits?: number;
  /** A solution of more copies per member than this, on the mean, is made coarser at some cost of its rate. */
  readonly copiesPerMember?: number;
}

/** How fast an all-reduce by trees can be: what each member roots, and how the links are divided among both directions. */
export interface AllReduceRates {
  /** Buffer bytes per second of the solution below. */
  readonly rate: Rational;
  /** Buffer bytes per second that no trees exceed; equal to the rate where that is optimal. */
  readonly bound: Rational;
  readonly optimal: boolean;
  /** [members and stops] copies of trees rooted at each, in ranks, 0 at stops: exact integers >= 0; as many in-trees as out-trees. */
  readonly copies: Float64Array;
  /** Stops that keep the solution below the bound. */
  readonly narrow: readonly number[];
  /** [links] copies of out-trees that fit, and of in-trees (out-trees of the reversed network). Exact integers, balanced at nodes that only forward. */
  readonly outCapacity: Float64Array;
  readonly inCapacity: Float64Array;
  readonly copyBytesPerSecond: Rational;
  /** All members root as many copies: the solution is reduce-scatter and all-gather, side by side. */
  readonly uniform: boolean;
  /** Buffer bytes per second of reduce-scatter followed by all-gather; null where forwarding nodes are unbalanced. */
  readonly uniformRate: Rational | null;
  /** Proves the bound; null where it would list millions of nodes, though the bound was proved all the same. */
  readonly certificate: AllReduceCertificate | null;
  readonly rounds: number;
  readonly cuts: number;
}

const ROUNDS = 400;
const CUTS = 20_000;
/** The program's value is taken for equal to an exact one within this part of it; then exact bounds decide. */
const NEAR = 1e-8;

/**
 * Returns the optimal rate of an all-reduce by in-trees and out-trees with a solution and a proof (Zhao 2026, B.7; see
 * allReduceProgram and AllReduceCertificate), or the best found within the budget with the bound proved by then.
 * `members` are at least two different NPUs. Null where the network has too many orbits of links. Throws InfeasibleError where members cannot reach each other.
 *
 * The linear program is solved for the cuts known, the cuts that its solution violates are added, and so on. Its values are
 * doubles: they are turned into fractions, whose rate the rate kernel finds exactly, and prices into a bound, exactly.
 */
export function allReduceRates(
  topology: Topology,
  members: Int32Array,
  solvers: AllReduceSolvers,
  options?: Omit<AllReduceOptions, "orbits">,
): Promise<AllReduceRates>;
export function allReduceRates(
  topology: Topology,
  members: Int32Array,
  solvers: AllReduceSolvers,
  options: AllReduceOptions,
): Promise<AllReduceRates | null>;
export async function allReduceRates(
  topology: Topology,
  members: Int32Array,
  { rate, lp }: AllReduceSolvers,
  options: AllReduceOptions = {},
): Promise<AllReduceRates | null> {
  const { usable = topology.linkBytesPerSecond, stops } = options;
  const network = allReduceNetwork(topology, members, usable, stops);
  const uniform = await uniformCopies(network, rate);
  const orbits = allReduceOrbits(
    network,
    options.maps?.map((map) => renumbered(network, map)),
  );
  if (orbits.links.length > (options.orbits ?? Number.POSITIVE_INFINITY)) return null;
  const enough = uniform === null ? 0 : toNumber(uniform.rate) * (1 + NEAR);
  const search = cuttingPlanes(network, orbits, lp, enough, options.rounds ?? ROUNDS, options.cuts ?? CUTS);
  const bound = boundOf(network, orbits, search.prices);
  if (bound === null) throw new InternalError("prices of an all-reduce that prove nothing");
  const exact = await solutionNear(network, search.point, uniform, bound.rate, rate);
  const best = await coarser(network, exact, options.copiesPerMember ?? Number.POSITIVE_INFINITY, rate);
  const order = compare(best.rate, bound.rate);
  if (order > 0) throw new InternalError("an all-reduce beyond its bound");
  const bytes = (value: Rational): Rational => multiply(value, rational(network.unit));
  const onLinks = (column: Float64Array): Float64Array => {
    const capacity = new Float64Array(topology.linkSource.length);
    network.link.forEach((link, l) => {
      capacity[link] = column[l];
    });
    return capacity;
  };
  return {
    rate: bytes(best.rate),
    bound: bytes(bound.rate),
    optimal: order === 0,
    copies: best.copies,
    narrow: search.narrow.map((v) => network.node[v]),
    outCapacity: onLinks(best.out),
    inCapacity: onLinks(best.in),
    copyBytesPerSecond: bytes(best.copy),
    uniform: best.copies.subarray(0, members.length).every((copies) => copies === best.copies[0]),
    uniformRate: uniform === null ? null : bytes(uniform.rate),
    certificate: certificateOf(network, orbits, bound.proof),
    rounds: search.rounds,
    cuts: search.cuts,
  };
}

/**
 * Returns the faster of reduce-scatter and all-gather side by side (`uniform`) and of the exact solution of the linear program's
 * point, where there is one.
 */
async function solutionNear(
  network: AllReduceNetwork,
  point: AllReducePoint | null,
  uniform: AllReduceCopies | null,
  bound: Rational,
  rate: RateKernel,
): Promise<AllReduceCopies> {
  const isFaster = (found: AllReduceCopies | null): found is AllReduceCopies =>
    found !== null && (uniform === null || compare(found.rate, uniform.rate) > 0);
  if (point !== null && (uniform === null || compare(uniform.rate, bound) < 0)) {
    const exact = await exactCopies(network, point, bound, rate);
    if (isFaster(exact)) return withFewerCopies(network, exact, rate);
  }
  if (uniform === null) throw new InternalError("no all-reduce near the solution of its linear program");
  return withFewerCopies(network, uniform, rate);
}

/** Returns a map of the topology's nodes as one of the network's. */
function renumbered({ node }: AllReduceNetwork, map: Int32Array): Int32Array {
  const number = new Int32Array(node.length);
  node.forEach((v, i) => {
    number[v] = i;
  });
  return node.map((v) => number[map[v]]);
}

interface Planes {
  /** The last solution; null where the solver gave none. */
  readonly point: AllReducePoint | null;
  /** Of the program of members alone: those bound trees that need not reach the stops as well. */
  readonly prices: AllReducePrices;
  /** Stops that sets with a price lack which have all members. */
  readonly narrow: readonly number[];
  readonly rounds: number;
  readonly cuts: number;
}

/** Returns the solution of the linear program, or how far it got: until its value is `enough`, or no cut is violated. */
function cuttingPlanes(
  network: AllReduceNetwork,
  orbits: AllReduceOrbits,
  lp: LpSolver,
  enough: number,
  mostRounds: number,
  mostCuts: number,
): Planes {
  const { nodeCount, npuCount, rootCount, opposite } = network;
  const reached = firstOf(orbits.nodeOrbit.subarray(0, npuCount));
  const members = reached.filter((v) => v < rootCount);
  const program = allReduceProgram(network, orbits, lp);
  const cut = (direction: Direction) => (inside: Uint8Array) => ({ direction, inside });
  const ways = opposite === null ? (["out", "in"] as const) : (["out"] as const);
  const single = members.map((v) => new Uint8Array(nodeCount).fill(1, v, v + 1));
  const oneOff = members.map((v) => new Uint8Array(nodeCount).fill(1).fill(0, v, v + 1));
  let point: AllReducePoint | null = null;
  let prices: AllReducePrices = {
    cuts: single.map((inside, i) => ({
      cut: { direction: "out", inside },
      weight: orbits.nodes[orbits.nodeOrbit[members[i] as number]],
    })),
    out: new Float64Array(nodeCount),
    in: new Float64Array(nodeCount),
  };
  let rounds = 0;
  let cuts = 0;
  const search = (sinks: readonly number[], first: readonly OrbitCut[]): void => {
    const findOut = cutSearch(network, sinks);
    const findIn = opposite === null ? cutSearch(reversedNetwork(network), sinks) : () => [];
    let fresh = first;
    while (rounds < mostRounds && cuts < mostCuts) {
      if (point !== null)
        fresh = [...findOut(point.shares, point.out).map(cut("out")), ...findIn(point.shares, point.in).map(cut("in"))];
      const added = program.addCuts(fresh);
      if (added === 0) break;
      cuts += added;
      const solved = program.solve();
      if (solved === null) break;
      rounds++;
      ({ point, prices } = solved);
      if (point.rate <= enough) break;
    }
  };
  try {
    search(
      members,
      ways.flatMap((way) => [...single, ...oneOff].map(cut(way))),
    );
    const ofMembers = prices;
    if (reached.length > members.length) search(reached, []);
    const lacked = prices.cuts.filter(({ cut: { inside } }) => !inside.subarray(0, rootCount).includes(0));
    const narrow = Array.from({ length: npuCount - rootCount }, (_, i) => rootCount + i).filter((v) =>
      lacked.some(({ cut: { inside } }) => inside[v] === 0),
    );
    return { point, prices: ofMembers, narrow, rounds, cuts };
  } finally {
    program.close();
  }
}

/** Returns the first index of each value. */
function firstOf(values: Int32Array): number[] {
  const seen = new Set<number>();
  return [...values.keys()].filter((i) => !seen.has(values[i]) && seen.add(values[i]));
}

/** Parts of the rate that values are rounded to where no denominator leads to the bound. */
const FINE_PARTS = 2 ** 40;
/** Copies per root, over what all roots have in common, that are tried for a solution with fewer copies. */
const FEWER = [1, 2, 3, 4, 5, 6, 8];

/**
 * Returns the best exact solution near a point, the first that reaches the bound (of the network, exact): with the common
 * denominator of its values, with multiples of the bound's, and with finely rounded values. The solution of a vertex has small
 * denominators, and those of great bandwidths are out of a double's sight; any rounding is one, if slower. Null where none is.
 */
async function exactCopies(
  network: AllReduceNetwork,
  point: AllReducePoint,
  bound: Rational,
  rate: RateKernel,
): Promise<AllReduceCopies | null> {
  const values = new Set([...point.shares, ...point.out, ...point.in]);
  let best: AllReduceCopies | null = null;
  for (const parts of partsTried(values, bound, network.bandwidth, FINE_PARTS / point.rate)) {
    const found = await rounded(network, point, parts, rate);
    if (found !== null && (best === null || compare(found.rate, best.rate) > 0)) best = found;
    if (best !== null && compare(best.rate, bound) === 0) break;
  }
  return best;
}

/** Returns the exact solution of a point whose values are rounded to whole parts; forwarding nodes are balanced again. */
function rounded(
  network: AllReduceNetwork,
  point: AllReducePoint,
  parts: number,
  rate: RateKernel,
): Promise<AllReduceCopies | null> {
  const whole = (values: Float64Array): Float64Array => values.map((value) => Math.round(value * parts));
  const limited = (values: Float64Array, limit: (l: number) => number): Float64Array =>
    balancedCapacity(
      network,
      whole(values).map((value, l) => Math.min(value, limit(l))),
    );
  const out = limited(point.out, (l) => parts * network.bandwidth[l]);
  const into = limited(point.in, (l) => parts * network.bandwidth[l] - out[l]);
  return settled(network, parts, whole(point.shares), out, into, rate);
}

/**
 * Returns the solution with fewer, wider copies where capacities rounded down to those still carry them, at the same rate:
 * odd bandwidths of links that are not used up would otherwise decide how many copies there are.
 */
async function withFewerCopies(
  network: AllReduceNetwork,
  solution: AllReduceCopies,
  rate: RateKernel,
): Promise<AllReduceCopies> {
  const shared = commonDivisor(solution.copies);
  for (const multiple of FEWER) {
    const width = shared / multiple;
    if (!Number.isInteger(width) || width === 1) continue;
    const copies = solution.copies.map((x) => x / width);
    const found = await widened(network, solution, copies, width, rate);
    if (found !== null) return found;
  }
  return solution;
}

/**
 * Returns a solution with these copies, each as wide as `width` of the given solution's, where capacities rounded down to those
 * carry them; else null.
 */
async function widened(
  network: AllReduceNetwork,
  solution: AllReduceCopies,
  copies: Float64Array,
  width: number,
  rate: RateKernel,
): Promise<AllReduceCopies | null> {
  const narrowed = (capacity: Float64Array): Float64Array =>
    balancedCapacity(
      network,
      capacity.map((c) => Math.floor(c / width)),
    );
  const { opposite } = network;
  const out = narrowed(solution.out);
  const isMirror = opposite?.every((other, l) => solution.in[other] === solution.out[l]) === true;
  const into = isMirror ? Float64Array.from(opposite as Int32Array, (l) => out[l]) : narrowed(solution.in);
  const fits = async (way: AllReduceNetwork, capacity: Float64Array): Promise<boolean> => {
    const cut = await bottleneckOf(way, copies, capacity, rate);
    return cut.capacity > 0n && cut.shards <= cut.capacity;
  };
  if (!(await fits(network, out)) || !(isMirror || (await fits(reversedNetwork(network), into)))) return null;
  const copy = multiply(solution.copy, rational(width));
  return { rate: multiply(copy, rational(copies.reduce((sum, x) => sum + x, 0))), copies, out, in: into, copy };
}

/** A coarser solution that reaches this part of the rate is taken, else the best of all that were tried. */
const COARSE = 0.985;
/** Widths of copies are tried in steps of this part of the greatest, up to half of it. */
const WIDTHS = 64;

/**
 * Returns a solution of at most `most` copies per member on the mean: rates with large denominators, as after a failure, have so
 * many copies that no trees of them are packed, or run. Shares are rounded to 1, 2, 4, ... copies per member; copies are then as
 * wide as capacities rounded down allow. The same solution where it has no more, or no coarser one was found.
 */
async function coarser(
  network: AllReduceNetwork,
  solution: AllReduceCopies,
  most: number,
  rate: RateKernel,
): Promise<AllReduceCopies> {
  const { rootCount } = network;
  const total = solution.copies.reduce((sum, x) => sum + x, 0);
  if (total <= most * rootCount) return solution;
  let best: AllReduceCopies | null = null;
  for (let perMember = 1; perMember <= most; perMember *= 2) {
    const widest = total / (perMember * rootCount);
    const copies = solution.copies.map((x) => Math.round(x / widest));
    let [steps, none] = [WIDTHS / 2, WIDTHS + 1];
    let found: AllReduceCopies | null = null;
    while (none - steps > 1 || found === null) {
      const middle: number = found === null ? steps : (steps + none) >> 1;
      const width = Math.max(1, Math.floor((widest * middle) / WIDTHS));
      const tried = await widened(network, solution, copies, width, rate);
      if (tried === null && found === null) break;
      if (tried === null) none = middle;
      else [steps, found] = [middle, tried];
    }
    if (found !== null && (best === null || compare(found.rate, best.rate) > 0)) best = found;
    if (best !== null && toNumber(best.rate) >= COARSE * toNumber(solution.rate)) break;
  }
  return best ?? solution;
}

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
/** Node numbers that a certificate may list. */
const MOST_LISTED = 4_000_000;

/** Returns the least bound that prices prove, in units of the network, and its proof; null where they prove none. */
function boundOf(
  network: AllReduceNetwork,
  orbits: AllReduceOrbits,
  prices: AllReducePrices,
): { readonly rate: Rational; readonly proof: OrbitProof } | null {
  let best: { rate: Rational; proof: OrbitProof } | null = null;
  for (const precision of PRECISIONS) {
    const proof = normalized(network, orbits, exactProof(network, prices, precision));
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
function exactProof(
  { opposite }: AllReduceNetwork,
  prices: AllReducePrices,
  precision: (typeof PRECISIONS)[number],
): OrbitProof {
  const fraction = (value: number): Rational => signedFraction(value, precision);
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
  { rootCount }: AllReduceNetwork,
  { nodeOrbit, nodes }: AllReduceOrbits,
  proof: OrbitProof,
): OrbitProof | null {
  const scale = commonScale(proof);
  const around = new Map<number, bigint>();
  for (let v = 0; v < rootCount; v++) around.set(nodeOrbit[v], 0n);
  for (const { inside, weight } of proof.cuts) {
    const scaled = scale(weight);
    for (let v = 0; v < rootCount; v++) {
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
  const { linkSource, linkTarget, bandwidth } = network;
  const scale = commonScale(proof);
  const out = new Array<bigint>(links.length).fill(0n);
  const into = new Array<bigint>(links.length).fill(0n);
  for (const { inside, direction, weight } of proof.cuts) {
    const scaled = scale(weight);
    const sums = direction === "out" ? out : into;
    const [near, far] = direction === "out" ? [linkSource, linkTarget] : [linkTarget, linkSource];
    for (let l = 0; l < linkSource.length; l++) {
      if (inside[near[l]] === 1 && inside[far[l]] === 0) sums[linkOrbit[l]] += scaled;
    }
  }
  const gains = [proof.out, proof.in].map((potential) => potential.map(scale)) as [bigint[], bigint[]];
  const bandwidths = new Float64Array(links.length);
  for (let l = 0; l < linkSource.length; l++) {
    bandwidths[linkOrbit[l]] = bandwidth[l];
    out[linkOrbit[l]] += (gains[0][linkTarget[l]] as bigint) - (gains[0][linkSource[l]] as bigint);
    into[linkOrbit[l]] += (gains[1][linkTarget[l]] as bigint) - (gains[1][linkSource[l]] as bigint);
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
function certificateOf(
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

/**
 * Returns what a certificate made for another network with the same nodes proves of this one (bytes per second; weak duality holds
 * for whatever weights and potentials), with weights no greater than that takes; null where it proves nothing: a set has all
 * members, or a member is in none. O(cuts * (nodes + links)).
 */
export function provedHere(
  topology: Topology,
  members: Int32Array,
  usable: Float64Array,
  { cuts, potentials = [] }: DualCertificate,
): { readonly bound: Rational; readonly certificate: AllReduceCertificate } | null {
  const network = allReduceNetwork(topology, members, usable);
  const { node, rootCount, linkSource } = network;
  const ones = (length: number): Int32Array => new Int32Array(length).fill(1);
  const orbits: AllReduceOrbits = {
    maps: [],
    nodeOrbit: Int32Array.from(node.keys()),
    nodes: ones(node.length),
    linkOrbit: Int32Array.from(linkSource.keys()),
    links: ones(linkSource.length),
  };
  const gainOf = new Map(potentials.map((potential) => [potential.node, potential]));
  const gains = (direction: Direction): Rational[] => Array.from(node, (v) => gainOf.get(v)?.[direction] ?? ZERO);
  const inside = (nodes: Int32Array): Uint8Array => {
    const set = new Set(nodes);
    return Uint8Array.from(node, (v) => (set.has(v) ? 1 : 0));
  };
  const here = cuts.map(({ nodes, direction, weight }) => ({ inside: inside(nodes), direction, weight }));
  if (here.some((cut) => !cut.inside.subarray(0, rootCount).includes(0))) return null;
  const proof = normalized(network, orbits, { cuts: here, out: gains("out"), in: gains("in") });
  const certificate = proof && certificateOf(network, orbits, proof);
  if (proof === null || certificate === null) return null;
  return { bound: multiply(provedRate(network, orbits, proof), rational(network.unit)), certificate };
}

/** Returns the images of a node set under the group that maps generate, itself first; null where they list too many nodes. */
export function imagesOf(inside: Uint8Array, maps: readonly Int32Array[], most: number): Uint8Array[] | null {
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

/** Exact values: whole copies of trees, and how many of them fit on each link. */
export interface AllReduceCopies {
  /** Buffer per second, in units of the network. */
  readonly rate: Rational;
  /** [npus] copies of trees rooted at each: exact integers >= 0. */
  readonly copies: Float64Array;
  /** [links] copies of out-trees and of in-trees that fit: exact integers >= 0, balanced at nodes that only forward. */
  readonly out: Float64Array;
  readonly in: Float64Array;
  /** Bandwidth of one copy, in units of the network. */
  readonly copy: Rational;
}

const MOST = BigInt(Number.MAX_SAFE_INTEGER);

/** Returns the bottleneck of broadcasting: `weight` [npus] from all members over links of these capacities. */
async function bottleneckOf(
  network: AllReduceNetwork,
  weight: Float64Array,
  capacity: Float64Array,
  rate: RateKernel,
): Promise<Rate> {
  const used = Int32Array.from(capacity.keys()).filter((l) => capacity[l] > 0);
  return rate({
    nodeCount: network.nodeCount,
    npuCount: network.npuCount,
    linkSource: used.map((l) => network.linkSource[l]),
    linkTarget: used.map((l) => network.linkTarget[l]),
    capacity: Float64Array.from(used, (l) => capacity[l]),
    weight,
  });
}

/**
 * Returns the fastest exact solution with shares and capacities in these proportions: `shares` [npus], `out` and `in`
 * [links] are exact integers >= 0 with out + in <= parts * bandwidth on every link. Null where they are not, where forwarding
 * nodes are unbalanced, where a member is not reached, or where numbers leave 2^53 - 1. Two calls of the rate kernel.
 *
 * With p/q the greatest ratio x(S) / c(out of S) of both directions, q x and p c satisfy every cut, exactly; where those are
 * too large, x q/p rounded down and c do.
 */
async function settled(
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
async function uniformCopies(network: AllReduceNetwork, rate: RateKernel): Promise<AllReduceCopies | null> {
  const ones = new Float64Array(network.npuCount).fill(1, 0, network.rootCount);
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
