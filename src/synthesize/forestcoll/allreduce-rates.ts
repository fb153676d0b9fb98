import { InternalError } from "../../base/errors.ts";
import type { LpSolver } from "../../engine/contract/lp.ts";
import { compare, multiply, type Rational, rational, toNumber } from "../../model/numbers/rational.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type AllReduceCertificate, boundOf, certificateOf } from "./allreduce-bound.ts";
import { separation } from "./allreduce-cuts.ts";
import { type AllReduceCopies, uniformCopies } from "./allreduce-exact.ts";
import {
  type AllReducePoint,
  type AllReducePrices,
  allReduceProgram,
  type Direction,
  type OrbitCut,
} from "./allreduce-lp.ts";
import { type AllReduceNetwork, allReduceNetwork, reversedNetwork } from "./allreduce-network.ts";
import { exactCopies, withFewerCopies } from "./allreduce-round.ts";
import { type AllReduceOrbits, allReduceOrbits } from "./allreduce-symmetry.ts";
import type { RateKernel } from "./optimum.ts";

export interface AllReduceSolvers {
  readonly rate: RateKernel;
  readonly lp: LpSolver;
}

export interface AllReduceOptions {
  /** [links] bytes per second that may be used of each link: exact integers; default: all. */
  readonly usable?: Float64Array;
  /** [nodes] each: maps of the network onto itself that are known; others are sought. */
  readonly maps?: readonly Int32Array[];
  /** Linear programs solved at most; the bound is then the best so far. */
  readonly rounds?: number;
  /** Cuts taken at most, likewise. */
  readonly cuts?: number;
  /** With more orbits of links than this nothing is solved. */
  readonly orbits?: number;
}

/** How fast an all-reduce by trees can be: what each member roots, and how the links are divided among both directions. */
export interface AllReduceRates {
  /** Buffer bytes per second of the solution below. */
  readonly rate: Rational;
  /** Buffer bytes per second that no trees exceed; equal to the rate where that is optimal. */
  readonly bound: Rational;
  readonly optimal: boolean;
  /** [members] copies of trees rooted at each, in ranks: exact integers >= 0; as many in-trees as out-trees. */
  readonly copies: Float64Array;
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
  const network = allReduceNetwork(topology, members, options.usable ?? topology.linkBytesPerSecond);
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
  const best = await solutionNear(network, search.point, uniform, bound.rate, rate);
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
    outCapacity: onLinks(best.out),
    inCapacity: onLinks(best.in),
    copyBytesPerSecond: bytes(best.copy),
    uniform: best.copies.every((copies) => copies === best.copies[0]),
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
  readonly prices: AllReducePrices;
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
  const { nodeCount, memberCount, opposite } = network;
  const sinks = firstOf(orbits.nodeOrbit.subarray(0, memberCount));
  const program = allReduceProgram(network, orbits, lp);
  const findOut = separation(network, sinks);
  const findIn = opposite === null ? separation(reversedNetwork(network), sinks) : () => [];
  const cut = (direction: Direction) => (inside: Uint8Array) => ({ direction, inside });
  const ways = opposite === null ? (["out", "in"] as const) : (["out"] as const);
  const single = sinks.map((v) => new Uint8Array(nodeCount).fill(1, v, v + 1));
  const oneOff = sinks.map((v) => new Uint8Array(nodeCount).fill(1).fill(0, v, v + 1));
  let point: AllReducePoint | null = null;
  let prices: AllReducePrices = {
    cuts: single.map((inside, i) => ({
      cut: { direction: "out", inside },
      weight: orbits.nodes[orbits.nodeOrbit[sinks[i] as number]],
    })),
    out: new Float64Array(nodeCount),
    in: new Float64Array(nodeCount),
  };
  let rounds = 0;
  let cuts = 0;
  try {
    let fresh: OrbitCut[] = ways.flatMap((way) => [...single, ...oneOff].map(cut(way)));
    while (rounds < mostRounds && cuts < mostCuts) {
      const added = program.addCuts(fresh);
      if (added === 0) break;
      cuts += added;
      const solved = program.solve();
      if (solved === null) break;
      rounds++;
      ({ point, prices } = solved);
      if (point.rate <= enough) break;
      fresh = [...findOut(point.shares, point.out).map(cut("out")), ...findIn(point.shares, point.in).map(cut("in"))];
    }
  } finally {
    program.close();
  }
  return { point, prices, rounds, cuts };
}

/** Returns the first index of each value. */
function firstOf(values: Int32Array): number[] {
  const seen = new Set<number>();
  return [...values.keys()].filter((i) => !seen.has(values[i]) && seen.add(values[i]));
}
