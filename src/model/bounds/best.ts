import { compare, type Rational, rational } from "../numbers/rational.ts";
import type { Bound, Witness } from "./witness.ts";

/** The largest bound found so far; a later one must be strictly larger to replace it. */
export interface Best {
  ps: Rational;
  witness: Witness;
  /** The bound in whole picoseconds, for bounds that are whole. */
  wholePs: number;
}

export const nothingYet = (): Best => ({ ps: rational(0), witness: { kind: "nothing" }, wholePs: 0 });

export function offerWhole(best: Best, ps: number, witness: () => Witness): void {
  if (ps <= best.wholePs) return;
  best.wholePs = ps;
  best.ps = rational(ps);
  best.witness = witness();
}

export function offerRational(best: Best, ps: Rational, witness: () => Witness): void {
  if (compare(ps, best.ps) <= 0) return;
  best.ps = ps;
  best.witness = witness();
}

export const asBound = (best: Best): Bound => ({ ps: best.ps, witness: best.witness });
