import { InternalError } from "../../base/errors.ts";
import { below, draw } from "../../base/random.ts";
import type { CommTimes } from "../../model/comm/schedule.ts";
import { graphOf } from "../../model/direct/construction.ts";
import type { Digraph } from "../../model/direct/digraph.ts";
import { leastBandwidthTime } from "../../model/direct/facts.ts";
import { range } from "../../model/direct/families/family.ts";
import { metacyclicInverse, metacyclicProduct } from "../../model/direct/families/metacyclic.ts";
import { gcd } from "../../model/numbers/integers.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import { add, compare, format, parseRational, rational } from "../../model/numbers/rational.ts";
import { type Balancer, bfbTimes } from "../bfb/broadcast.ts";
import { baseOf, type Candidate, isSurpassed, TRAITS } from "./candidates.ts";
import { distinct, offsetsOfSmallDiameter, pairsOfSmallDistance } from "./offsets.ts";

/** Graphs whose T_B has to be computed: generalized Kautz graphs, cube-connected cycles, and circulants and Cayley graphs, which are searched for too. */

/** A graph of a family with its BFB times; plain data, so that results can be kept. */
export interface Evaluated {
  readonly family: string;
  readonly parameters: readonly number[];
  /** How often the line graph is taken. */
  readonly lines: number;
  readonly steps: number;
  /** T_B in units of M / B: "341/256". */
  readonly bandwidth: string;
}

/** What was computed, by kind, size and degree: "Pi 1024 4", "C 64 6", "DC 64 4", "Cayley 16 4", "Both 16 4", "Close 16 4", "CCC 24 3". */
export type Evaluations = Map<string, readonly Evaluated[]>;

/** Changes where other graphs are found, or more is kept: what was kept before is then not used. */
export const EVALUATIONS_VERSION = 3;

const { loopless, simple, balanced, bidirectional, reversible } = TRAITS;

/** Line graphs of circulants are evaluated up to this many nodes. */
const MOST_LINED = 2048;

/**
 * Returns circulants of least diameter that the search finds, directed or both ways, whose line graph taken so often has that
 * many nodes; kept in `known`. Line graphs are given only where they take less than theorem 7 says.
 */
export async function circulants(
  nodes: number,
  degree: number,
  undirected: boolean,
  known: Evaluations,
  balance: Balancer,
): Promise<Candidate[]> {
  const found: Candidate[] = [];
  const base = loopless | simple | reversible;
  for (let lines = 0, size = nodes; size > degree + 1 && Number.isInteger(size); lines++, size /= degree) {
    for (const graph of await circulantsOf(size, degree, undirected, known, balance)) {
      if (graph.lines !== lines) continue;
      found.push(candidateOf(graph, nodes, degree, undirected && lines === 0 ? base | bidirectional : base));
    }
    if (undirected || nodes > MOST_LINED) break;
  }
  return found;
}

function circulantsOf(
  nodes: number,
  degree: number,
  undirected: boolean,
  known: Evaluations,
  balance: Balancer,
): Promise<readonly Evaluated[]> {
  const family = undirected ? "C" : "DC";
  return kept(known, `${family} ${nodes} ${degree}`, () => evaluateCirculants(family, nodes, degree, balance));
}

/**
 * Tries sets of offsets, even ones first, until one gives bandwidth-optimal schedules, of its line graphs too. In L(G) a node has
 * one of the shards that theorem 7 counts: its own. Where that comes back equally late to all nodes, and then over several
 * ports, a step is shorter by it, and the schedule optimal again; the equality of theorem 10 does not hold there (a node's
 * out-neighbour in its proof depends on the shard): L(DC(11,{1,4})) takes 21/22, not 1.
 */
