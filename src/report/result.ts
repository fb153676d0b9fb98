import type { Backend } from "../engine/contract/kernels.ts";
import { boundOf, describeWitness, greaterBound, mergedBoundOf } from "../model/bounds/bounds.ts";
import { CLASS_TEXT, type ClassLimit, type ScheduleClass } from "../model/bounds/class-limit.ts";
import { doublingBoundOf } from "../model/bounds/doubling.ts";
import type { Bound } from "../model/bounds/witness.ts";
import { busFactor, type Collective, hasRoot } from "../model/collective/collective.ts";
import type { DirectFacts } from "../model/direct/facts.ts";
import { divide, format, multiply, type Rational, rational, toNumber } from "../model/numbers/rational.ts";
import { PS_PER_US } from "../model/numbers/units.ts";
import { routeTimes } from "../model/routes/routes.ts";
import { isSlotSchedule, type Schedule } from "../model/slots/slot-schedule.ts";
import type { KindName } from "../model/steps/schedule.ts";
import { hasMergedSends } from "../model/steps/step-schedule.ts";
import { linkCount, nodeCount, switchCount, type Topology, topologyHash } from "../model/topology/topology.ts";
import type { SolverFacts } from "../synthesize/solver-facts.ts";

/** Time and the bandwidths of nccl-tests; the bandwidths are null for a time of 0. */
export interface Timing {
  readonly us: number;
  readonly algbwGBps: number | null;
  readonly busbwGBps: number | null;
}

export interface BoundReport {
  readonly us: number;
  readonly algbwGBps: number | null;
  /** Exact microseconds, "8005" or "24015/3". */
  readonly exact: string;
  readonly kind: string;
  readonly witness: Readonly<Record<string, unknown>>;
  /** The witness in words. */
  readonly because: string;
}

/** What every report says of its collective. */
export interface CollectiveSummary {
  readonly kind: string;
  readonly sizeBytes: number;
  readonly chunksPerNpu: number;
  /** Where not all NPUs are in one group: how many there are, and how many NPUs each has. */
  readonly groups?: number;
  readonly groupSize?: number;
  /** Name of the root, where the kind has one and there is one group. */
  readonly root?: string;
}

/** A time with the model that it is of. */
export interface Timed extends Timing {
  readonly model: string;
}

export interface ClassLimitReport extends BoundReport {
  readonly of: ScheduleClass;
  /** What schedules of the class have in common. */
  readonly holdsFor: string;
  /** Of whole chunks, on a network whose switches can do more than forward: what schedules whose switches do not take at least. */
  readonly forwardingUs?: number;
  /** Of whole chunks: how much sooner what crosses would be over if the routes used all the links there, where they do not. */
  readonly unusedUs?: number;
}

/** What lies between a number of the chain and the next, in words. */
export interface Gap {
  readonly from: "limit" | "class limit";
  readonly to: "class limit" | "schedule";
  readonly us: number;
  /** What it is, and what would close it. */
  readonly because: string;
}

/**
 * What is between the least possible and a schedule, all in the network model (serialisation occupies links, latency does not):
 * limit for any algorithm <= limit for its class <= the schedule.
 */
export interface Chain {
  /** The schedule, simulated; planned, as its model says, where it is too large to be simulated unless asked for. */
  readonly time: Timed & { readonly ps: number };
  readonly limit: BoundReport;
  /** Null where nothing above the limit is proved for schedules like this one. */
  readonly classLimit: ClassLimitReport | null;
  /** limit / time, 0 .. 1; null where the time is not simulated. */
  readonly ofLimit: number | null;
  /** classLimit / time; null without either. */
  readonly ofClassLimit: number | null;
  readonly gaps: readonly Gap[];
}

/** Figures of other models than the network's, for those who reproduce papers. */
export interface Details {
  /** Of schedules that have times: TACOS's link-busy model, where a chunk occupies its route for the latency too. */
  readonly planned: Timed | null;
  /** The bound of planned times: the same routes and chunks. */
  readonly plannedBound: BoundReport | null;
  /** plannedBound / planned, 0 .. 1. */
  readonly ofPlannedBound: number | null;
  /** The papers' ideal, no bound. */
  readonly reference: { us: number; name: string } | null;
  /** What one byte takes at least, of any algorithm. */
  readonly latencyUs: number;
}

