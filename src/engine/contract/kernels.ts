import type { ReplayOutcome, ReplayProblem } from "../../model/replay/problem.ts";
import type { StepsProblem } from "../../model/replay/steps-problem.ts";

/**
 * The kernels: numbers in, numbers out, the same bits from every backend. Times are integer picoseconds held in doubles.
 * The C twin of this file is native/abi.h; the algorithms are explained in native/kernels/*.h.
 */

export const BACKENDS = ["native", "wasm", "js"] as const;
export type Backend = (typeof BACKENDS)[number];

/** The time-expanded network: routes between NPUs and the divisible resources (physical links) that they share. */
export interface TenNetwork {
  readonly npuCount: number;
  /** [routes] */
  readonly routeSource: Int32Array;
  /** [routes] */
  readonly routeTarget: Int32Array;
  /** [routes] how long a transfer occupies the route and its resources; exact integers >= 1. */
  readonly slotPs: Float64Array;
  /** [routes + 1] route r takes useUnits[i] of useResource[i] for i in useOffset[r] .. useOffset[r + 1]. */
  readonly useOffset: Int32Array;
  readonly useResource: Int32Array;
  /** 1 .. capacity of the resource. */
  readonly useUnits: Int32Array;
  /** [resources] units that may be in use at once, >= 1. */
  readonly capacity: Int32Array;
}

/** How a route picks among the chunks that its source has and its target lacks. */
export const CHOICE = { oldest: 0, neighbour: 1, rarest: 2, newest: 3, around: 4 } as const;

/** Choices of the multicast matching; every field is an integer. */
export interface MatchPolicy {
  /** Seed of the counter-based generator, 0 .. 2^32 - 1. */
  readonly seed: number;
  /** One of CHOICE. */
  readonly choice: number;
  /** How many candidates a choice looks at, >= 1; the oldest choice looks at one. */
  readonly window: number;
  /** The choice applies once the target lacks at most this many chunks; before that the oldest candidate is taken. */
  readonly lateLimit: number;
  /** 1: prefer chunks that are new to the component of faster routes around the target. */
  readonly novelty: number;
  /** 1: a faster route may overtake a slower transfer of the same chunk, which then takes another chunk. */
  readonly overtaking: number;
}

/** Multicast matching on the time-expanded network: every NPU gets the chunks it wants, each exactly once. */
export interface MatchProblem {
  readonly network: TenNetwork;
  readonly chunkCount: number;
  /** [npus + 1] NPU v starts with heldChunk[heldOffset[v] .. heldOffset[v + 1]]. */
  readonly heldOffset: Int32Array;
  readonly heldChunk: Int32Array;
  /** [npus * ceil(chunks / 32)] bit c of row v: NPU v wants chunk c (bit c & 31 of word c >> 5); null: everyone wants all. */
  readonly wanted: Uint32Array | null;
  /** [npus] 1: routes into this NPU choose as the policy says, the others take the oldest; null: all choose. */
  readonly choosers: Uint8Array | null;
  readonly policy: MatchPolicy;
  /** As in SpreadProblem; routes may be unequal, but share no resources. */
  readonly maps: Int32Array | null;
}

/** Multicast matching in slots: routes that are equally long and share nothing; see native/kernels/spread.h. */
export interface SpreadProblem {
  readonly npuCount: number;
  readonly chunkCount: number;
  /** [routes] */
  readonly routeSource: Int32Array;
  /** [routes] */
  readonly routeTarget: Int32Array;
  /** [npus + 1] NPU v starts with heldChunk[heldOffset[v] .. heldOffset[v + 1]], ascending. */
  readonly heldOffset: Int32Array;
  readonly heldChunk: Int32Array;
  /** As in MatchProblem. */
  readonly wanted: Uint32Array | null;
  /** As in MatchProblem. */
  readonly choosers: Uint8Array | null;
  readonly policy: Pick<MatchPolicy, "seed" | "choice" | "window" | "lateLimit">;
  /** Threads that share the work, >= 1; the answer does not depend on it. Only native kernels use more than one. */
  readonly threads: number;
  /** Room for this many slots. */
  readonly maxSlots: number;
  /**
   * [maps * npus] a group of maps of the network onto itself, the first the identity: where each takes every NPU; null: none.
   * The schedule will be the same under all of them. They take routes to routes, and the k-th chunk that an NPU holds to the
   * k-th that its image holds; every chunk has one holder, everyone wants all, and the choice is the oldest.
   */
  readonly maps: Int32Array | null;
  /** With maps only the logs of the least NPUs of the orbits are wanted; those of the others are empty. */
  readonly folded: boolean;
}