async function evaluateCirculants(family: "C" | "DC", nodes: number, degree: number, balance: Balancer) {
  const best: Evaluated[] = [];
  let deepest = 0;
  while (family === "DC" && nodes * degree ** (deepest + 1) <= MOST_LINED) deepest++;
  for (const { offsets, even } of offsetsOfSmallDiameter(nodes, degree, family === "C")) {
    const depth = Math.min(even, deepest);
    if (best.length > depth && isOptimal(best[0], nodes)) break;
    const parameters = [nodes, ...offsets];
    for (let lines = 0, size = nodes; lines <= depth; lines++, size *= degree) {
      const times = await linedTimes(family, parameters, lines, degree ** lines, balance);
      const found = evaluatedOf(family, parameters, times, lines);
      const optimal = isOptimal(found, size);
      const better = optimal && (best.length <= lines || !isOptimal(best[lines], size));
      if (better || best.length === 0) best[lines] = found;
      if (!optimal) break;
    }
  }
  return best;
}

const isOptimal = ({ bandwidth }: Evaluated, nodes: number): boolean =>
  compare(parseRational(bandwidth) ?? rational(0), leastBandwidthTime(nodes)) === 0;

/** Returns the BFB times of L^n of a graph whose nodes are all alike: paths from node 0 stand for all. */
function linedTimes(family: string, parameters: readonly number[], times: number, paths: number, balance: Balancer) {
  const base = { kind: "family", family, parameters } as const;
  const graph = graphOf(times === 0 ? base : { kind: "line", times, base });
  return bfbTimes(graph, indicesBelow(paths), balance);
}

/** Cayley digraphs are searched for up to this many nodes; larger ones are line graphs of them. */
const MOST_ELEMENTS = 96;
/** Those whose links come in pairs have no line graphs. */
const MOST_PAIRED = 4096;

/**
 * Returns Cayley graphs of the least diameter that the search finds, kept in `known`: digraphs of groups that do not commute, or
 * graphs whose links come in opposite pairs, of all groups of two cycles that are none of one.
 */
export async function cayleyGraphs(
  nodes: number,
  degree: number,
  undirected: boolean,
  known: Evaluations,
  balance: Balancer,
): Promise<Candidate[]> {
  if (nodes > (undirected ? MOST_PAIRED : MOST_ELEMENTS)) return [];
  const evaluated = await kept(known, `${undirected ? "Both" : "Cayley"} ${nodes} ${degree}`, async () => {
    const found: Evaluated[] = [];
    for (const { parameters } of elementsOfSmallDiameter(nodes, degree, undirected))
      found.push(evaluatedOf("Cayley", parameters, await linedTimes("Cayley", parameters, 0, 1, balance)));
    return found;
  });
  const traits = undirected ? loopless | simple | bidirectional | reversible : loopless | simple;
  return evaluated.map((graph) => candidateOf(graph, nodes, degree, traits));
}

async function kept(
  known: Evaluations,
  key: string,
  evaluate: () => Promise<readonly Evaluated[]>,
): Promise<readonly Evaluated[]> {
  const evaluated = known.get(key) ?? (await evaluate());
  known.set(key, evaluated);
  return evaluated;
}

/**
 * Returns circulants of two offsets with the least distances, for all-to-alls: directed of degree 2, both ways of degree 4; kept in
 * `known`. None of other degrees.
 */
export async function closeCirculants(
  nodes: number,
  degree: number,
  known: Evaluations,
  balance: Balancer,
): Promise<Candidate[]> {
  const undirected = degree === 4;
  if (!undirected && degree !== 2) return [];
  const evaluated = await kept(known, `Close ${nodes} ${degree}`, async () => {
    const found: Evaluated[] = [];
    for (const offsets of pairsOfSmallDistance(nodes, undirected)) {
      const [family, parameters] = [undirected ? "C" : "DC", [nodes, ...offsets]];
      found.push(evaluatedOf(family, parameters, await linedTimes(family, parameters, 0, 1, balance)));
    }
    return found;
  });
  const traits = loopless | simple | reversible | (undirected ? bidirectional : 0);
  return evaluated.map((graph) => candidateOf(graph, nodes, degree, traits));
}

