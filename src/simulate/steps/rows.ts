import type { Collective } from "../../model/collective/collective.ts";
import { type JointSchedule, jointRows } from "../../model/joint/joint-schedule.ts";
import type { IndexColumn, StepSchedule } from "../../model/steps/step-schedule.ts";

/** What a replay runs: rows in planned order, of one collective or of several at once. */
export interface Rows extends Pick<StepSchedule, "topology" | "routes" | "route" | "startPs" | "endPs"> {
  readonly collectives: readonly Collective[];
  /** [collectives + 1] the chunks of collective k are numbered from firstChunk[k]. */
  readonly firstChunk: readonly number[];
  /** [rows] numbered over all collectives; of several, -1 for a chunk that its own does not have. */
  readonly chunk: IndexColumn;
}

export const rowsOf = ({ collective, ...rows }: StepSchedule): Rows => ({
  ...rows,
  collectives: [collective],
  firstChunk: [0, collective.chunkCount],
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
    chunk: chunk.map((c, i) => {
      const all = c + (firstChunk[tenant[i]] as number);
      return c >= 0 && all < (firstChunk[tenant[i] + 1] as number) ? all : -1;
    }),
    route,
    startPs,
    endPs,
  };
}
