import { type Construction, constructionText, graphOf } from "../../model/direct/construction.ts";
import { type Digraph, distancesFrom, regularDegree } from "../../model/direct/digraph.ts";
import { leastBandwidthTime } from "../../model/direct/facts.ts";
import { distanceRegularOf } from "../../model/direct/families/distance-regular.ts";
import { range } from "../../model/direct/families/family.ts";
import { bestCirculant } from "../../model/direct/families/rings.ts";
import { type Predicted, predictLine } from "../../model/direct/predict.ts";
import { compare, type Rational, rational } from "../../model/numbers/rational.ts";

/** A construction with what theorems or its BFB values say of it. */
export interface Candidate extends Predicted {
  readonly construction: Construction;
  /** Never less than that of the graph. */
  readonly diameter: number;
  /** Expansions that lead to it from graphs of families; a chain of line graphs counts once. */
  readonly expansions: number;
  /** Sum of the bits of `TRAITS` that are known to hold. */
  readonly traits: number;
}

/** What expansions ask of a base graph. */
export const TRAITS = {
  /** No self-loops: degree expansion (definition 13). */
  loopless: 1,
  /** No parallel arcs either: products (theorem 13). */
  simple: 2,
  /** The BFB schedule is bandwidth optimal: products (theorem 13). */
  balanced: 4,
  /** Arcs come in opposite pairs. */
  bidirectional: 8,
  /** Isomorphic to its transpose (definition 6): A.1.6. */
  reversible: 16,
} as const;

/** Traits of a factor of a product. */
export const FACTOR = TRAITS.loopless | TRAITS.simple | TRAITS.balanced;

export const has = ({ traits }: Pick<Candidate, "traits">, wanted: number): boolean => (traits & wanted) === wanted;

export const isBandwidthOptimal = ({ nodes, bandwidth }: Predicted): boolean =>
  compare(bandwidth, leastBandwidthTime(nodes)) === 0;

/** Returns a negative number where `a` is simpler: fewer expansions, then less diameter, then the text. */
export const bySimplicity = (a: Candidate, b: Candidate): number =>
  a.expansions - b.expansions || a.diameter - b.diameter || byText(a, b);

function byText(a: Candidate, b: Candidate): number {
  const [first, second] = [constructionText(a.construction), constructionText(b.construction)];
  return first.length - second.length || (first < second ? -1 : first > second ? 1 : 0);
}

/** Returns whether one of them is as good as the times, with these traits at least. */
export const isBeaten = (
  found: readonly Candidate[],
  { steps, bandwidth, traits }: Pick<Candidate, "steps" | "bandwidth" | "traits">,
): boolean =>
  found.some((other) => other.steps <= steps && has(other, traits) && compare(other.bandwidth, bandwidth) <= 0);

/** Returns whether one of them is as good as the times, with these traits at least, and better in T_L or T_B. */
export const isSurpassed = (
  found: readonly Candidate[],
  { steps, bandwidth, traits }: Pick<Candidate, "steps" | "bandwidth" | "traits">,
): boolean =>
  found.some((other) => {
    const order = compare(other.bandwidth, bandwidth);
    return other.steps <= steps && has(other, traits) && (order < 0 || (order === 0 && other.steps < steps));
  });

/**
 * Adds a candidate to those of its size and degree that none of them beats in T_L, T_B and traits, and drops what it beats;
 * of equals the simplest stays. O(candidates).
 */
export function offer(found: Candidate[], candidate: Candidate): void {
  for (const other of found) {
    if (!has(other, candidate.traits) || other.steps > candidate.steps) continue;
    const order = compare(other.bandwidth, candidate.bandwidth);
    if (order > 0) continue;
    const equal = order === 0 && other.steps === candidate.steps && other.traits === candidate.traits;
    if (!equal || bySimplicity(other, candidate) <= 0) return;
  }
  let kept = 0;
  for (const other of found) if (!isBeaten([candidate], other)) found[kept++] = other;
  found.length = kept;
  found.push(candidate);
}

/** Returns those with the traits that no other with them beats in T_L and T_B, by ascending T_L; of equals the simplest. */
export function paretoOf(found: readonly Candidate[], traits = 0): Candidate[] {
  const sorted = found
    .filter((candidate) => has(candidate, traits))
    .sort((a, b) => a.steps - b.steps || compare(a.bandwidth, b.bandwidth) || bySimplicity(a, b));
  const front: Candidate[] = [];
  for (const candidate of sorted) {
    const last = front[front.length - 1];
    if (last === undefined || compare(candidate.bandwidth, last.bandwidth) < 0) front.push(candidate);
  }
  return front;
}