/** Returns the cube-connected cycles of a size, kept in `known`; none for other sizes and degrees. All its nodes are alike. */
export async function cubeConnectedCycles(
  nodes: number,
  degree: number,
  known: Evaluations,
  balance: Balancer,
): Promise<Candidate[]> {
  const n = range(3, 30).find((dimensions) => dimensions * 2 ** dimensions === nodes);
  if (degree !== 3 || n === undefined) return [];
  const evaluated = await kept(known, `CCC ${nodes} ${degree}`, async () => [
    evaluatedOf("CCC", [n], await linedTimes("CCC", [n], 0, 1, balance)),
  ]);
  return evaluated.map((graph) => candidateOf(graph, nodes, degree, loopless | simple | bidirectional | reversible));
}

/**
 * Returns the generalized Kautz graph with its BFB times, or null where one of `rivals` surpasses it. Pi(d, dm) is
 * L(Pi(d, m)), so theorem 10 gives its times. Else one target tells what the others cannot better, and then one of each
 * orbit is computed: the maps x -> -x - 1 and x -> x + m / gcd(m, d + 1) take the graph to itself.
 */
export async function generalizedKautz(
  nodes: number,
  degree: number,
  rivals: readonly Candidate[],
  known: Evaluations,
  balance: Balancer,
): Promise<Candidate | null> {
  if (degree < 2 || nodes <= degree) return null;
  const traits = nodes % (degree + 1) === 0 ? loopless | simple : 0;
  const key = `Pi ${nodes} ${degree}`;
  const before = known.get(key)?.[0];
  if (before !== undefined) return candidateOf(before, nodes, degree, traits);
  const smaller = nodes / degree;
  if (Number.isInteger(smaller) && smaller > degree) {
    const base = (await generalizedKautz(smaller, degree, [], known, balance)) as Candidate;
    const times = { steps: base.steps + 1, bandwidth: add(base.bandwidth, rational(1, smaller)) };
    return baseOf("Pi", [degree, nodes], { nodes, degree }, times, traits);
  }
  const graph = graphOf({ kind: "family", family: "Pi", parameters: [degree, nodes] });
  if (rivals.length > 0 && isSurpassed(rivals, { ...(await bfbTimes(graph, Int32Array.of(0), balance)), traits }))
    return null;
  const times = await bfbTimes(graph, kautzTargets(graph, degree), balance);
  const evaluated = evaluatedOf("Pi", [degree, nodes], times);
  known.set(key, [evaluated]);
  return candidateOf(evaluated, nodes, degree, traits);
}

/** Returns a node of each orbit of the two maps. */
function kautzTargets({ nodes }: Digraph, degree: number): Int32Array {
  const period = nodes / gcd(nodes, degree + 1);
  return indicesBelow(Math.ceil(period / 2));
}

const evaluatedOf = (
  family: string,
  parameters: readonly number[],
  { steps, bandwidth }: CommTimes,
  lines = 0,
): Evaluated => ({
  family,
  parameters,
  lines,
  steps,
  bandwidth: format(bandwidth),
});

function candidateOf(evaluated: Evaluated, nodes: number, degree: number, traits: number): Candidate {
  const { family, parameters, lines, steps, bandwidth } = evaluated;
  const exact = parseRational(bandwidth);
  if (exact === null) throw new InternalError(`T_B ${bandwidth} of ${family}`);
  const known = isOptimal(evaluated, nodes) ? traits | balanced : traits;
  const base = baseOf(family, parameters, { nodes, degree }, { steps, bandwidth: exact }, known);
  if (lines === 0) return base;
  return { ...base, construction: { kind: "line", times: lines, base: base.construction }, expansions: 1 };
}

/** Arcs that the search in one group looks at before it ends. */
const BUDGET = 100_000;
/** Exchanges without success before the search starts over. */
const PATIENCE = 12;
/** Sets of a group that are kept: as many of different scores. */
const KEPT = 3;

/** Parameters of the family `Cayley`: m, n, r, then the elements that nodes lead on by. */
interface Elements {
  readonly parameters: readonly number[];
  readonly diameter: number;
}

/** Sets of elements closed under inverses: groups that are searched, sets of each that are at least tried, and evaluated of all. */
const MOST_GROUPS = 24;
const LEAST_TRIED = 40;
const KEPT_PAIRED = 6;

