import type { PackOutcome, PackProblem, Rate, RateProblem } from "../engine/contract/kernels.ts";
import type { LpSolver } from "../engine/contract/programs.ts";
import type { Collective } from "../model/collective/collective.ts";
import type { Topology } from "../model/topology/topology.ts";
import type { TreeFlow } from "../model/trees/tree-flow.ts";
import type { Maker, MakerOption, MakerOptions } from "./maker.ts";

/** The kernels of trees, in this thread or on a pool; the answers are the same. */
export interface TreeKernels {
  rate(problem: RateProblem): Promise<Rate>;
  /** Null when maxTrees or maxLinks was too small. */
  pack(problem: PackProblem): Promise<PackOutcome | null>;
  /** Returns how many packings of this many copies at this many NPUs run at once. */
  width(copies: Float64Array, npuCount: number): number;
}

export interface TreeRequest {
  readonly topology: Topology;
  /** One group, but for `makeGroups`. */
  readonly collective: Collective;
  /** [links] bytes per second that trees may use of each link: exact integers, at most its bandwidth, 0 for none of it. */
  readonly usable: Float64Array;
  /** Copies of trees per root; "exact": as many as the optimum needs; null: the same, or fewer that come within a percent of it. */
  readonly copiesPerRoot: number | "exact" | null;
  /** 0 .. 2^32 - 1 */
  readonly seed: number;
  readonly policy: string | null;
  /** A flow for the network before something failed, whose other trees are to be kept; null: none. */
  readonly repair: TreeFlow | null;
  /** The request as the caller made it: options that have no field here are found in it. */
  readonly own?: MakerOptions;
}

export interface TreeContext {
  readonly kernels: TreeKernels;
  /** Loads the solver of linear programs. */
  lp(): Promise<LpSolver>;
}

export interface TreeSynthesis {
  readonly flow: TreeFlow;
  /** In words: how the trees were found. */
  readonly policy: string;
  /** Packings made. */
  readonly trials: number;
  /** Its policy left something out that could make lower trees. */
  readonly couldBeBetter?: boolean;
  /** What a repair kept; null where nothing was repaired. */
  readonly repaired: { readonly kept: number; readonly changed: number } | null;
  /** What the user should know, in words: a gap that fixed copies leave, a repair that was not possible. */
  readonly notes: readonly string[];
}

/** Trees of several groups that run at once. */
export interface GroupsSynthesis extends Omit<TreeSynthesis, "flow" | "repaired"> {
  /** [groups] of one group each; their shares of each link fit together. */
  readonly flows: readonly TreeFlow[];
}

/** Options that makers of trees take. */
export const TREE_OPTIONS: readonly MakerOption[] = ["k", "repair", "keepShare", "nvls"];

/** One way to make tree-flow schedules: a file under synthesize/forestcoll/ or synthesize/trees/ and a line in catalog.ts. */
export interface TreeMaker extends Maker {
  readonly makes: "trees";
  /** Its flows need switches that duplicate and sum (TreeFlow.inNetwork). */
  readonly inNetwork?: true;
  /** Throws InfeasibleError when there is no schedule, InputError when the request asks for what it cannot do. */
  make(request: TreeRequest, context: TreeContext): Promise<TreeSynthesis>;
  /** The same for a collective of several groups, where it can; its request has them all. */
  makeGroups?(request: TreeRequest, context: TreeContext): Promise<GroupsSynthesis>;
}
