import type { Rational } from "./rational.ts";

/** What proves a bound; anyone can recompute the time from it. */
export type Witness =
  | {
      /** The nodes of S; the chunks that must enter S cannot do so faster. */
      readonly kind: "cut";
      readonly nodes: readonly number[];
      readonly npusInside: number;
      /** Bandwidth of the links that enter S, GB/s. */
      readonly entryGBps: number;
      /** Chunks (or bytes, for a limit) that must enter S. */
      readonly demand: string;
    }
  | { readonly kind: "work"; readonly demand: string; readonly totalGBps: number }
  | { readonly kind: "latency"; readonly from: number; readonly to: number }
  | { readonly kind: "nothing" };

/** A proved lower bound on the time of a collective. */
export interface Bound {
  /** Exact, in picoseconds. */
  readonly ps: Rational;
  readonly witness: Witness;
}