/** Returns how many maps of this many NPUs a column has. */
export const mapCountOf = (maps: Int32Array | null, npuCount: number): number =>
  maps === null ? 0 : maps.length / npuCount;

/** One arrival log per NPU: what it holds and receives, in the form of ArrivalLog in src/model/slots/slot-schedule.ts. */
export interface SpreadLogs {
  /** [npus + 1] entries of NPU v: chunk[logOffset[v] .. logOffset[v + 1]]. */
  readonly logOffset: Float64Array;
  /** 16 bits for at most 65,536 chunks. */
  readonly chunk: Uint16Array | Int32Array;
  /** [npus + 1] NPU v has slots[v] * portBytes bytes from ports[portOffset[v]] on; behind them zeros. */
  readonly portOffset: Float64Array;
  readonly ports: Uint8Array;
  /** [npus] slots until the last arrival. */
  readonly slots: Int32Array;
}

/** Unicast matching: each chunk has one target and moves only over routes that bring it strictly closer. */
export interface RelayProblem {
  readonly network: TenNetwork;
  /** [chunks] */
  readonly chunkSource: Int32Array;
  /** [chunks] */
  readonly chunkTarget: Int32Array;
  /** [npus * npus] distancePs[v * npus + t]: time from v to t over free routes; Infinity where there is no way. */
  readonly distancePs: Float64Array;
  /** [npus * npus] row v: all targets in the order in which v's waiting chunks are served. */
  readonly order: Int32Array;
  readonly seed: number;
  /** Room for this many transfers; OutputTooSmall is reported by a null result. */
  readonly maxTransfers: number;
}

/** Transfers in the order in which they ended; a transfer ends at startPs + slotPs[route]. */
export interface Transfers {
  readonly chunk: Int32Array;
  readonly route: Int32Array;
  readonly startPs: Float64Array;
}

/**
 * List scheduling of given transfers: a transfer may start when all that it waits for have ended and its route is free. An
 * idle route starts the least of its ready transfers; routes that share resources go in the order of these keys.
 */
export interface PlaceProblem {
  readonly network: TenNetwork;
  /** [transfers] */
  readonly route: Int32Array;
  /** [transfers + 1] the transfers that wait for transfer i: successor[successorOffset[i] .. successorOffset[i + 1]]. */
  readonly successorOffset: Int32Array;
  readonly successor: Int32Array;
  /** [transfers] exact integers of any sign, the least goes first; ties by index, between routes by route. */
  readonly key: Float64Array;
}

/**
 * When one chunk per spanning tree goes up its tree, summed, and down again, the same again every period; see
 * native/kernels/period.h. Times are exact integers in picoseconds.
 */
export interface PeriodProblem {
  /** At most edges + 1: no tree spans more. */
  readonly npuCount: number;
  readonly treeCount: number;
  /** [edges] the two NPUs that each joins, alike both ways. */
  readonly tail: Int32Array;
  readonly head: Int32Array;
  /** [edges] how long a transfer occupies one direction, at least 1, and how much later it arrives. */
  readonly serialPs: Float64Array;
  readonly latencyPs: Float64Array;
  /** [trees x edges] 1: the tree uses the edge. */
  readonly used: Uint8Array;
  /** Has room for as many transfers as trees use an edge. */
  readonly periodPs: number;
  /** The longest ways go first; they count up to so much more, at random. */
  readonly shakePs: number;
  readonly seed: number;
  /** Another turn draws other numbers. */
  readonly turn: number;
}

/** When everything happens in the first round. */
export interface PeriodTimetable {
  /** [trees x NPUs] the edge towards the root, which stands in the middle of its tree; -1 for the root. */
  readonly entry: Int32Array;
  /** [trees x 2 NPUs] when each NPU sends up, then when it begins to receive what comes down; -1 for the root. */
  readonly startPs: Float64Array;
}

/** The rate of an optimal all-gather on a network with switches; see native/kernels/rate.h. */
export interface RateProblem {
  /** Nodes 0 .. npuCount - 1 are NPUs, the others switches. */
  readonly nodeCount: number;
  readonly npuCount: number;
  /** [links] */
  readonly linkSource: Int32Array;
  /** [links] not the source. */
  readonly linkTarget: Int32Array;
  /** [links] exact integers >= 1. */
  readonly capacity: Float64Array;
  /** [npus] what each NPU contributes, 1 each for an all-gather: exact integers >= 0 whose sum is 1 .. 2^53 - 1. */
  readonly weight: Float64Array;
}

