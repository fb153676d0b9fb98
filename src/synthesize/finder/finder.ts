import { constructionText } from "../../model/direct/construction-text.ts";
import type { Balancer } from "../bfb/broadcast.ts";
import { knownBases } from "./bases.ts";
import { type Candidate, FACTOR, has, offer, paretoOf, TRAITS } from "./candidate.ts";
import { cayleyGraphs, circulants, type Evaluations, generalizedKautz } from "./evaluated.ts";
import { bothWays, lined, multiplied, multipliedBy, raised } from "./expansions.ts";

/**
 * The topology finder (Zhao 2026, 3.5.4): all Pareto-efficient networks of N nodes of degree d that graphs of table A.3 and
 * their expansions give. Searched from the target downwards, so that only sizes that lead to it are looked at; what is found
 * for one target serves the next.
 */
export interface TopologyFinder {
  /** Returns the networks that no other found one beats in T_L and T_B, by ascending T_L; empty where there are none. */
  frontier(nodes: number, degree: number): Promise<readonly Candidate[]>;
  /** Returns them with others that are beaten there, but may be better for an all-to-all: base graphs and their line graphs. */
  others(nodes: number, degree: number): Promise<readonly Candidate[]>;
}

export interface FinderOptions {
  /** Only networks whose links come in opposite pairs. */
  readonly bidirectional: boolean;
  /** What was evaluated before; what is evaluated now is added. */
  readonly known: Evaluations;
  /** Called before each size that is searched; throws to end the search. */
  readonly onSize?: (nodes: number, degree: number) => void;
}

/** Returns a finder. One target costs a few thousand predictions and some runs of the kernel `balance`. */
export function topologyFinder(balance: Balancer, options: FinderOptions): TopologyFinder {
  const { bidirectional, known, onSize = () => undefined } = options;
  const wanted = bidirectional ? TRAITS.bidirectional : 0;
  const factors = new Map<string, Promise<readonly Candidate[]>>();
  const networks = new Map<string, Promise<readonly Candidate[]>>();

  /** Circulants are evaluated for the degrees that expansions lead to, not for factors of products: those rarely are better. */
  async function basesOf(nodes: number, degree: number): Promise<Candidate[]> {
    onSize(nodes, degree);
    const found = knownBases(nodes, degree);
    if (degree < 2 || degree >= nodes - 2) return found;
    found.push(...(await circulants(nodes, degree, false, known, balance)));
    if (!bidirectional) found.push(...(await cayleyGraphs(nodes, degree, known, balance)));
    if (bidirectional && degree !== 2 && degree !== 4)
      found.push(...(await circulants(nodes, degree, true, known, balance)));
    return found;
  }

  /** Returns simple graphs with bandwidth-optimal BFB schedules that need no evaluation: theorem 13 makes products of them. */
  const factorsOf = (nodes: number, degree: number) =>
    memoised(factors, `${nodes} ${degree}`, async () => {
      const found: Candidate[] = [];
      for (const base of knownBases(nodes, degree)) if (has(base, FACTOR)) offer(found, base);
      for (const factor of commonFactors(nodes, degree)) {
        for (const base of await factorsOf(nodes / factor, degree / factor))
          if (has(base, TRAITS.bidirectional)) offer(found, multiplied(base, factor));
      }
      for (let first = 2; first * first <= nodes; first++)
        if (nodes % first === 0) await offerProducts(found, first, nodes / first, degree);
      return found;
    });

  /** A simple graph of n nodes has degree n - 1 at most. */
  async function offerProducts(found: Candidate[], first: number, second: number, degree: number): Promise<void> {
    for (let part = Math.max(1, degree - second + 1); part < Math.min(first, degree); part++) {
      const others = await factorsOf(second, degree - part);
      if (others.length === 0) continue;
      for (const one of await factorsOf(first, part)) {
        for (const other of others) {
          const steps = one.steps + other.steps;
          const traits = one.traits & other.traits;
          // all have the same T_B; equals are told apart by their texts
          if (!found.some((rival) => rival.steps < steps && has(rival, traits))) offer(found, multipliedBy(one, other));
        }
      }
    }
  }

  const networksOf = (nodes: number, degree: number) =>
    memoised(networks, `${nodes} ${degree}`, async () => {
      const found: Candidate[] = [...(await factorsOf(nodes, degree))];
      if (nodes < 2) return found;
      for (const base of await basesOf(nodes, degree)) offer(found, base);
      if (degree > 1 && nodes % degree === 0) {
        for (const base of await networksOf(nodes / degree, degree)) {
          const line = lined(base);
          if (line !== null) offer(found, line);
        }
      }
      for (const factor of commonFactors(nodes, degree)) {
        for (const base of await networksOf(nodes / factor, degree / factor))
          if (has(base, TRAITS.loopless)) offer(found, multiplied(base, factor));
      }
      for (let exponent = 2; 2 ** exponent <= nodes; exponent++) {
        const root = Math.round(nodes ** (1 / exponent));
        if (degree % exponent !== 0 || root ** exponent !== nodes) continue;
        for (const base of await networksOf(root, degree / exponent)) offer(found, raised(base, exponent));
      }
      if (degree % 2 === 0) {
        for (const base of await networksOf(nodes, degree / 2))
          if (has(base, TRAITS.reversible)) offer(found, bothWays(base));
      }
      const kautz = await generalizedKautz(nodes, degree, found, known, balance);
      if (kautz !== null) offer(found, kautz);
      return found;
    });

  return {
    async frontier(nodes, degree) {
      const found = await networksOf(nodes, degree);
      return paretoOf(found, wanted);
    },
    async others(nodes, degree) {
      const found = new Map<string, Candidate>();
      for (let lines = 0, size = nodes; Number.isInteger(size) && size > 1; lines++, size /= degree) {
        for (const base of [...(await networksOf(size, degree)), ...(await basesOf(size, degree))]) {
          let graph: Candidate | null = base;
          for (let i = 0; i < lines && graph !== null; i++) graph = lined(graph);
          if (graph !== null && has(graph, wanted)) found.set(constructionText(graph.construction), graph);
        }
        if (degree === 1) break;
      }
      return [...found.values()];
    },
  };
}

function memoised<T>(memo: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  let result = memo.get(key);
  if (result === undefined) {
    result = make();
    memo.set(key, result);
  }
  return result;
}

/** Returns the common divisors above 1. O(degree). */
function commonFactors(nodes: number, degree: number): number[] {
  const factors: number[] = [];
  for (let factor = 2; factor <= degree; factor++)
    if (nodes % factor === 0 && degree % factor === 0 && factor < nodes) factors.push(factor);
  return factors;
}
