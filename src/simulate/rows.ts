import type { Collective } from "../model/collective.ts";
import { type JointSchedule, jointRows } from "../model/joint-schedule.ts";
import type { IndexColumn, StepSchedule } from "../model/step-schedule.ts";

/** What a replay runs: rows in planned order, of one collective or of several at once. */
export interface Rows extends Pick<StepSchedule, "topology" | "routes" | "route" | "startPs" | "endPs"> {
  readonly collectives: readonly Collective[];
  /** [collectives + 1] the chunks of collective k are numbered from firstChunk[k]. */
  readonly firstChunk: readonly number[];
  /** [rows] numbered over all collectives. */
  readonly chunk: IndexColumn;
  /** [rows] index of the collective; null where there is one. */
  readonly tenant: Int32Array | null;
}

export const rowsOf = ({ collective, ...rows }: StepSchedule): Rows => ({
  ...rows,
  collectives: [collective],
  firstChunk: [0, collective.chunkCount],
  tenant: null,
});

/** Returns the rows of all tenants in planned order. O(n log n). */
export function rowsOfJoint(joint: JointSchedule): Rows {
  const { topology, routes, tenants } = joint;
  const { tenant, chunk, route, startPs, endPs } = jointRows(joint);
  const firstChunk = [0];
  for (const { collective } of tenants) firstChunk.push((firstChunk.at(-1) as number) + collective.chunkCount);
  return {
    topology,
    routes,
    collectives: tenants.map(({ collective }) => collective),
    firstChunk,
    tenant,
    chunk: chunk.map((c, i) => c + (firstChunk[tenant[i]] as number)),
    route,
    startPs,
    endPs,
  };
}