/**
 * Returns sets of elements of groups Z_m : Z_n whose Cayley graphs of this many nodes have the least diameter found, then the
 * least mean distance, then the longest ways back; undirected: each with its inverse. (Sums of offsets in any order are the same
 * node, so circulants of 16 nodes of degree 4 have diameter 3, but Cayley(8,2,7,{1,6,8,11}) has 2.) Hill climbing as in
 * `offsets.ts`.
 */
export function elementsOfSmallDiameter(nodes: number, degree: number, undirected: boolean): Elements[] {
  if (degree < 2 || degree >= nodes - 1 || (undirected && nodes % 2 === 1 && degree % 2 === 1)) return [];
  const groups = undirected ? leastCommuting([...groupsOf(nodes), ...productsOfCycles(nodes)]) : groupsOf(nodes);
  const found = groups.flatMap((group) => search(group, nodes, degree, undirected));
  found.sort((a, b) => byScore(a, b) || byNumbers(a.parameters, b.parameters));
  return found
    .filter(({ diameter }) => diameter === found[0].diameter)
    .slice(0, undirected ? KEPT_PAIRED : found.length)
    .map(({ parameters, diameter }) => ({ parameters, diameter }));
}

type Group = readonly [m: number, n: number, r: number];

/** Returns the groups of this many elements that do not commute; r and r^j give the same group where j has no factor of n. */
export function groupsOf(nodes: number): Group[] {
  const groups: Group[] = [];
  for (let n = 2; n <= nodes / 3; n++) {
    if (nodes % n !== 0) continue;
    const m = nodes / n;
    for (let r = 2; r < m; r++) {
      const powers = [1];
      for (let i = 1; i < n; i++) powers.push((powers[i - 1] * r) % m);
      const same = powers.filter((_, j) => gcd(j, n) === 1);
      if ((powers[n - 1] * r) % m === 1 && same.every((power) => r <= power)) groups.push([m, n, r]);
    }
  }
  return groups;
}

/** Returns the groups Z_m x Z_n of this many elements that are not cyclic. */
function productsOfCycles(nodes: number): Group[] {
  const groups: Group[] = [];
  for (let n = 2; n * n <= nodes; n++) if (nodes % n === 0 && gcd(n, nodes / n) > 1) groups.push([nodes / n, n, 1]);
  return groups;
}

/**
 * Returns the dihedral group, then the others, those first in which most turns and most shifts differ; of many only so many. (Of
 * 4,096 elements no other group that is looked at has three that make all, each with its inverse.)
 */
function leastCommuting(groups: readonly Group[]): readonly Group[] {
  const ranked = groups.map((group) => {
    const [m, n, r] = group;
    let turns = 1;
    for (let power = r; power !== 1; power = (power * r) % m) turns++;
    const isDihedral = n === 2 && r === m - 1;
    return { group, rank: isDihedral ? Number.POSITIVE_INFINITY : Math.min(turns, m / gcd(m, r - 1), n) };
  });
  ranked.sort((a, b) => b.rank - a.rank || byNumbers(a.group, b.group));
  return ranked.slice(0, MOST_GROUPS).map(({ group }) => group);
}

interface Score {
  readonly diameter: number;
  readonly distances: number;
  /** Sum of the distances back along the arcs of a node. */
  readonly back: number;
}

const byScore = (a: Score, b: Score): number => a.diameter - b.diameter || a.distances - b.distances || b.back - a.back;

function byNumbers(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at < 0 ? 0 : a[at] - b[at];
}

/** How sets of elements are drawn; null: the draw has not led to one. */
interface Sampler {
  readonly first: () => number[] | null;
  /** Returns a set with another element, or pair of inverses, in the place of one. */
  readonly exchanged: (elements: readonly number[]) => number[] | null;
}

type Next = (bound: number) => number;

const anyElements = (nodes: number, degree: number, next: Next): Sampler => ({
  first: () => distinct(degree, nodes - 1, next),
  exchanged: (elements) => {
    const exchanged = [...elements];
    exchanged[next(degree)] = 1 + next(nodes - 1);
    return new Set(exchanged).size < degree ? null : exchanged;
  },
});

