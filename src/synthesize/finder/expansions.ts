import type { Construction } from "../../model/direct/construction.ts";
import { constructionText } from "../../model/direct/construction-text.ts";
import { leastBandwidthTime } from "../../model/direct/optimality.ts";
import { predictBidirectional, predictDegree, predictLine, predictPower } from "../../model/direct/predict.ts";
import { type Candidate, FACTOR, has, TRAITS } from "./candidate.ts";

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
export function raised(base: Candidate, exponent: number): Candidate {
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
export function bothWays(base: Candidate): Candidate {
  return {
    ...predictBidirectional(base),
    construction: { kind: "bidirectional", base: base.construction },
    diameter: base.diameter,
    expansions: base.expansions + 1,
    traits: (base.traits & loopless) | bidirectional | reversible,
  };
}
