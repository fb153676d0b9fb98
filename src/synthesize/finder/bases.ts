import { bestCirculant } from "../../model/direct/best-circulant.ts";
import { range } from "../../model/direct/families/family.ts";
import { leastBandwidthTime } from "../../model/direct/optimality.ts";
import { predictLine } from "../../model/direct/predict.ts";
import { type Rational, rational } from "../../model/numbers/rational.ts";
import { type Candidate, FACTOR, TRAITS } from "./candidate.ts";

const { loopless, simple, balanced, bidirectional, reversible } = TRAITS;
/** Undirected simple graphs with bandwidth-optimal BFB schedules. */
const UNDIRECTED = FACTOR | bidirectional | reversible;

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

/** Returns the graphs of table A.3 of a size and degree whose times are known without computing anything. O(sqrt(nodes)). */
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
    if (deBruijn > 0) {
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
  if (degree === 2 && nodes === 8) put("Diamond", [], 3, loopless | simple);
  for (const { d, n, steps, diameter, reverses } of MODIFIED_DE_BRUIJN) {
    if (d !== degree || d ** n !== nodes) continue;
    put("DBJMod", [d, n], steps, loopless | simple | (reverses ? reversible : 0), optimal, diameter);
  }
  return found;
}

/** Returns how often `first` is multiplied by `factor` to give `nodes`; 0 where it is not a power of it times `first`. */
function lineChain(first: number, factor: number, nodes: number): number {
  let times = 0;
  let size = first;
  for (; size < nodes; size *= factor) times++;
  return size === nodes ? times : 0;
}
