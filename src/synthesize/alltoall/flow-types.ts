import type { ConcurrentFlow, ConcurrentProblem } from "../../engine/contract/kernels.ts";
import type { Rational } from "../../model/numbers/rational.ts";

/**
 * The concurrent flow of an all-to-all (Zhao 2026, LP A.1), with its proof: every NPU sends `rate` times its demand to every
 * other at once, and no flow does so faster than `bound`. Both are exact, in bytes per second for one unit of demand.
 */
export interface AllToAllFlow {
  /** Reached by the flows, to the last digit: rate <= the optimum. */
  readonly rate: Rational;
  /** sum of bandwidth * length over links, by sum of demand * distance over pairs: the optimum <= bound. */
  readonly bound: Rational;
  /** [links] lengths that prove the bound, 0 .. 2^30. */
  readonly lengths: Int32Array;
  /** Returns the flow of an NPU's demand over each link, for one unit of rate, without circles, [links]. O(links) and more. */
  flow(source: number): Float64Array;
  /** In words: how it was found. */
  readonly method: string;
}

/** What the flow needs of the kernels' runner. */
export interface FlowRunner {
  concurrent(problem: ConcurrentProblem): Promise<ConcurrentFlow>;
}
