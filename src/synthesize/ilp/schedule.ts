import type { Collective } from "../../model/collective/collective.ts";
import type { RouteSet } from "../../model/routes/routes.ts";
import { emptyRows, OP_COPY, OP_REDUCE, type StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { Move } from "./found-rows.ts";

/** Returns moves, in order of start, as a schedule; flow f is chunk f - `firstFlow`. */
export function scheduleOf(
  topology: Topology,
  collective: Collective,
  routes: RouteSet,
  durationPs: Float64Array,
  moves: readonly Move[],
  firstFlow = 0,
): StepSchedule {
  const schedule = emptyRows(topology, collective, routes, moves.length);
  for (const [i, { flow, route, start, reduces }] of moves.entries()) {
    schedule.chunk[i] = flow - firstFlow;
    schedule.route[i] = route;
    schedule.startPs[i] = start;
    schedule.endPs[i] = start + durationPs[route];
    schedule.op[i] = reduces ? OP_REDUCE : OP_COPY;
  }
  return schedule;
}