const { loopless, simple, balanced, bidirectional, reversible } = TRAITS;
/** Undirected simple graphs with bandwidth-optimal BFB schedules. */
export const UNDIRECTED = FACTOR | bidirectional | reversible;

/** Returns a graph of a family as a candidate. */
export function baseOf(
  family: string,
  parameters: readonly number[],
  size: { readonly nodes: number; readonly degree: number },
  times: { readonly steps: number; readonly bandwidth: Rational; readonly diameter?: number },
  traits: number,
): Candidate {
  const { steps, bandwidth, diameter = steps } = times;
  const { nodes, degree } = size;
  const construction = { kind: "family", family, parameters } as const;
  return { construction, nodes, degree, steps, bandwidth, diameter, expansions: 0, traits };
}

/** Distance-regular graphs of degree 4 (table A.2): nodes and diameter. */
const DISTANCE_REGULAR = new Map([
  [6, 2],
  [9, 2],
  [10, 3],
  [14, 3],
  [15, 3],
  [16, 4],
  [21, 3],
  [26, 3],
  [32, 4],
  [35, 3],
  [45, 4],
  [70, 7],
  [80, 4],
  [189, 6],
  [728, 6],
]);

/** Modified de Bruijn graphs (table A.3): letters, length, steps, diameter, and whether they are reverse-symmetric. */
const MODIFIED_DE_BRUIJN = [
  { d: 2, n: 3, steps: 4, diameter: 3, reverses: true },
  { d: 2, n: 4, steps: 5, diameter: 4, reverses: false },
  { d: 3, n: 2, steps: 3, diameter: 2, reverses: false },
  { d: 4, n: 2, steps: 3, diameter: 3, reverses: false },
] as const;

/** Returns the graphs of tables A.2 and A.3 of a size and degree whose times are known without computing anything. O(sqrt(nodes)). */
export function knownBases(nodes: number, degree: number): Candidate[] {
  const found: Candidate[] = [];
  const size = { nodes, degree };
  const optimal = leastBandwidthTime(nodes);
  const put = (
    family: string,
    parameters: readonly number[],
    steps: number,
    traits: number,
    bandwidth = optimal,
    diameter = steps,
  ): void => {
    found.push(baseOf(family, parameters, size, { steps, bandwidth, diameter }, traits));
  };
  if (degree === nodes - 1) put("K", [nodes], 1, UNDIRECTED);
  if (nodes === 2 * degree && degree > 1) put("K", [degree, degree], 2, UNDIRECTED);
  for (let n = 2; 2 ** n <= nodes; n++) {
    const q = Math.round(nodes ** (1 / n));
    if (q ** n === nodes && n * (q - 1) === degree) put(q === 2 ? "Q" : "H", q === 2 ? [n] : [n, q], n, UNDIRECTED);
  }
  if (degree > 1) {
    const kautz = lineChain(degree + 1, degree, nodes);
    if (kautz > 0) {
      const complete = { nodes: degree + 1, degree, steps: 1, bandwidth: leastBandwidthTime(degree + 1) };
      const { steps, bandwidth } = predictLine(complete, kautz);
      put("Kautz", [degree, kautz], steps, loopless | simple | reversible, bandwidth);
    }
    const deBruijn = lineChain(degree, degree, nodes);
    if (deBruijn >= 0) {
      const complete = { nodes: degree, degree, steps: 1, bandwidth: rational(1) };
      const { steps, bandwidth } = predictLine(complete, deBruijn);
      put("DBJ", [degree, deBruijn + 1], steps, reversible, bandwidth);
    }
    const ring = loopless | balanced | reversible | (nodes === 2 ? bidirectional : 0);
    put("UniRing", [degree, nodes], nodes - 1, ring);
  } else if (nodes > 2) put("UniRing", [1, nodes], nodes - 1, FACTOR | reversible);
  if (degree % 2 === 0 && nodes > 2) {
    const parallel = degree > 2 ? UNDIRECTED & ~simple : UNDIRECTED;
    put("BiRing", [degree, nodes], Math.floor(nodes / 2), parallel);
  }
  if (degree > 1 && nodes === degree + 2) put("DC", [nodes, ...range(1, degree)], 2, FACTOR | reversible);
  if (degree % 4 === 0 && nodes > 6) {
    const [m, next] = bestCirculant(nodes);
    if (degree === 4) put("C", [nodes, m, next], m, UNDIRECTED);
    else put("MultiC", [degree / 4, nodes, m, next], m, UNDIRECTED & ~simple);
  }
  if (nodes > 2 && degree > nodes - 1 && degree % (nodes - 1) === 0) {
    put("MultiC", [degree / (nodes - 1), nodes, ...range(1, Math.floor(nodes / 2))], 1, UNDIRECTED & ~simple);
  }
  if (degree === 4 && DISTANCE_REGULAR.has(nodes))
    put("DistReg", [4, nodes], DISTANCE_REGULAR.get(nodes) as number, UNDIRECTED);
  else
    for (const { family, parameters, diameter } of distanceRegularOf(nodes, degree))
      put(family, parameters, diameter, UNDIRECTED);
  if (degree === 2 && nodes === 8) put("Diamond", [], 3, loopless | simple);
  for (const { d, n, steps, diameter, reverses } of MODIFIED_DE_BRUIJN) {
    if (d !== degree || d ** n !== nodes) continue;
    put("DBJMod", [d, n], steps, loopless | simple | (reverses ? reversible : 0), optimal, diameter);
  }
  return found;
}

