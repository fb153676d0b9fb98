import type { Collective } from "../model/collective/collective.ts";
import { type JointSchedule, jointEndPs, jointTransferCount, tenantSchedule } from "../model/joint/joint-schedule.ts";
import { PS_PER_US } from "../model/numbers/units.ts";
import { makespanPs } from "../model/steps/step-schedule.ts";
import { type JudgedFigures, reportWith } from "./chain.ts";
import { bandwidth, collectiveSummary, type Report, type Timing, timingOf } from "./result.ts";

/** One of several collectives: what it is, and when its last transfer ends. */
export type TenantReport = Report["collective"] & {
  readonly chunks: number;
  readonly transfers: number;
  /** Simulated; null where it was not. */
  readonly time: Timing | null;
  readonly planned: Timing;
};

/**
 * What `synth --collectives --json` prints: schema banyan/result@2 with `collectives`, one for each tenant, in place of
 * `collective`. Sizes and bandwidths of the whole are sums over the tenants; there is no bus bandwidth of a mixture.
 */
export interface JointReport extends Omit<Report, "collective"> {
  readonly collectives: readonly TenantReport[];
}

/** Returns what a report says of a tenant; `endPs`: its end, simulated. */
export function tenantReport(joint: JointSchedule, tenant: number, endPs?: number): TenantReport {
  const schedule = tenantSchedule(joint, tenant);
  const { topology, collective } = schedule;
  return {
    ...collectiveSummary(topology, collective),
    chunks: collective.chunkCount,
    transfers: schedule.chunk.length,
    time: endPs === undefined ? null : timingOf(collective, endPs),
    planned: timingOf(collective, makespanPs(schedule)),
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
export function jointReport(
  schedule: JointSchedule,
  tenantPs: Float64Array | undefined,
  judged: JudgedFigures,
): JointReport {
  const { topology, tenants } = schedule;
  return reportWith(
    {
      collectives: tenants.map((_, t) => tenantReport(schedule, t, tenantPs?.[t])),
      schedule: { kind: "steps" as const, transfers: jointTransferCount(schedule), file: null },
    },
    {
      topology,
      sizeBytes: totalBytes(tenants.map(({ collective }) => collective)),
      sizesBytes: tenants.map(({ collective }) => collective.sizeBytes),
      timing: (ps) => jointTiming(schedule, ps),
      plannedPs: jointEndPs(schedule),
    },
    judged,
  );
}
