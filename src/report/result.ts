import type { Backend } from "../engine/contract/kernels.ts";
import { boundOf, describeWitness, mergedBoundOf } from "../model/bounds/bounds.ts";
import type { Bound } from "../model/bounds/witness.ts";
import { busFactor, type Collective, hasRoot } from "../model/collective/collective.ts";
import type { DirectFacts } from "../model/direct/facts.ts";
import { divide, format, multiply, type Rational, rational, toNumber } from "../model/numbers/rational.ts";
import { PS_PER_US } from "../model/numbers/units.ts";
import { routeTimes } from "../model/routes/routes.ts";
import { isSlotSchedule, type Schedule } from "../model/slots/slot-schedule.ts";
import { type KindName, makespanOf, transfersOf } from "../model/steps/schedule.ts";
import { hasMergedSends } from "../model/steps/step-schedule.ts";
import { linkCount, switchCount, type Topology, topologyHash } from "../model/topology/topology.ts";
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

/** What `synth --json` prints: schema banyan/result@1. */
export interface Report {
  readonly schema: "banyan/result@1";
  readonly topology: { name: string; npus: number; switches: number; links: number; hash: string };
  readonly collective: CollectiveSummary;
  readonly algorithm: string;
  readonly schedule: {
    kind: KindName;
    /** Of trees and phases what their steps would have; null where switches sum phases, which then have no steps. */
    transfers: number | null;
    file: string | null;
    /** Trees: how many are listed, and into how many pieces each copy's part of the data is cut. */
    trees?: number;
    pieces?: number;
    /** Phases: how many, over all chunks. */
    phases?: number;
  };
  /** Trees at a number of pieces: what the steps would take in the network model, for planned times are those of steps. */
  readonly time: Timing & { readonly model: string };
  readonly simulated: (Timing & { readonly model: string }) | null;
  readonly bound: BoundReport;
  readonly limit: BoundReport;
  readonly reference: { us: number; name: string } | null;
  /** Trees: what they reach with ever more pieces. */
  readonly throughput?: Throughput;
  /** Trees through switches that duplicate or reduce: what is left of the traffic when they do (0 .. 1), rates are the same. */
  readonly traffic?: { readonly ofAllLinks: number; readonly sentByNpus: number; readonly receivedByNpus: number };
  /** Trees: what a repair kept of the old ones. */
  readonly repaired?: { readonly kept: number; readonly changed: number };
  /** Schedules in comm steps on equal direct links: how good they are. */
  readonly direct?: DirectFacts;
  /** What integer programs did, and whether the schedule is proved to be a shortest one. */
  readonly solver?: SolverFacts;
  /** Phases within dimensions, also those that were expanded to steps: their replay dimension by dimension. */
  readonly perDimension?: PerDimension;
  /** What the user should know, in words. */
  readonly notes?: readonly string[];
  readonly optimality: number;
  readonly ofLimit: number | null;
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

/** What trees reach with ever more pieces, exactly. */
export interface Throughput {
  readonly algbwGBps: number;
  readonly busbwGBps: number;
  /** GB/s, "2400/7". */
  readonly exact: string;
  /** Copies at every root; null where roots differ. */
  readonly treesPerRoot: number | null;
  /** Different trees, images under a symmetry included. */
  readonly distinctTrees: number;
  /** GB/s of one copy. */
  readonly copyGBps: number;
  /** Edges from a root to its farthest member: the most, and the mean over copies. */
  readonly height: number;
  readonly meanHeight: number;
}

const MOST_NODES_SHOWN = 4096;

/** Returns size / time in GB/s; null for a time of 0. */
export const bandwidth = (sizeBytes: number, us: number): number | null => (us === 0 ? null : sizeBytes / us / 1000);

export function timingOf(collective: Collective, ps: number): Timing {
  const us = ps / PS_PER_US;
  const algbwGBps = bandwidth(collective.sizeBytes, us);
  const factor = busFactor(collective.kind, collective.groupSize);
  return { us, algbwGBps, busbwGBps: algbwGBps === null ? null : algbwGBps * factor };
}

/** Returns a bound as the JSON shows it: names instead of node numbers, at most 4,096 of them. */
export function boundReport(
  topology: Topology,
  { sizeBytes }: Pick<Collective, "sizeBytes">,
  bound: Bound,
): BoundReport {
  const us = divide(bound.ps, rational(PS_PER_US));
  const { witness } = bound;
  const names = (nodes: readonly number[]): string[] =>
    nodes.slice(0, MOST_NODES_SHOWN).map((v) => topology.nodeNames[v] as string);
  let shown: Record<string, unknown> = { ...witness };
  if (witness.kind === "cut" || witness.kind === "tail") {
    const { nodes, entryGBps, ...rest } = witness;
    shown = { ...rest, nodes: names(nodes), nodeCount: nodes.length, exitGBps: entryGBps };
  }
  if (witness.kind === "tail") shown["npu"] = topology.nodeNames[witness.npu];
  if (witness.kind === "dual") {
    shown["cuts"] = witness.cuts.map(({ nodes, ...cut }) => ({ ...cut, nodes: names(nodes) }));
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
export const referenceReport = (ps: Rational | null): Report["reference"] =>
  ps === null ? null : { us: toNumber(divide(ps, rational(PS_PER_US))), name: "TACOS ideal" };

/** Returns the bound of whole transfers over the routes of a schedule, of messages where it merges some. Throws as boundOf. */
export function transfersBound(schedule: Schedule): Bound {
  const { topology, collective, routes } = schedule;
  const bound = !isSlotSchedule(schedule) && hasMergedSends(schedule) ? mergedBoundOf : boundOf;
  return bound(topology, collective, routes, routeTimes(topology, routes, collective.chunkBytes));
}

/** Returns the report of a schedule that was made without the bound of its transfers, with it. */
export function withTransfersBound(report: Report, schedule: Schedule): Report {
  const { topology, collective } = schedule;
  const ofTransfers = transfersBound(schedule);
  const bound = boundReport(topology, collective, ofTransfers);
  if (report.bound.us > bound.us) return report;
  return { ...report, bound, optimality: ratio(ofTransfers.ps, makespanOf(schedule)) };
}

/** Returns a / b, and 1 where both are 0 (nothing to send). */
export function ratio(a: Rational, b: number): number {
  return b === 0 ? 1 : toNumber(multiply(a, rational(1, BigInt(b))));
}

export interface Judged {
  readonly schedule: Schedule;
  readonly algorithm: string;
  readonly bound: Bound;
  readonly limit: Bound;
  readonly reference: Rational | null;
  readonly simulated: { readonly ps: number; readonly model: string } | null;
  readonly verified: boolean;
  readonly direct?: DirectFacts;
  readonly solver?: SolverFacts;
  readonly notes?: readonly string[];
  readonly deterministic?: boolean;
  readonly synthesis: Report["synthesis"];
}

/** Returns the report of a judged schedule. */
export function reportOf(judged: Judged): Report {
  const { schedule, bound, limit, simulated, reference } = judged;
  const { topology, collective } = schedule;
  const ps = makespanOf(schedule);
  return {
    schema: "banyan/result@1",
    topology: topologySummary(topology),
    collective: collectiveSummary(topology, collective),
    algorithm: judged.algorithm,
    schedule: { kind: isSlotSchedule(schedule) ? "slots" : "steps", transfers: transfersOf(schedule), file: null },
    time: { ...timingOf(collective, ps), model: "link-busy" },
    simulated: simulated === null ? null : { ...timingOf(collective, simulated.ps), model: simulated.model },
    bound: boundReport(topology, collective, bound),
    limit: boundReport(topology, collective, limit),
    reference: referenceReport(reference),
    ...(judged.direct === undefined ? {} : { direct: judged.direct }),
    ...(judged.solver === undefined ? {} : { solver: judged.solver }),
    ...(judged.notes === undefined ? {} : { notes: judged.notes }),
    optimality: ratio(bound.ps, ps),
    ofLimit: simulated === null ? null : ratio(limit.ps, simulated.ps),
    verified: judged.verified,
    deterministic: judged.deterministic ?? true,
    synthesis: judged.synthesis,
  };
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