/**
 * The bottleneck of an all-gather: no node set that lacks an NPU has more contributions for the capacity that leaves it.
 * With x = capacity / shards, an NPU of weight 1 reaches all others at x capacity units at once, and at no more.
 */
export interface Rate {
  /** Weight of the NPUs in the cut; 0 for one NPU alone. */
  readonly shards: bigint;
  /** Capacity of the links that leave the cut; 0 when an NPU outside cannot be reached from within. */
  readonly capacity: bigint;
  /** [nodes] 1 for the nodes of the cut. */
  readonly cut: Uint8Array;
}

/**
 * Trees that span all NPUs, packed on a network with switches: as many copies rooted at each NPU as asked for, together
 * within the capacity of every link; see native/kernels/pack.h.
 */
export interface PackProblem {
  /** Nodes 0 .. npuCount - 1 are NPUs, the others only forward. */
  readonly nodeCount: number;
  readonly npuCount: number;
  /** [links] */
  readonly linkSource: Int32Array;
  /** [links] not the source. */
  readonly linkTarget: Int32Array;
  /** [links] copies that fit: exact integers >= 0. */
  readonly capacity: Float64Array;
  /** [npus] copies to be rooted at each NPU: exact integers >= 0. The sum of these and of all capacities is at most 2^53 - 1. */
  readonly copies: Float64Array;
  /** Price of one edge per edge between its start and the root, 0 .. 1000. */
  readonly depthPrice: number;
  /** Price of one link at full load, 0 .. 1000; what is used of it counts in proportion. */
  readonly loadPrice: number;
  /** Only load ahead of the progress of the whole packing is priced. */
  readonly scheduled: boolean;
  /** 0 .. 2^32 - 1 */
  readonly seed: number;
  /** At most this many times, the deepest trees and some others are taken out and repacked; 0: never. */
  readonly repairs: number;
  /** Repairs end when no tree is higher than this. */
  readonly enoughHeight: number;
  /** Room for this many trees, and for this many links of all their edges. */
  readonly maxTrees: number;
  readonly maxLinks: number;
}

/** Trees in the columns of Forest (src/model/trees/tree-flow.ts): each has npus - 1 edges, parents first. */
export interface PackedTrees {
  /** [trees] */
  readonly root: Int32Array;
  /** [trees] */
  readonly copies: Float64Array;
  /** [trees * (npus - 1) + 1] */
  readonly linkOffset: Float64Array;
  readonly links: Int32Array;
}

/** What became of a pack problem. */
export type PackOutcome =
  | { readonly kind: "packed"; readonly trees: PackedTrees; readonly sweeps: number; readonly rollbacks: number }
  /** The copies cannot be packed: more of them start in the set (1 per node in it), which lacks an NPU, than can leave it. */
  | { readonly kind: "violated"; readonly cut: Uint8Array }
  /** The search got stuck although no set is in its way, which can happen only where a switch has more capacity in than out or the reverse. */
  | { readonly kind: "stuck" };

/** Maximum flows from a source that feeds every node with up to its supply, into one sink after another; each sink for itself. */
export interface SweepProblem {
  readonly nodeCount: number;
  /** [links] */
  readonly linkSource: Int32Array;
  /** [links] not the source. */
  readonly linkTarget: Int32Array;
  /** [links] exact integers >= 0; with the supplies at most 2^53 - 1 in all. */
  readonly capacity: Float64Array;
  /** [nodes] exact integers >= 0. */
  readonly supply: Float64Array;
  /** [sinks] nodes. */
  readonly sinks: Int32Array;
}

/**
 * The partition of terminals into n >= 2 parts for which the sum of f(part) / (n - 1) is least, where f(P) is the least
 * capacity that leaves P together with some of the switches: a switch may go with several parts, or none.
 */
export interface PartitionProblem {
  /** Terminals come first, switches follow, at most two for each link; the last `outsideCount` go with no part. */
  readonly nodeCount: number;
  readonly outsideCount: number;
  /** [links] */
  readonly linkSource: Int32Array;
  /** [links] not the source. */
  readonly linkTarget: Int32Array;
  /** [links] exact integers >= 1; terminals times their sum is below 2^124. */
  readonly capacity: Float64Array;
  /** [terminals] parts 0 .. terminals - 1 to begin with: nothing but time depends on them where one partition is best. */
  readonly start: Int32Array;
}

