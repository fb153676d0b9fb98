import { InternalError } from "../../base/errors.ts";
import { below, draw } from "../../base/random.ts";
import type { CommTimes } from "../../model/comm/schedule.ts";
import { graphOf } from "../../model/direct/construction.ts";
import type { Digraph } from "../../model/direct/digraph.ts";
import { leastBandwidthTime } from "../../model/direct/facts.ts";
import { metacyclicProduct } from "../../model/direct/families/metacyclic.ts";
import { gcd } from "../../model/numbers/integers.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import { add, compare, format, parseRational, rational } from "../../model/numbers/rational.ts";
import { type Balancer, bfbTimes } from "../bfb/broadcast.ts";
import { baseOf, type Candidate, isSurpassed, TRAITS } from "./candidates.ts";
import { distinct, offsetsOfSmallDiameter } from "./offsets.ts";

/** Graphs whose T_B has to be computed: generalized Kautz graphs, circulants and Cayley digraphs, which are searched for too. */

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

/** What was computed, by kind, size and degree: "Pi 1024 4", "C 64 6", "DC 64 4", "Cayley 16 4". */
export type Evaluations = Map<string, readonly Evaluated[]>;

/** Changes where other graphs are found, or more is kept: what was kept before is then not used. */
export const EVALUATIONS_VERSION = 2;

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

async function circulantsOf(
  nodes: number,
  degree: number,
  undirected: boolean,
  known: Evaluations,
  balance: Balancer,
): Promise<readonly Evaluated[]> {
  const family = undirected ? "C" : "DC";
  const key = `${family} ${nodes} ${degree}`;
  const evaluated = known.get(key) ?? (await evaluateCirculants(family, nodes, degree, balance));
  known.set(key, evaluated);
  return evaluated;
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

/** Returns Cayley digraphs of groups that do not commute, of the least diameter that the search finds; kept in `known`. */
export async function cayleyGraphs(
  nodes: number,
  degree: number,
  known: Evaluations,
  balance: Balancer,
): Promise<Candidate[]> {
  if (nodes > MOST_ELEMENTS) return [];
  const key = `Cayley ${nodes} ${degree}`;
  let evaluated = known.get(key);
  if (evaluated === undefined) {
    const found: Evaluated[] = [];
    for (const { parameters } of elementsOfSmallDiameter(nodes, degree))
      found.push(evaluatedOf("Cayley", parameters, await linedTimes("Cayley", parameters, 0, 1, balance)));
    evaluated = found;
    known.set(key, evaluated);
  }
  return evaluated.map((graph) => candidateOf(graph, nodes, degree, loopless | simple));
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
  const kept = known.get(key)?.[0];
  if (kept !== undefined) return candidateOf(kept, nodes, degree, traits);
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

/**
 * Returns sets of elements of groups Z_m : Z_n that do not commute, whose Cayley digraphs of this many nodes have the least
 * diameter found, then the least mean distance, then the longest ways back. (Sums of offsets in any order are the same node, so
 * circulants of 16 nodes of degree 4 have diameter 3, but Cayley(8,2,7,{1,6,8,11}) has 2.) Hill climbing as in `offsets.ts`.
 */
export function elementsOfSmallDiameter(nodes: number, degree: number): Elements[] {
  if (degree < 2 || degree >= nodes - 1) return [];
  const found = groupsOf(nodes).flatMap((group) => search(group, nodes, degree));
  found.sort((a, b) => byScore(a, b) || byNumbers(a.parameters, b.parameters));
  return found
    .filter(({ diameter }) => diameter === found[0].diameter)
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

/** Returns the best sets of a group, one of each score. */
function search(group: Group, nodes: number, degree: number): (Elements & Score)[] {
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
  const next = (bound: number): number => below(draw(nodes * m + r, degree, counter++), bound);
  for (let spent = 0; spent < BUDGET; ) {
    let elements = distinct(degree, nodes - 1, next);
    let score = scoreOf(elements);
    spent += nodes * degree;
    remember(elements, score);
    for (let failed = 0; failed < PATIENCE && spent < BUDGET; ) {
      const exchanged = [...elements];
      exchanged[next(degree)] = 1 + next(nodes - 1);
      spent += nodes * degree;
      if (new Set(exchanged).size < degree) {
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

/** Returns a function that scores a set of elements by breadth-first search from 1. O(nodes^2) once, O(arcs) each. */
function scorer([m, n, r]: Group, nodes: number, degree: number): (elements: readonly number[]) => Score {
  const product = metacyclicProduct(m, n, r);
  const table = new Int32Array(nodes * nodes);
  const inverse = new Int32Array(nodes);
  for (let element = 0; element < nodes; element++) {
    for (let v = 0; v < nodes; v++) {
      const to = product(v, element);
      table[element * nodes + v] = to;
      if (to === 0) inverse[element] = v;
    }
  }
  const distance = new Int32Array(nodes);
  const queue = new Int32Array(nodes);
  return (elements) => {
    distance.fill(-1);
    distance[0] = 0;
    let [tail, distances] = [1, 0];
    for (let head = 0; head < tail; head++) {
      const level = distance[queue[head]] + 1;
      for (let k = 0; k < degree; k++) {
        const to = table[elements[k] * nodes + queue[head]];
        if (distance[to] >= 0) continue;
        distance[to] = level;
        queue[tail++] = to;
        distances += level;
      }
    }
    if (tail < nodes) return { diameter: Number.POSITIVE_INFINITY, distances, back: 0 };
    const back = elements.reduce((sum, element) => sum + distance[inverse[element]], 0);
    return { diameter: distance[queue[tail - 1]], distances, back };
  };
}
