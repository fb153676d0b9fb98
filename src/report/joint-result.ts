import type { Bound } from "../model/bounds/witness.ts";
import type { Collective } from "../model/collective/collective.ts";
import { type JointSchedule, jointEndPs, jointTransferCount, tenantSchedule } from "../model/joint/joint-schedule.ts";
import { PS_PER_US } from "../model/numbers/units.ts";
import { makespanPs } from "../model/steps/step-schedule.ts";
import type { SolverFacts } from "../synthesize/solver-facts.ts";
import {
  bandwidth,
  boundReport,
  collectiveSummary,
  type Report,
  ratio,
  type Timing,
  timingOf,
  topologySummary,
} from "./result.ts";

/** One of several collectives: what it is, and when its last transfer ends. */
export type TenantReport = Report["collective"] & {
  readonly chunks: number;
  readonly transfers: number;
  readonly time: Timing;
};

/**
 * What `synth --collectives --json` prints: schema banyan/result@1 with `collectives`, one for each tenant, in place of
 * `collective`. Sizes and bandwidths of the whole are sums over the tenants; there is no bus bandwidth of a mixture.
 */
export interface JointReport extends Omit<Report, "collective"> {
  readonly collectives: readonly TenantReport[];
}

/** Returns what a report says of a tenant. */
export function tenantReport(joint: JointSchedule, tenant: number): TenantReport {
  const schedule = tenantSchedule(joint, tenant);
  const { topology, collective } = schedule;
  return {
    ...collectiveSummary(topology, collective),
    chunks: collective.chunkCount,
    transfers: schedule.chunk.length,
    time: timingOf(collective, makespanPs(schedule)),
  };
}

/** Returns the bytes of all tenants together. */
const totalBytes = (collectives: readonly Pick<Collective, "sizeBytes">[]): number =>
  collectives.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/** Returns the time of all tenants together and the bytes of all over it. */
export function jointTiming(joint: JointSchedule, ps: number): Timing {
  const us = ps / PS_PER_US;
  return { us, algbwGBps: bandwidth(totalBytes(joint.tenants.map((t) => t.collective)), us), busbwGBps: null };
}

/** Returns the report of a judged joint schedule. */
export function jointReportOf(judged: {
  readonly schedule: JointSchedule;
  readonly algorithm: string;
  readonly bound: Bound;
  readonly limit: Bound;
  readonly simulated: { readonly ps: number; readonly model: string } | null;
  readonly verified: boolean;
  readonly solver?: SolverFacts;
  readonly notes?: readonly string[] | undefined;
  readonly deterministic?: boolean | undefined;
  readonly synthesis: Report["synthesis"];
}): JointReport {
  const { schedule, bound, limit, simulated } = judged;
  const { topology, tenants } = schedule;
  const ps = jointEndPs(schedule);
  const all = { sizeBytes: totalBytes(tenants.map(({ collective }) => collective)) };
  return {
    schema: "banyan/result@1",
    topology: topologySummary(topology),
    collectives: tenants.map((_, t) => tenantReport(schedule, t)),
    algorithm: judged.algorithm,
    schedule: { kind: "steps", transfers: jointTransferCount(schedule), file: null },
    time: { ...jointTiming(schedule, ps), model: "link-busy" },
    simulated: simulated === null ? null : { ...jointTiming(schedule, simulated.ps), model: simulated.model },
    bound: boundReport(topology, all, bound),
    limit: boundReport(topology, all, limit),
    reference: null,
    optimality: ratio(bound.ps, ps),
    ofLimit: simulated === null ? null : ratio(limit.ps, simulated.ps),
    verified: judged.verified,
    ...(judged.solver === undefined ? {} : { solver: judged.solver }),
    ...(judged.notes === undefined ? {} : { notes: judged.notes }),
    deterministic: judged.deterministic ?? true,
    synthesis: judged.synthesis,
  };
}