/** Sets with the inverses of all their elements. */
function pairedElements([m, n, r]: Group, degree: number, next: Next): Sampler {
  const nodes = m * n;
  const inverse = metacyclicInverse(m, n, r);
  const involutions = range(1, nodes - 1).filter((element) => inverse(element) === element);
  const completed = (elements: readonly number[]): number[] | null => {
    const chosen = new Set(elements);
    for (let failed = 0; failed < PATIENCE && chosen.size < degree; ) {
      const isLast = chosen.size === degree - 1;
      if (isLast && involutions.length === 0) return null;
      const element = isLast ? involutions[next(involutions.length)] : 1 + next(nodes - 1);
      if (chosen.has(element)) failed++;
      else chosen.add(element).add(inverse(element));
    }
    return chosen.size === degree ? [...chosen] : null;
  };
  return {
    first: () => completed([]),
    exchanged: (elements) => {
      const gone = elements[next(elements.length)];
      return completed(elements.filter((element) => element !== gone && element !== inverse(gone)));
    },
  };
}

/** Returns the best sets of a group, one of each score. */
function search(group: Group, nodes: number, degree: number, undirected: boolean): (Elements & Score)[] {
  const [m, n, r] = group;
  const scoreOf = scorer(group, nodes, degree);
  const best: (Elements & Score)[] = [];
  const remember = (elements: readonly number[], score: Score): void => {
    if (score.diameter === Number.POSITIVE_INFINITY || best.some((other) => byScore(other, score) === 0)) return;
    best.push({ parameters: [m, n, r, ...[...elements].sort((a, b) => a - b)], ...score });
    best.sort(byScore);
    if (best.length > KEPT) best.pop();
  };
  let counter = 0;
  const next: Next = (bound) => below(draw(nodes * m + r, degree, counter++), bound);
  const sampler = undirected ? pairedElements(group, degree, next) : anyElements(nodes, degree, next);
  const budget = undirected ? BUDGET + Math.min(LEAST_TRIED * nodes * degree, 10 * BUDGET) : BUDGET;
  for (let spent = 0; spent < budget; ) {
    spent += nodes * degree;
    let elements = sampler.first();
    if (elements === null) continue;
    let score = scoreOf(elements);
    remember(elements, score);
    for (let failed = 0; failed < PATIENCE && spent < budget; ) {
      const exchanged = sampler.exchanged(elements);
      spent += nodes * degree;
      if (exchanged === null) {
        failed++;
        continue;
      }
      const other = scoreOf(exchanged);
      const order = byScore(other, score);
      failed = order < 0 ? 0 : failed + 1;
      if (order > 0) continue;
      [elements, score] = [exchanged, other];
      remember(elements, score);
    }
  }
  return best;
}

/** Returns a function that scores a set of elements by breadth-first search from 1. O(arcs) each, O(nodes) once for an element. */
function scorer([m, n, r]: Group, nodes: number, degree: number): (elements: readonly number[]) => Score {
  const product = metacyclicProduct(m, n, r);
  const inverse = metacyclicInverse(m, n, r);
  /** [element][v] v times the element. */
  const table = new Map<number, Int32Array>();
  const columnOf = (element: number): Int32Array => {
    const known = table.get(element) ?? Int32Array.from({ length: nodes }, (_, v) => product(v, element));
    table.set(element, known);
    return known;
  };
  const distance = new Int32Array(nodes);
  const queue = new Int32Array(nodes);
  return (elements) => {
    const columns = elements.map(columnOf);
    distance.fill(-1);
    distance[0] = 0;
    let [tail, distances] = [1, 0];
    for (let head = 0; head < tail; head++) {
      const level = distance[queue[head]] + 1;
      for (let k = 0; k < degree; k++) {
        const to = columns[k][queue[head]];
        if (distance[to] >= 0) continue;
        distance[to] = level;
        queue[tail++] = to;
        distances += level;
      }
    }
    if (tail < nodes) return { diameter: Number.POSITIVE_INFINITY, distances, back: 0 };
    const back = elements.reduce((sum, element) => sum + distance[inverse(element)], 0);
    return { diameter: distance[queue[tail - 1]], distances, back };
  };
}