/** Returns how often `first` is multiplied by `factor` to give `nodes`; -1 where it is not a power of it times `first`. */
function lineChain(first: number, factor: number, nodes: number): number {
  let times = 0;
  let size = first;
  for (; size < nodes; size *= factor) times++;
  return size === nodes ? times : -1;
}

/** Searches from all nodes of a graph may look at this many arcs. */
const MOST_VISITS = 5e7;

/**
 * Returns the sum of the distances from a node to all others, on average over nodes, or a little less: all messages of an
 * all-to-all together cross this many links, so its rate is at most the degree by this. Infinity where a node does not reach
 * another, null where the graph is too large. A line graph's distances are those of its base and one, but to the node itself:
 * with S(G) their sum, S(L(G)) = d^2 (S(G) + N^2) less the ways back along each arc. O(arcs) for each node that is not like
 * node 0 of the graph that line graphs start with.
 */
export function meanDistances({ construction }: Pick<Candidate, "construction">): number | null {
  const lines = construction.kind === "line" ? construction.times : 0;
  const base = construction.kind === "line" ? construction.base : construction;
  const graph = graphOf(base);
  const degree = regularDegree(graph) as number;
  const roots = allAlike(graph, base) ? 1 : graph.nodes;
  if (roots * graph.nodes * degree > MOST_VISITS) return null;
  let sum = 0;
  /** [lines] sums of the distances from the end of walks of that many arcs and one to their start. */
  const back = new Float64Array(lines);
  for (let root = 0; root < roots; root++) {
    const distance = distancesFrom(graph, root);
    if (distance.includes(-1)) return Number.POSITIVE_INFINITY;
    sum += distance.reduce((a, b) => a + b, 0);
    let walks: Float64Array = new Float64Array(graph.nodes).fill(1, root, root + 1);
    for (let i = 0; i < lines; i++) {
      walks = oneLonger(graph, walks);
      for (let v = 0; v < graph.nodes; v++) back[i] += walks[v] * distance[v];
    }
  }
  let [mean, nodes] = [sum / roots, graph.nodes];
  for (let i = 0; i < lines; i++) {
    // all per node of the graph so far, of which each has `degree` in the next
    const waysBack = back[i] / roots / degree ** i + degree * (i + 1);
    mean = degree * (mean + nodes) - waysBack / degree;
    nodes *= degree;
  }
  return mean;
}

const allAlike = (graph: Digraph, base: Construction): boolean =>
  graph.translations !== null || (base.kind === "family" && ["Cayley", "CCC"].includes(base.family));

/** Returns how many walks that are an arc longer lead from each node to where `walks` lead, [nodes]. O(arcs). */
function oneLonger({ nodes, offset, target }: Digraph, walks: Float64Array): Float64Array {
  const longer = new Float64Array(nodes);
  for (let v = 0; v < nodes; v++) for (let arc = offset[v]; arc < offset[v + 1]; arc++) longer[v] += walks[target[arc]];
  return longer;
}
