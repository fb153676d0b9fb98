import type { Collective, CollectiveKind } from "../model/collective/collective.ts";
import type { LibraryName } from "../model/collective/library-names.ts";
import type { SwitchDegree } from "../model/routes/switch-degrees.ts";
import type { Sketch } from "../model/sketch/sketch.ts";
import type { Topology } from "../model/topology/topology.ts";
import type { TreeFlow } from "../model/trees/tree-flow.ts";

/** Options that some makers take and others do not; each maker lists its own. */
export interface MakerOptions {
  /** Most trials per phase; without it min(64, 1e7 / transfers). */
  readonly trials?: number;
  /** Degree of unwinding of switches, or "ports". */
  readonly switchDegree?: SwitchDegree;
  /**
   * With "auto": after this many milliseconds no further algorithm is tried; 10,000 without it. With algorithms that solve integer
   * programs: how long they may; 60,000 without it.
   */
  readonly timeLimitMs?: number;
  /**
   * Integer programs over the time-expanded network: microseconds of a slot, to which times are rounded (the discretization factor of
   * TACOS 2023); without it exact times where these are few.
   */
  readonly discretizationUs?: number;
  /** What the schedule may use; without it the maker proposes sketches of its own. */
  readonly sketch?: Sketch;
  /**
   * Trees: copies per root; without it as many as the optimum needs, or where these are over a thousand fewer that come within a
   * percent of it; "exact": the optimum, however many; "auto": what is fastest at the size asked for.
   */
  readonly k?: number | "auto" | "exact";
  /** Trees for this network before something failed: those that did not use it are kept. */
  readonly repair?: TreeFlow;
  /** The least share of the new optimum with which they are kept, 0 to 1; 0.99 without it. */
  readonly keepShare?: number;
  /** Trees: false leaves what switches could duplicate and reduce out of the report. */
  readonly nvls?: boolean;
  /** Phases within dimensions, trees of forestcoll: switches that can sum and duplicate do so. */
  readonly offload?: boolean;
}
export type MakerOption = keyof MakerOptions;

/** What all makers say of themselves, whatever they make. */
export interface Maker {
  readonly name: string;
  readonly description: string;
  readonly collectives: readonly CollectiveKind[];
  readonly policies: readonly string[];
  /** Options that it takes beside those that all take; the others are refused. */
  readonly options?: readonly MakerOption[];
  readonly traits?: Traits;
  /** Returns what it needs that is not there ("a power of two of NPUs"); null where it can be used. Cheap. */
  refuses?(topology: Topology, collective: Collective): string | null;
}

/** What a collective takes however it is cut. */
export interface Effort {
  /** Messages that wait for one another, one after the other. */
  readonly chain: number;
  /** Bytes that a member sends, on average. */
  readonly sentBytes: number;
}

/** What those who choose among makers have to know of one. */
export interface Traits {
  /** It solves integer programs, which takes seconds to minutes: only tried where it is asked for by name. */
  readonly solves?: true;
  /** Although it does, it has a good schedule soon: also tried, last, where a sketch is given, and compared where each line has a limit of time. */
  readonly endsInTime?: true;
  /** Seldom far from the best, and quick also where there are many NPUs: tried first, the lowest number before the others. */
  readonly promising?: number;
  /** It goes on until it meets a bound and gives up early where others do better: tried last, in this order. */
  readonly searches?: number;
  /** Every chunk goes all the way to each of its targets by itself, so that far ones take many links. */
  readonly goesAllTheWay?: true;
  /** It gains from more chunks and does not know how many: they are found by a few trials each. */
  readonly triesChunks?: true;
  /** A policy that leaves most of the time out: tried at first, and the whole only where that could do better (`couldBeBetter`). */
  readonly quickPolicy?: string;
  /** A policy in which NPUs send to few others, for programs among many ranks. */
  readonly fewPeersPolicy?: string;
  /** Programs of few copies per root may be faster than those of the optimum. */
  readonly fewCopies?: true;
  /**
   * Libraries do it (NCCL, RCCL, MPI): laid over boxes; in rank order, whatever the network; or within a box only, and over
   * several boxes where libraries have nothing that is laid over them.
   */
  readonly library?: "over boxes" | "in rank order" | "within a box";
  /** Returns what any of its schedules of a collective takes for sure; absent where nobody counted. */
  readonly effort?: (collective: Collective) => Effort;
  /** Which libraries have it. */
  readonly librariesOf?: readonly LibraryName[];
}
