import type { Construction } from "../../model/direct/construction.ts";
import { constructionText } from "../../model/direct/construction-text.ts";
import { leastBandwidthTime } from "../../model/direct/optimality.ts";
import type { Predicted } from "../../model/direct/predict.ts";
import { compare } from "../../model/numbers/rational.ts";

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