/** The cheapest arborescence: one arc into every node but the root, without circles, of least total cost. */
export interface ArborescenceProblem {
  readonly nodeCount: number;
  readonly root: number;
  /** [arcs] Arcs from a node to itself and into the root are never chosen. */
  readonly arcSource: Int32Array;
  readonly arcTarget: Int32Array;
  /** [arcs] exact integers >= 0; nodes times the greatest is at most 2^53 - 1. */
  readonly cost: Float64Array;
}

/**
 * Breadth-first broadcast (Zhao 2026, LP 3.1): node u receives, in step t, the shards of the nodes at distance t over the arcs
 * that lie on shortest paths from them, and the arc with the greatest load has as little as possible. All arcs are equal.
 */
export interface BalanceProblem {
  readonly nodeCount: number;
  /** [nodes + 1] Arcs that enter u: inSource[inOffset[u] .. inOffset[u + 1]]; the k-th is port k of u. */
  readonly inOffset: Int32Array;
  /** [arcs] node that the arc leaves; self-loops are allowed and carry nothing. */
  readonly inSource: Int32Array;
  /** [targets] nodes to balance, ascending: all, or one where every node looks like it. */
  readonly targets: Int32Array;
  /** Equal parts of a shard, 1 .. 32767, that loads are counted in; 0: shards can be cut anywhere. Times nodeCount < 2^31. */
  readonly parts: number;
  /** 1: the shares too, not only the loads; `parts` is then not 0. */
  readonly wantsShares: number;
  /** Threads that share the work, >= 1; the answer does not depend on it. Only native kernels use more than one. */
  readonly threads: number;
  /** Room for this many steps, at most 65535, and rows: `balanceRows` tells how many are enough, and fewer are too few. */
  readonly maxSteps: number;
  readonly maxRows: number;
}

export interface Balance {
  /** Steps until every target has everything. */
  readonly steps: number;
  /** [steps] the greatest load of an arc into any target, loadNum / loadDen in lowest terms: in shards, or in parts (loadDen 1). */
  readonly loadNum: Int32Array;
  readonly loadDen: Int32Array;
  /** [steps] the first of the targets with that load. */
  readonly worst: Int32Array;
  /**
   * What moves, where it was asked for: rows rowOffset[i] .. rowOffset[i + 1] bring shards to targets[i], ascending by
   * (step, port, source, first part). No row is longer than it need be: a shard is cut only where its ports differ.
   */
  readonly rowOffset: Float64Array;
  readonly step: Uint16Array;
  readonly port: Uint16Array;
  readonly source: Int32Array;
  /** The row moves the parts from .. to - 1. */
  readonly from: Uint16Array;
  readonly to: Uint16Array;
}

/**
 * Returns the room for rows that a balance problem needs, 0 without shares: a node with d ports gets a row for each shard and,
 * since what is cut forms no circles between shards and ports, at most d - 1 more per step. Small where maxSteps is the
 * number of steps, which a call without shares tells. O(targets).
 */
export function balanceRows(problem: Omit<BalanceProblem, "threads" | "maxRows">): number {
  if (problem.wantsShares === 0) return 0;
  const shards = problem.nodeCount - 1;
  const steps = Math.min(problem.maxSteps, shards);
  let rows = 0;
  for (const target of problem.targets) {
    const ports = problem.inOffset[target + 1] - problem.inOffset[target];
    if (ports > 0) rows += shards + Math.min(shards * (Math.min(problem.parts, ports) - 1), steps * (ports - 1));
  }
  return rows;
}

/**
 * Maximum concurrent flow (Zhao 2026, A.1): every source sends `rate` times its demand to every node at once. Symmetry is
 * handed in: arcs of one class carry equal loads, and a source stands for `sourceWeight` equal ones.
 */
export interface ConcurrentProblem {
  readonly nodeCount: number;
  /** [nodes + 1] Arcs that leave v: arcTarget[arcOffset[v] .. arcOffset[v + 1]]. */
  readonly arcOffset: Int32Array;
  readonly arcTarget: Int32Array;
  /** [arcs] class 0 .. classes - 1; all classes have arcs. */
  readonly arcClass: Int32Array;
  /** [classes] capacity of one arc of the class, 2^-53 .. 2^53 - 1 as weights and demands. */
  readonly capacity: Float64Array;
  /** [sources] nodes. */
  readonly sources: Int32Array;
  /** [sources] equal sources that it stands for, > 0: the images of its flow load the arcs of a class evenly. */
  readonly sourceWeight: Float64Array;
  /** [sources * nodes] demand of each node from each source, >= 0, its own does not count; null: 1 to every node of `terminals`. */
  readonly demand: Float64Array | null;
  /** [nodes] 1: an NPU, 0: only forwards. */
  readonly terminals: Uint8Array;
  /** Stop when bound / rate - 1 is at most this, > 0, or after maxRounds >= 0 over all sources. */
  readonly gap: number;
  readonly maxRounds: number;
  /** 1: the flows of each source too. */
  readonly wantsFlow: number;
}