/** What `synth --json` prints: schema banyan/result@2. */
export interface Report extends Chain {
  readonly schema: "banyan/result@2";
  readonly topology: { name: string; npus: number; switches: number; links: number; hash: string };
  readonly collective: CollectiveSummary;
  readonly algorithm: string;
  readonly schedule: {
    kind: KindName;
    /** Of trees and phases what their steps would have; null where switches sum phases, which then have no steps. */
    transfers: number | null;
    file: string | null;
    /** Trees: how many are listed, and into how many pieces each copy's part of the data is cut; periods: trees of a round. */
    trees?: number;
    pieces?: number;
    /** Phases: how many, over all chunks. */
    phases?: number;
    /** Periods: how many rounds, and how long after the one before each begins. */
    rounds?: number;
    periodUs?: number;
  };
  readonly details: Details;
  /** Trees: what they reach with ever more pieces. */
  readonly throughput?: Throughput;
  /** Trees through switches that duplicate or reduce: what is left of the traffic when they do (0 .. 1), rates are the same. */
  readonly traffic?: { readonly ofAllLinks: number; readonly sentByNpus: number; readonly receivedByNpus: number };
  /** Trees: what a repair kept of the old ones. */
  readonly repaired?: { readonly kept: number; readonly changed: number };
  /** Beside the schedule of before, where one was given: what a failure did. */
  readonly failure?: FailureStory;
  /** Schedules in comm steps on equal direct links: how good they are. */
  readonly direct?: DirectFacts;
  /** What integer programs did, and whether the schedule is proved to be a shortest one. */
  readonly solver?: SolverFacts;
  /** Phases within dimensions, also those that were expanded to steps: their replay dimension by dimension. */
  readonly perDimension?: PerDimension;
  /** What the user should know, in words. */
  readonly notes?: readonly string[];
  readonly verified: boolean;
  /** False where a clock decided what was tried. */
  readonly deterministic: boolean;
  /** How the algorithm was chosen, where it was not named. */
  readonly auto?: AutoReport;
  readonly synthesis: {
    ms: number;
    backend: Backend;
    threads: number;
    seed: number;
    trials: number;
    policy: string;
    /** The number of chunks per NPU is the best of several. */
    choseChunks?: true;
    /** It was read, so nothing of how it was made is known. */
    isRead?: true;
  };
}

/** Phases within the dimensions of a network, replayed dimension by dimension. */
export interface PerDimension {
  readonly us: number;
  /** Bytes sent / (time x bandwidth of all dimensions of an NPU), 0 .. 1 (Themis, section 3). */
  readonly utilisation: number;
  readonly dimensions: readonly {
    readonly kind: string;
    /** NPUs of a line. */
    readonly size: number;
    /** How its lines reduce-scatter and all-gather. */
    readonly algorithm: string;
    /** Of each NPU in this dimension, one direction. */
    readonly GBps: number;
    readonly utilisation: number;
  }[];
}

/** A rate, exactly. */
export interface Rate {
  readonly algbwGBps: number;
  /** GB/s, "2400/7". */
  readonly exact: string;
}

/** What trees reach with ever more pieces. */
export interface Throughput extends Rate {
  readonly busbwGBps: number;
  /** Copies at every root; null where roots differ. */
  readonly treesPerRoot: number | null;
  /** Different trees, images under a symmetry included. */
  readonly distinctTrees: number;
  /** GB/s of one copy. */
  readonly copyGBps: number;
  /** Edges from a root to its farthest member: the most, and the mean over copies. */
  readonly height: number;
  readonly meanHeight: number;
  /** The greatest rate that is proved for trees, as the time that the data takes at it; and how much of it these have. */
  readonly bound: BoundReport;
  readonly ofBound: number;
}

/** Returns size / time in GB/s; null for a time of 0. */
export const bandwidth = (sizeBytes: number, us: number): number | null => (us === 0 ? null : sizeBytes / us / 1000);

export function timingOf(collective: Collective, ps: number): Timing {
  const us = ps / PS_PER_US;
  const algbwGBps = bandwidth(collective.sizeBytes, us);
  const factor = busFactor(collective.kind, collective.groupSize);
  return { us, algbwGBps, busbwGBps: algbwGBps === null ? null : algbwGBps * factor };
}

/** Returns the bandwidth, bytes per second, of the links over the border of a set: into it, or out of it. O(nodes + links). */
function borderOf(topology: Topology, nodes: readonly number[], direction: "in" | "out"): bigint {
  const { linkSource, linkTarget, linkBytesPerSecond } = topology;
  const inside = new Uint8Array(nodeCount(topology));
  for (const node of nodes) inside[node] = 1;
  const side = direction === "in" ? 1 : 0;
  let sum = 0n;
  for (let link = 0; link < linkSource.length; link++) {
    if (inside[linkSource[link]] === side || inside[linkTarget[link]] !== side) continue;
    sum += BigInt(linkBytesPerSecond[link]);
  }
  return sum;
}

