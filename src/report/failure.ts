import type { BoundReport } from "./result.ts";

/** What a schedule takes on a network, and the least that any takes there. */
export interface Standing {
  /** Null where it is too large to be simulated unless asked for. */
  readonly us: number | null;
  readonly algbwGBps: number | null;
  readonly limit: BoundReport;
  readonly ofLimit: number | null;
  /** Trees: what they reach with ever more pieces. */
  readonly throughputGBps: number | null;
}

/** A schedule before and after something failed. */
export interface FailureStory {
  /** Nodes, and links between others, that the old network has and the new one has not. */
  readonly lost: readonly string[];
  readonly was: Standing;
  readonly now: Standing;
  /** now / was, of times and of limits; null where one is not known or 0. */
  readonly slower: number | null;
  readonly limitRose: number | null;
  /** What of the old schedule is in the new one, of so many; null where they cannot be compared, as `keptNote` says. */
  readonly kept: { readonly what: "trees" | "transfers"; readonly kept: number; readonly of: number } | null;
  readonly keptNote: string | null;
  /** The cut to blame, a sentence. */
  readonly blame: string;
}

/** One failure among several: what it does to the limit and, where schedules were made, to their time. */
export interface FailureRow {
  readonly without: string;
  /** Null where what is left cannot do the collective. */
  readonly limit: BoundReport | null;
  /** The limit over that of the whole network: 1 does no harm; null: what is left cannot do it. */
  readonly harm: number | null;
  /** The time of a schedule made for what is left; absent where none was asked for. */
  readonly us?: number | null;
  /** The cut to blame, or why it cannot be done. */
  readonly because: string;
}

/** Failures by harm, the worst first. */
export interface FailureRanking {
  readonly whole: { readonly limit: BoundReport; readonly us?: number | null };
  readonly rows: readonly FailureRow[];
}