export interface ConcurrentFlow {
  /** What the flows reach: demand times rate fits all capacities (doubles; the caller proves it exactly). */
  readonly rate: number;
  /** No flow is better: sum of lengths times capacities over the sum of demands times distances; infinite if none was found. */
  readonly bound: number;
  readonly rounds: number;
  /** [classes] length of an arc of the class that gives the bound, exact integers 0 .. 2^30. */
  readonly length: Int32Array;
  /** [sources * arcs] flow of the source over each arc for a rate of 1, perhaps with circles; empty where not asked for. */
  readonly flow: Float64Array;
}

/**
 * Set element 0 to 1 to ask a running kernel to stop; it then throws CancelledError. Element 1, where there is one, gets the
 * progress of `spread` in thousandths. May lie over shared memory.
 */
export type CancelFlag = Int32Array;

/** A schedule to be judged on so many threads, which only native kernels use; the answer does not depend on them. */
export interface StepsJudgement extends StepsProblem {
  readonly threads: number;
}

export interface Kernels {
  readonly backend: Backend;
  /** The compiled code of wasm, which other threads are handed so that they compile nothing. */
  readonly module?: WebAssembly.Module;
  /** Throws InfeasibleError when a wanted chunk cannot reach its NPU. */
  match(problem: MatchProblem, cancel?: CancelFlag): Transfers;
  /** Returns null when maxSlots was too small. Throws InfeasibleError when a wanted chunk cannot reach its NPU. */
  spread(problem: SpreadProblem, cancel?: CancelFlag): SpreadLogs | null;
  /** Returns null when maxTransfers was too small. Throws InfeasibleError when a chunk cannot move on. */
  relay(problem: RelayProblem, cancel?: CancelFlag): Transfers | null;
  /** Returns when each transfer starts, [transfers]. Throws InternalError when transfers wait for each other in a circle. */
  place(problem: PlaceProblem, cancel?: CancelFlag): Float64Array;
  /** Throws InternalError where a tree does not span all NPUs or does not fit the period. O(trees x NPUs x log). */
  period(problem: PeriodProblem, cancel?: CancelFlag): PeriodTimetable;
  /** Returns the bottleneck of an all-gather. One maximum flow per NPU, each local. */
  rate(problem: RateProblem, cancel?: CancelFlag): Rate;
  /**
   * Returns trees that span all NPUs, or what forbids them; null when maxTrees or maxLinks was too small. With repairs the
   * trees depend on that room too, for a repair that does not fit is not made.
   */
  pack(problem: PackProblem, cancel?: CancelFlag): PackOutcome | null;
  /** Returns the flow into each sink, what it is fed itself included, [sinks]. One maximum flow per sink, each local. */
  sweep(problem: SweepProblem, cancel?: CancelFlag): Float64Array;
  /** Returns the part of each terminal, [terminals], numbered as they come. A few maximum flows per terminal. */
  partition(problem: PartitionProblem, cancel?: CancelFlag): Int32Array;
  /** Returns the arc that enters each node, -1 at the root, [nodes]. Throws InfeasibleError when a node cannot be reached. O(arcs log arcs). */
  arborescence(problem: ArborescenceProblem, cancel?: CancelFlag): Int32Array;
  /**
   * Returns the loads of breadth-first broadcasts, and what moves; null when maxSteps or maxRows was too small. Throws
   * InfeasibleError when a node cannot reach a target. O(targets * arcs) and a small flow per target and step.
   */
  balance(problem: BalanceProblem, cancel?: CancelFlag): Balance | null;
  /** Returns the maximum concurrent flow within the gap. Throws InfeasibleError when a demand has no path. */
  concurrent(problem: ConcurrentProblem, cancel?: CancelFlag): ConcurrentFlow;
  /** Returns the replay of a schedule, or what forbids it. O(hops) where there are few different times of links. */
  replay(problem: ReplayProblem, cancel?: CancelFlag): ReplayOutcome;
  /**
   * Returns whether a schedule keeps every rule of the link-busy model; false also where that is not shown, as by JavaScript, whose
   * judge is `verifySchedule`. O(transfers * links of a route).
   */
  judge(problem: StepsJudgement, cancel?: CancelFlag): boolean;
}