/** Returns a bound as the JSON shows it: names instead of node numbers, and all numbers from which it follows, exact. */
export function boundReport(
  topology: Topology,
  { sizeBytes }: Pick<Collective, "sizeBytes">,
  bound: Bound,
): BoundReport {
  const us = divide(bound.ps, rational(PS_PER_US));
  const { witness } = bound;
  const names = (nodes: readonly number[]): string[] => nodes.map((v) => topology.nodeNames[v] as string);
  let shown: Record<string, unknown> = { ...witness };
  if (witness.kind === "cut" || witness.kind === "tail") {
    const { nodes, entryGBps, ...rest } = witness;
    const bytesPerSecond = String(borderOf(topology, nodes, witness.direction));
    shown = { ...rest, nodes: names(nodes), nodeCount: nodes.length, exitGBps: entryGBps, bytesPerSecond };
  }
  if (witness.kind === "tail") shown["npu"] = topology.nodeNames[witness.npu];
  if (witness.kind === "dual") {
    shown["cuts"] = witness.cuts.map(({ nodes, ...cut }) => ({ ...cut, nodes: names(nodes) }));
    if (witness.potentials !== undefined)
      shown["potentials"] = witness.potentials.map((own) => ({ ...own, node: topology.nodeNames[own.node] }));
  }
  for (const key of ["from", "to"]) {
    if (typeof shown[key] === "number") shown[key] = topology.nodeNames[shown[key]];
  }
  return {
    us: toNumber(us),
    algbwGBps: bandwidth(sizeBytes, toNumber(us)),
    exact: format(us),
    kind: witness.kind,
    witness: shown,
    because: describeWitness(topology, bound),
  };
}

/** Returns the limit of a class as the JSON shows it. */
export const classLimitReport = (
  topology: Topology,
  collective: Pick<Collective, "sizeBytes">,
  limit: ClassLimit,
): ClassLimitReport => ({
  of: limit.of,
  holdsFor: CLASS_TEXT[limit.of],
  ...boundReport(topology, collective, limit),
  ...(limit.forwarding === undefined ? {} : { forwardingUs: toNumber(limit.forwarding.ps) / PS_PER_US }),
  ...(limit.unusedPs === undefined ? {} : { unusedUs: limit.unusedPs / PS_PER_US }),
});

/** Returns what every report says of its network. */
export const topologySummary = (topology: Topology): Report["topology"] => ({
  name: topology.name,
  npus: topology.npuCount,
  switches: switchCount(topology),
  links: linkCount(topology),
  hash: topologyHash(topology),
});

/** Returns what every report says of its collective. */
export function collectiveSummary(topology: Topology, collective: Collective): CollectiveSummary {
  const { kind, sizeBytes, chunksPerNpu, groupCount, groupSize, groupMembers, rootRank } = collective;
  return {
    kind,
    sizeBytes,
    chunksPerNpu,
    ...(groupCount === 1 && groupSize === topology.npuCount ? {} : { groups: groupCount, groupSize }),
    ...(hasRoot(kind) && groupCount === 1 ? { root: topology.nodeNames[groupMembers[rootRank]] as string } : {}),
  };
}

/** Returns the papers' ideal as the reports show it; null where they define none. */
export const referenceReport = (ps: Rational | null): Details["reference"] =>
  ps === null ? null : { us: toNumber(divide(ps, rational(PS_PER_US))), name: "TACOS ideal" };

/** Returns the bound of planned times over the routes of a schedule, of messages where it merges some. Throws as boundOf. */
export function plannedBound(schedule: Schedule): Bound {
  const { topology, collective, routes } = schedule;
  const times = routeTimes(topology, routes, collective.chunkBytes);
  if (isSlotSchedule(schedule) || !hasMergedSends(schedule)) return boundOf(topology, collective, routes, times);
  const crossing = mergedBoundOf(topology, collective, routes, times);
  return greaterBound(crossing, doublingBoundOf(topology, collective, routes, times));
}

/** Returns a / b, and 1 where both are 0 (nothing to send). */
export function ratio(a: Rational, b: number): number {
  return b === 0 ? 1 : toNumber(multiply(a, rational(1, BigInt(b))));
}

/** How the algorithm of a schedule was chosen (`--algorithm auto`). */
export interface AutoReport {
  readonly budgetMs: number;
  /** In the order of the catalogue; `ofLimit` is of the greatest limit that any of them proved. */
  readonly tried: readonly {
    readonly algorithm: string;
    readonly us: number;
    readonly ofLimit: number;
    readonly synthesisMs: number;
  }[];
  readonly leftOut: readonly LeftOut[];
  /** Why this one, in words. */
  readonly because: string;
}

/** An algorithm that was not used, and why not. */
export interface LeftOut {
  readonly algorithm: string;
  readonly reason: string;
}

/** Returns what a schedule file says of its making: nothing that differs from run to run. */
export function aboutOf({
  algorithm,
  synthesis: { seed, policy },
}: Pick<Report, "algorithm" | "synthesis">): Readonly<Record<string, unknown>> {
  return { madeBy: "banyan", algorithm, seed, policy };
}

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
  /** The time of a schedule made for what is left, and over that of one for the whole network; absent where none was asked for. */
  readonly us?: number | null;
  readonly slower?: number | null;
  /** The cut to blame, or why it cannot be done. */
  readonly because: string;
}

/** Failures by harm, the worst first. */
export interface FailureRanking {
  readonly whole: { readonly limit: BoundReport; readonly us?: number | null };
  readonly rows: readonly FailureRow[];
}
