import { InternalError } from "../../errors.ts";
import type { Digraph } from "../../model/direct/digraph.ts";
import { graphOf } from "../../model/direct/graph-of.ts";
import { leastBandwidthTime } from "../../model/direct/optimality.ts";
import { gcd } from "../../model/integers.ts";
import { add, compare, format, parseRational, rational } from "../../model/rational.ts";
import { baseOf } from "./bases.ts";
import { type Balancer, type BfbTimes, bfbTimes } from "./bfb-times.ts";
import { type Candidate, isBeaten, TRAITS } from "./candidate.ts";
import { offsetsOfSmallDiameter } from "./offsets.ts";

/** Graphs whose T_B has to be computed: generalized Kautz graphs, and circulants, whose offsets are searched too. */

/** A graph of a family with its BFB times; plain data, so that results can be kept. */
export interface Evaluated {
  readonly family: string;
  readonly parameters: readonly number[];
  readonly steps: number;
  /** T_B in units of M / B: "341/256". */
  readonly bandwidth: string;
}

/** What was computed, by kind, size and degree: "Pi 1024 4", "C 64 6", "DC 64 4". */
export type Evaluations = Map<string, readonly Evaluated[]>;

/** Changes where other graphs are found, or more is kept: what was kept before is then not used. */
export const EVALUATIONS_VERSION = 1;

const { loopless, simple, balanced, bidirectional, reversible } = TRAITS;

/** Returns circulants of least diameter that the search finds, directed or both ways; kept in `known`. */
export async function circulants(
  nodes: number,
  degree: number,
  undirected: boolean,
  known: Evaluations,
  balance: Balancer,
): Promise<Candidate[]> {
  const family = undirected ? "C" : "DC";
  const key = `${family} ${nodes} ${degree}`;
  let evaluated = known.get(key);
  if (evaluated === undefined) {
    evaluated = await evaluateCirculants(family, nodes, degree, balance);
    known.set(key, evaluated);
  }
  const traits = loopless | simple | reversible | (undirected ? bidirectional : 0);
  return evaluated.map((graph) => candidateOf(graph, nodes, degree, traits));
}

/** Tries sets of offsets, best first, until one gives a bandwidth-optimal schedule. */
async function evaluateCirculants(family: "C" | "DC", nodes: number, degree: number, balance: Balancer) {
  const found: Evaluated[] = [];
  for (const { offsets } of offsetsOfSmallDiameter(nodes, degree, family === "C")) {
    const parameters = [nodes, ...offsets];
    const times = await bfbTimes(graphOf({ kind: "family", family, parameters }), Int32Array.of(0), balance);
    found.push(evaluatedOf(family, parameters, times));
    if (compare(times.bandwidth, leastBandwidthTime(nodes)) === 0) return found.slice(-1);
  }
  return found;
}

/**
 * Returns the generalized Kautz graph with its BFB times, or null where one of `rivals` is as good in all. Pi(d, dm) is
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
  if (rivals.length > 0 && isBeaten(rivals, { ...(await bfbTimes(graph, Int32Array.of(0), balance)), traits }))
    return null;
  const times = await bfbTimes(graph, kautzTargets(graph, degree), balance);
  const evaluated = evaluatedOf("Pi", [degree, nodes], times);
  known.set(key, [evaluated]);
  return candidateOf(evaluated, nodes, degree, traits);
}

/** Returns a node of each orbit of the two maps. */
function kautzTargets({ nodes }: Digraph, degree: number): Int32Array {
  const period = nodes / gcd(nodes, degree + 1);
  return Int32Array.from({ length: Math.ceil(period / 2) }, (_, x) => x);
}

const evaluatedOf = (family: string, parameters: readonly number[], { steps, bandwidth }: BfbTimes): Evaluated => ({
  family,
  parameters,
  steps,
  bandwidth: format(bandwidth),
});

function candidateOf(
  { family, parameters, steps, bandwidth }: Evaluated,
  nodes: number,
  degree: number,
  traits: number,
) {
  const exact = parseRational(bandwidth);
  if (exact === null) throw new InternalError(`T_B ${bandwidth} of ${family}`);
  const optimal = compare(exact, leastBandwidthTime(nodes)) === 0;
  return baseOf(
    family,
    parameters,
    { nodes, degree },
    { steps, bandwidth: exact },
    optimal ? traits | balanced : traits,
  );
}
