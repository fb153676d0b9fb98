import { collective as collectiveOf } from "../collective/collective.ts";
import type { StepSchedule } from "../steps/step-schedule.ts";
import { type JointSchedule, tenantSchedule } from "./joint-schedule.ts";

/** What one group of one of several collectives does. */
export interface GroupSchedule {
  readonly tenant: number;
  readonly group: number;
  readonly schedule: StepSchedule;
}

/**
 * Returns what runs at once as a schedule for each group of each collective, its times as they are; a custom collective, of one
 * group, as it is. O(transfers + groups x members).
 */
export function byGroup(joint: JointSchedule): GroupSchedule[] {
  return joint.tenants.flatMap((_, tenant) => {
    const whole = tenantSchedule(joint, tenant);
    const { kind, groupCount, groupSize, groupMembers, chunkCount, sizeBytes, chunksPerNpu, rootRank } =
      whole.collective;
    if (groupCount === 1 || kind === "custom") return [{ tenant, group: 0, schedule: whole }];
    const perGroup = chunkCount / groupCount;
    const rowsOf: number[][] = Array.from({ length: groupCount }, () => []);
    whole.chunk.forEach((chunk, row) => {
      rowsOf[Math.floor(chunk / perGroup)].push(row);
    });
    return rowsOf.map((rows, group) => {
      const members = groupMembers.subarray(group * groupSize, (group + 1) * groupSize);
      const schedule: StepSchedule = {
        topology: whole.topology,
        routes: whole.routes,
        collective: collectiveOf({ kind, groups: [members], sizeBytes, chunksPerNpu, rootRank }),
        chunk: Int32Array.from(rows, (row) => whole.chunk[row] - group * perGroup),
        route: Int32Array.from(rows, (row) => whole.route[row]),
        startPs: Float64Array.from(rows, (row) => whole.startPs[row]),
        endPs: Float64Array.from(rows, (row) => whole.endPs[row]),
        op: Uint8Array.from(rows, (row) => whole.op[row]),
      };
      return { tenant, group, schedule };
    });
  });
}
