import { type Construction, constructionText, graphOf } from "../../model/direct/construction.ts";
import { bidirectionalMooreSteps, leastBandwidthTime, mooreSteps } from "../../model/direct/facts.ts";
import { predictBidirectional, predictDegree, predictLine, predictPower } from "../../model/direct/predict.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import { compare } from "../../model/numbers/rational.ts";
import { type Balancer, bfbTimes } from "../bfb/broadcast.ts";
import {
  type Candidate,
  FACTOR,
  has,
  isBeaten,
  knownBases,
  offer,
  paretoOf,
  TRAITS,
  UNDIRECTED,
} from "./candidates.ts";
import {
  cayleyGraphs,
  circulants,
  closeCirculants,
  cubeConnectedCycles,
  type Evaluations,
  generalizedKautz,
} from "./evaluated.ts";

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
  const onSize = options.onSize ?? (() => undefined);
  const finder: Finder = { ...options, onSize, balance, factors: new Map(), networks: new Map() };
  const wanted = options.bidirectional ? TRAITS.bidirectional : 0;

  return {
    async frontier(nodes, degree) {
      const found = await networksOf(finder, nodes, degree);
      return paretoOf(found, wanted);
    },
    async others(nodes, degree) {
      const found = new Map<string, Candidate>();
      for (let lines = 0, size = nodes; Number.isInteger(size) && size > 1; lines++, size /= degree) {
        const close = await closeCirculants(size, degree, options.known, balance);
        const bases = [
          ...(await networksOf(finder, size, degree)),
          ...(await basesOf(finder, size, degree, true)),
          ...close,
        ];
        for (const base of bases) {
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

/** What a finder knows, and what it has found. */
interface Finder extends Required<FinderOptions> {
  readonly balance: Balancer;
  /** By "nodes degree". */
  readonly factors: Map<string, Promise<readonly Candidate[]>>;
  readonly networks: Map<string, Promise<readonly Candidate[]>>;
}

/**
 * Circulants are evaluated for the degrees that expansions lead to, not for factors of products: those rarely are better. Without
 * `all` no paired Cayley graphs are searched for where another graph reaches both bounds.
 */
async function basesOf(finder: Finder, nodes: number, degree: number, all = false): Promise<Candidate[]> {
  const { onSize, known, balance, bidirectional } = finder;
  onSize(nodes, degree);
  const found = knownBases(nodes, degree);
  if (degree < 2 || degree >= nodes - 2) return found;
  found.push(...(await circulants(nodes, degree, false, known, balance)));
  found.push(...(await cubeConnectedCycles(nodes, degree, known, balance)));
  if (bidirectional && degree !== 2 && degree !== 4)
    found.push(...(await circulants(nodes, degree, true, known, balance)));
  if (all || !bidirectional || !found.some(isUnbeatable))
    found.push(...(await cayleyGraphs(nodes, degree, bidirectional, known, balance)));
  return found;
}

/** Whether no graph whose links come in pairs takes less in anything. */
const isUnbeatable = (candidate: Candidate): boolean =>
  has(candidate, UNDIRECTED) && candidate.steps === bidirectionalMooreSteps(candidate.nodes, candidate.degree);

/** Returns simple graphs with bandwidth-optimal BFB schedules that need no evaluation: theorem 13 makes products of them. */
function factorGraphs(finder: Finder, nodes: number, degree: number) {
  const { factors } = finder;
  return memoised(factors, `${nodes} ${degree}`, async () => {
    const found: Candidate[] = [];
    for (const base of knownBases(nodes, degree)) if (has(base, FACTOR)) offer(found, base);
    for (const factor of commonFactors(nodes, degree)) {
      for (const base of await factorGraphs(finder, nodes / factor, degree / factor))
        if (has(base, TRAITS.bidirectional)) offer(found, multiplied(base, factor));
    }
    for (let first = 2; first * first <= nodes; first++)
      if (nodes % first === 0) await offerProducts(finder, found, first, nodes / first, degree);
    return found;
  });
}

/** A simple graph of n nodes has degree n - 1 at most. */
async function offerProducts(
  finder: Finder,
  found: Candidate[],
  first: number,
  second: number,
  degree: number,
): Promise<void> {
  for (let part = Math.max(1, degree - second + 1); part < Math.min(first, degree); part++) {
    const others = await factorGraphs(finder, second, degree - part);
    if (others.length === 0) continue;
    for (const one of await factorGraphs(finder, first, part)) {
      for (const other of others) {
        const steps = one.steps + other.steps;
        const traits = one.traits & other.traits;
        // all have the same T_B; equals are ordered by their texts
        if (!found.some((rival) => rival.steps < steps && has(rival, traits))) offer(found, multipliedBy(one, other));
      }
    }
  }
}

/** Products that no theorem is about are evaluated up to this many nodes. */
const MOST_IN_PRODUCT = 256;

/**
 * Adds products of graphs that are not simple or have no optimal schedule, by BFB, where they may take fewer steps than all
 * bandwidth-optimal networks found. Few do: steps add up, while degrees are shared.
 */
async function offerUnevenProducts(finder: Finder, found: Candidate[], nodes: number, degree: number): Promise<void> {
  const traits = finder.bidirectional ? bidirectional : 0;
  const mayBeBetter = (steps: number): boolean =>
    !isBeaten(found, { steps, bandwidth: leastBandwidthTime(nodes), traits });
  const fewest = finder.bidirectional ? bidirectionalMooreSteps : mooreSteps;
  for (let first = 2; first * first <= nodes && nodes <= MOST_IN_PRODUCT; first++) {
    const second = nodes / first;
    if (!Number.isInteger(second)) continue;
    for (let part = 1; part < degree; part++) {
      if (!mayBeBetter(fewest(first, part) + fewest(second, degree - part))) continue;
      for (const one of await networksOf(finder, first, part)) {
        for (const other of await networksOf(finder, second, degree - part)) {
          if (has(one, FACTOR) && has(other, FACTOR)) continue;
          if (!has(one, traits) || !has(other, traits) || !mayBeBetter(one.diameter + other.diameter)) continue;
          const product = multipliedBy(one, other);
          const graph = graphOf(product.construction);
          const { steps, bandwidth } = await bfbTimes(graph, indicesBelow(nodes), finder.balance);
          const isOptimal = compare(bandwidth, leastBandwidthTime(nodes)) === 0;
          const kept = (product.traits & ~balanced) | (isOptimal ? balanced : 0);
          offer(found, { ...product, steps, bandwidth, diameter: steps, traits: kept });
        }
      }
    }
  }
}

function networksOf(finder: Finder, nodes: number, degree: number) {
  const { networks, known, balance } = finder;
  return memoised(networks, `${nodes} ${degree}`, async () => {
    const found: Candidate[] = [...(await factorGraphs(finder, nodes, degree))];
    if (nodes < 2) return found;
    for (const base of await basesOf(finder, nodes, degree)) offer(found, base);
    if (degree > 1 && nodes % degree === 0) {
      for (const base of await networksOf(finder, nodes / degree, degree)) {
        const line = lined(base);
        if (line !== null) offer(found, line);
      }
    }
    for (const factor of commonFactors(nodes, degree)) {
      for (const base of await networksOf(finder, nodes / factor, degree / factor))
        if (has(base, TRAITS.loopless)) offer(found, multiplied(base, factor));
    }
    for (let exponent = 2; 2 ** exponent <= nodes; exponent++) {
      const root = Math.round(nodes ** (1 / exponent));
      if (degree % exponent !== 0 || root ** exponent !== nodes) continue;
      for (const base of await networksOf(finder, root, degree / exponent)) offer(found, raised(base, exponent));
    }
    if (degree % 2 === 0) {
      for (const base of await networksOf(finder, nodes, degree / 2))
        if (has(base, TRAITS.reversible)) offer(found, bothWays(base));
    }
    const kautz = await generalizedKautz(nodes, degree, found, known, balance);
    if (kautz !== null) offer(found, kautz);
    await offerUnevenProducts(finder, found, nodes, degree);
    return found;
  });
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

const { loopless, simple, balanced, bidirectional, reversible } = TRAITS;

/**
 * Returns the line graph, or null where theorem 10 does not give its times because nodes have a single out-neighbour. It has
 * parallel arcs never, self-loops where the base has them.
 */
export function lined(base: Candidate): Candidate | null {
  if (base.degree === 1 || isRing(base.construction)) return null;
  const { construction } = base;
  const chained: Construction =
    construction.kind === "line"
      ? { ...construction, times: construction.times + 1 }
      : { kind: "line", times: 1, base: construction };
  return {
    ...predictLine(base),
    construction: chained,
    diameter: base.diameter + 1,
    expansions: base.expansions + (construction.kind === "line" ? 0 : 1),
    traits: (base.traits & (loopless | reversible)) | (has(base, loopless) ? simple : 0),
  };
}

const isRing = (construction: Construction): boolean =>
  construction.kind === "family" && construction.family === "UniRing";

/**
 * Returns the degree expansion of a graph without self-loops (theorem 11). Where arcs come in opposite pairs and the schedule is
 * a bandwidth-optimal BFB one of two steps or more, copies of a node receive each other's shards in step 2, evenly over all
 * ports: that BFB schedule takes no further step, and is bandwidth optimal too.
 */
export function multiplied(base: Candidate, factor: number): Candidate {
  const times = predictDegree(base, factor);
  const kept = base.traits & (loopless | simple | bidirectional | reversible);
  const byBfb = has(base, balanced | bidirectional);
  return {
    ...times,
    steps: byBfb ? Math.max(2, base.steps) : times.steps,
    construction: { kind: "degree", factor, base: base.construction },
    diameter: byBfb ? Math.max(2, base.diameter) : times.steps,
    expansions: base.expansions + 1,
    traits: byBfb ? kept | balanced : kept,
  };
}

/** Returns the Cartesian power (theorem 12). */
function raised(base: Candidate, exponent: number): Candidate {
  return {
    ...predictPower(base, exponent),
    construction: { kind: "power", exponent, base: base.construction },
    diameter: base.diameter * exponent,
    expansions: base.expansions + 1,
    traits: has(base, FACTOR) ? base.traits : base.traits & ~balanced,
  };
}

/** Returns the Cartesian product of two simple graphs with bandwidth-optimal BFB schedules (theorem 13). */
export function multipliedBy(first: Candidate, second: Candidate): Candidate {
  const factors = [...factorsOf(first.construction), ...factorsOf(second.construction)];
  const nodes = first.nodes * second.nodes;
  return {
    nodes,
    degree: first.degree + second.degree,
    steps: first.steps + second.steps,
    bandwidth: leastBandwidthTime(nodes),
    construction: productOf(factors),
    diameter: first.diameter + second.diameter,
    expansions: first.expansions + second.expansions + 1,
    traits: first.traits & second.traits,
  };
}

/** A factor and how often it stands in a product. */
interface Factor {
  readonly base: Construction;
  readonly exponent: number;
}

function factorsOf(construction: Construction): Factor[] {
  if (construction.kind === "product") return construction.factors.flatMap(factorsOf);
  if (construction.kind !== "power") return [{ base: construction, exponent: 1 }];
  const { base, exponent } = construction;
  return factorsOf(base).map((factor) => ({ ...factor, exponent: factor.exponent * exponent }));
}

/** Returns the product of factors in order of their texts, equal ones as powers; a power of a product where all stand equally often. */
function productOf(factors: readonly Factor[]): Construction {
  const byText = new Map<string, Factor>();
  for (const { base, exponent } of factors) {
    const text = constructionText(base);
    byText.set(text, { base, exponent: exponent + (byText.get(text)?.exponent ?? 0) });
  }
  const ordered = [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, factor]) => factor);
  const [{ base, exponent }] = ordered as [Factor];
  if (ordered.length === 1) return powerOf({ base, exponent });
  if (ordered.every((factor) => factor.exponent === exponent))
    return powerOf({ base: { kind: "product", factors: ordered.map((factor) => factor.base) }, exponent });
  return { kind: "product", factors: ordered.map(powerOf) };
}

const powerOf = ({ base, exponent }: Factor): Construction =>
  exponent === 1 ? base : { kind: "power", exponent, base };

/** Returns a reverse-symmetric graph together with its transpose (A.1.6). */
function bothWays(base: Candidate): Candidate {
  return {
    ...predictBidirectional(base),
    construction: { kind: "bidirectional", base: base.construction },
    diameter: base.diameter,
    expansions: base.expansions + 1,
    traits: (base.traits & loopless) | bidirectional | reversible,
  };
}
