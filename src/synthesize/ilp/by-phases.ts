import type { Collective } from "../../model/collective/collective.ts";
import { type RouteSet, reversedRoutes } from "../../model/routes/routes.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type Phase, phasesOf } from "../tacos/phases.ts";
import { clustered } from "./clustered.ts";
import { completed } from "./completion.ts";
import { mostDeliveries } from "./deliveries.ts";
import { type Move, neededMoves } from "./found-rows.ts";
import { type FlowProblem, flowsOf, resourcesOf } from "./problem.ts";
import { earliest, endOfMoves } from "./retime.ts";
import { clockFor } from "./slots.ts";
import { sizeOf } from "./solve-program.ts";
import type { Stages } from "./stages.ts";
import { firstFrom } from "./ticks.ts";
import { columnsOf } from "./windows.ts";

/**
 * Partial schedules need copies, of which some may have arrived and others not; so a reduction is made as the multicast that
 * it is backwards in time, over the routes turned around, and an all-reduce one half after the other (TACOS 2023, section
 * VII-A).
 */

interface PhaseProblem {
  readonly topology: Topology;
  readonly collective: Collective;
  readonly routes: RouteSet;
  readonly durations: readonly Float64Array[];
}

const copiesOf = ({ topology, routes, durations }: PhaseProblem, phase: Phase): FlowProblem => ({
  npuCount: topology.npuCount,
  routes: phase.reversed ? reversedRoutes(routes) : routes,
  durations,
  flows: flowsOf(phase.collective),
});

/** Returns the moves of a phase as they are in the schedule, from `base` on. */
function inTime(problem: FlowProblem, phase: Phase, moves: readonly Move[], base: number): Move[] {
  const end = endOfMoves(problem, moves);
  return moves.map((move): Move => {
    const duration = problem.durations[problem.flows[move.flow].size][move.route];
    const start = base + (phase.reversed ? end - move.start - duration : move.start);
    return { ...move, start, reduces: phase.reduces };
  });
}

/** Returns all moves on the routes themselves, each as early as can be. */
function together(given: PhaseProblem, moves: readonly Move[]): Move[] {
  const { topology, collective, routes, durations } = given;
  const problem = { npuCount: topology.npuCount, routes, durations, flows: flowsOf(collective) };
  const sorted = [...moves].sort((a, b) => a.start - b.start || a.route - b.route || a.flow - b.flow);
  return earliest(problem, resourcesOf(routes).resources, sorted);
}

/** Returns a schedule by time clustering, in order of start; null where the first program has no room. */
export async function byWindows(given: PhaseProblem, expectedPs: number, stages: Stages): Promise<Move[] | null> {
  const all: Move[] = [];
  const phases = phasesOf(given.collective);
  const clock = clockFor(given.durations, expectedPs);
  const shortest = given.durations.reduce((least, column) => column.reduce((a, b) => Math.min(a, b), least), Infinity);
  const equal = given.durations.every((column) => column.every((ps) => ps === shortest));
  const slotPs = equal || clock.kind === "sums" ? shortest : clock.slotPs;
  let base = 0;
  for (const phase of phases) {
    const problem = copiesOf(given, phase);
    const windows = Math.ceil(expectedPs / phases.length / slotPs / 2) * (all.length === 0 ? phases.length : 1);
    const moves = await clustered(problem, slotPs, windows, stages);
    if (moves === null) return null;
    all.push(...inTime(problem, phase, moves, base));
    base += endOfMoves(problem, moves);
  }
  return together(given, all);
}

/**
 * Returns a schedule by early termination (TACOS 2023, section V-B): the most deliveries by a time just short of `highPs` that
 * the solver finds in what time it has, completed on shortest ways; null where there is none, and for collectives of two phases.
 */
export async function byTermination(given: PhaseProblem, highPs: number, stages: Stages): Promise<Move[] | null> {
  const phases = phasesOf(given.collective);
  const clock = clockFor(given.durations, highPs);
  if (phases.length !== 1 || clock.kind !== "sums") return null;
  const problem = copiesOf(given, phases[0]);
  const { resources } = resourcesOf(problem.routes);
  const horizon = clock.ticks[firstFrom(clock.ticks, highPs) - 1];
  const columns = columnsOf(problem, clock.ticks, horizon);
  const name = "most deliveries";
  if (!(await stages.inTime(name, columns.count)) || !stages.fits(name, sizeOf(problem, resources, columns)))
    return null;
  const wants = problem.flows.map(({ to }) => new Set(to));
  const worth = (flow: number, route: number): number => (wants[flow].has(problem.routes.target[route]) ? 1 : 0);
  const found = await mostDeliveries(problem, resources, columns, worth, stages, name, 1);
  if (found === null) return null;
  const all = neededMoves(problem, completed(problem, found, horizon));
  return together(given, inTime(problem, phases[0], earliest(problem, resources, all), 0));
}
