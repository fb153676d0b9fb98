import { unreachable } from "../../model/bounds/infeasible.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { type RouteSet, reversedRoutes } from "../../model/routes/routes.ts";
import { emptyRows, OP_COPY, OP_REDUCE, type StepSchedule } from "../../model/steps/step-schedule.ts";
import { reversed, type Topology } from "../../model/topology/topology.ts";
import { type Phase, phasesOf } from "../tacos/phases.ts";
import { type SyncProblem, syncProblem } from "./problem.ts";
import type { TimedSends } from "./timing.ts";
import { hopsOf, leastSteps, windowsOf } from "./windows.ts";

/** A phase of a collective, with its problem in the direction in which it is solved. */
export interface SyncPhase extends Phase {
  readonly problem: SyncProblem;
  /** Fewer steps reach not every target. */
  readonly leastSteps: number;
  /** Turned around where the phase is. */
  readonly routes: RouteSet;
}

/**
 * Returns the phases of a collective over these routes: reductions are solved backwards in time (TACOS 2024, section IV-E;
 * PPoPP 2021 inverts its algorithms alike). Throws InfeasibleError where a target cannot be reached.
 */
export const syncPhases = (topology: Topology, routes: RouteSet, collective: Collective): SyncPhase[] =>
  phasesOf(collective).map((phase) => {
    const own = phase.reversed ? reversedRoutes(routes) : routes;
    const network = phase.reversed ? reversed(topology) : topology;
    const problem = syncProblem(network, own, phase.collective);
    const { reachable, steps, source, target } = leastSteps(problem.items, windowsOf(problem, hopsOf(problem)));
    if (!reachable)
      throw phase.reversed ? unreachable(topology, target, source) : unreachable(topology, source, target);
    return { ...phase, routes: own, problem, leastSteps: steps };
  });

/** Returns the schedule of phases that follow each other; those that were solved backwards in time are turned around. */
export function scheduleOf(
  topology: Topology,
  collective: Collective,
  routes: RouteSet,
  phases: readonly { readonly phase: Phase; readonly timed: TimedSends }[],
): StepSchedule {
  const rows: { chunk: number; route: number; start: number; end: number; op: number }[] = [];
  let base = 0;
  for (const { phase, timed } of phases) {
    const { chunk, route, startPs, endPs, ps } = timed;
    for (let i = 0; i < chunk.length; i++) {
      const [from, to] = [startPs[i] as number, endPs[i] as number];
      rows.push({
        chunk: chunk[i] as number,
        route: route[i] as number,
        start: base + (phase.reversed ? ps - to : from),
        end: base + (phase.reversed ? ps - from : to),
        op: phase.reduces ? OP_REDUCE : OP_COPY,
      });
    }
    base += ps;
  }
  rows.sort((a, b) => a.start - b.start || a.route - b.route || a.chunk - b.chunk);
  const schedule = emptyRows(topology, collective, routes, rows.length);
  rows.forEach(({ chunk, route, start, end, op }, i) => {
    schedule.chunk[i] = chunk;
    schedule.route[i] = route;
    schedule.startPs[i] = start;
    schedule.endPs[i] = end;
    schedule.op[i] = op;
  });
  return schedule;
}
