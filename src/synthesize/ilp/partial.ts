import type { Collective } from "../../model/collective/collective.ts";
import { distancesFrom, graph } from "../../model/graph/graph.ts";
import { type RouteSet, reversedRoutes } from "../../model/routes/routes.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type Phase, phasesOf } from "../tacos/network.ts";
import { earliest, endOfMoves, type Move, movesOf, neededMoves } from "./found-rows.ts";
import {
  clockFor,
  type Flow,
  type FlowProblem,
  firstFrom,
  flowsOf,
  inSlots,
  pairTimes,
  type Resource,
  resourcesOf,
  slotTicks,
} from "./problem.ts";
import { keepingSink, writeRows } from "./program.ts";
import { type Shortened, type ShortenRequest, shortened } from "./shorten.ts";
import type { Stages } from "./stages.ts";
import { COPY, type Columns, columnsOf } from "./windows.ts";

/**
 * Partial schedules need copies, of which some may have arrived and others not; so a reduction is made as the multicast that
 * it is backwards in time, over the routes turned around, and an all-reduce one half after the other (TACOS 2023, section
 * VII-A).
 */

export interface PhaseProblem {
  readonly topology: Topology;
  readonly collective: Collective;
  readonly routes: RouteSet;
  readonly durations: readonly Float64Array[];
  /** Length of a slot; null: exact times where these are few. */
  readonly slotPs: number | null;
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
export function together(given: PhaseProblem, moves: readonly Move[]): Move[] {
  const { topology, collective, routes, durations } = given;
  const problem = { npuCount: topology.npuCount, routes, durations, flows: flowsOf(collective) };
  const sorted = [...moves].sort((a, b) => a.start - b.start || a.route - b.route || a.flow - b.flow);
  return earliest(problem, resourcesOf(routes).resources, sorted);
}

/**
 * Returns a schedule by time clustering, in order of start; null where the first program has no room. `expectedPs`: when it
 * would end at best, which windows divide.
 */
export async function byWindows(given: PhaseProblem, expectedPs: number, stages: Stages): Promise<Move[] | null> {
  const all: Move[] = [];
  const phases = phasesOf(given.collective);
  const clock = clockFor(given.durations, expectedPs, given.slotPs);
  const shortest = given.durations.reduce((least, column) => column.reduce((a, b) => Math.min(a, b), least), Infinity);
  const equal = given.durations.every((column) => column.every((ps) => ps === shortest));
  const slotPs = given.slotPs ?? (equal || clock.kind === "sums" ? shortest : clock.slotPs);
  let base = 0;
  for (const [i, phase] of phases.entries()) {
    const problem = copiesOf(given, phase);
    const slots = Math.ceil(expectedPs / phases.length / slotPs);
    const moves = await clustered(problem, slotPs, slots, phases.length - i, stages);
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
  if (phases.length !== 1) return null;
  const clock = clockFor(given.durations, highPs, given.slotPs);
  const exact = copiesOf(given, phases[0]);
  const unitPs = clock.kind === "sums" ? 1 : clock.slotPs;
  const ticks = clock.kind === "sums" ? clock.ticks : slotTicks(Math.ceil(highPs / unitPs));
  const problem = clock.kind === "sums" ? exact : { ...exact, durations: inSlots(exact.durations, unitPs, true) };
  const { resources } = resourcesOf(problem.routes);
  const horizon = ticks[firstFrom(ticks, highPs / unitPs) - 1];
  const name = "most deliveries";
  const columns = await stages.build(name, (room) => columnsOf(problem, ticks, horizon, room));
  if (columns === null) return null;
  const wants = problem.flows.map(({ to }) => new Set(to));
  const worth = (flow: number, route: number): number => (wants[flow].has(problem.routes.target[route]) ? 1 : 0);
  const found = await mostDeliveries(problem, resources, columns, worth, stages, name, 1);
  if (found === null) return null;
  const all = neededMoves(exact, completed(exact, inPs(found, unitPs), horizon * unitPs));
  return together(given, inTime(exact, phases[0], earliest(exact, resources, all), 0));
}

const inPs = (moves: readonly Move[], unitPs: number): Move[] =>
  moves.map((move) => ({ ...move, start: move.start * unitPs }));

/**
 * Returns a schedule shorter than the one known, as `shortened`; where the first stages, of whole schedules, found none and did
 * not prove that there is none, what the second have time for by early termination.
 */
export async function shortenedOrCompleted(
  request: ShortenRequest,
  collective: Collective,
  [whole, partial]: readonly [Stages, Stages],
): Promise<Shortened> {
  const { topology, routes, durations, slotPs, flows, highPs } = request;
  const found = await shortened(request, whole);
  const isOpen = found.moves === null && (found.proof?.ps ?? 0) < highPs && flows.every(({ kind }) => kind !== "both");
  const moves = isOpen
    ? await byTermination({ topology, collective, routes, durations, slotPs }, highPs, partial)
    : null;
  const problem = { npuCount: topology.npuCount, routes, durations, flows };
  if (moves === null || endOfMoves(problem, moves) >= highPs) return found;
  return { ...found, moves, how: "program: most deliveries, completed" };
}

/** Transfers of the longest duration that follow each other within one window, at most. */
const HOPS = 2;
/** A relay that does not want a chunk is worth less than any delivery. */
const RELAY = 0.5;

/**
 * Returns a schedule of copies by time clustering (TACOS 2023, section V-C): programs over short windows one after the other,
 * each for the most that can be delivered, from what the one before has brought where. Chunks that must pass NPUs which do
 * not want them are worth the way that they come nearer. Ways that no window took are added behind; the whole is timed
 * exactly in the end. Null where not even the first window has room.
 */
async function clustered(
  problem: FlowProblem,
  slotPs: number,
  slotsExpected: number,
  phasesLeft: number,
  stages: Stages,
): Promise<Move[] | null> {
  const { routes, flows, npuCount } = problem;
  const { resources } = resourcesOf(routes);
  const durations = inSlots(problem.durations, slotPs, true);
  const times = pairTimes({ ...problem, durations });
  const longest = durations.reduce((most, column) => column.reduce((a, b) => Math.max(a, b), most), 1);
  // equal windows, the last of which ends when all should: one that is longer than need be has no reason to end early
  const windowsExpected = Math.max(1, Math.ceil(slotsExpected / (HOPS * longest)));
  const length = Math.max(longest, Math.ceil(slotsExpected / windowsExpected));
  const ticks = slotTicks(length);
  const everyone = Int32Array.from({ length: npuCount }, (_, v) => v);
  const moves: Move[] = [];
  for (let window = 0; ; window++) {
    const holders = holdersAfter(problem, moves);
    /** [flows][npus] way to the nearest NPU that still waits. */
    const ahead = flows.map(({ to, size }, f) => {
      const waiting = [...to].filter((v) => !holders[f].has(v));
      return everyone.map((v) => Math.min(...waiting.map((w) => times[size][v * npuCount + w])));
    });
    const open = flows.map((_, f) => f).filter((f) => flows[f].to.some((v) => !holders[f].has(v)));
    if (open.length === 0) break;
    const current: FlowProblem = {
      ...problem,
      durations,
      flows: open.map((f): Flow => {
        const { to } = flows[f];
        return { ...flows[f], from: Int32Array.from(holders[f]), to: to.length === 1 ? to : everyone };
      }),
    };
    const name = `window ${window + 1}`;
    const columns = await stages.build(name, (room) => columnsOf(current, ticks, length, room, true));
    if (columns === null && window === 0) return null;
    if (columns === null) break;
    const wants = open.map((f) => new Set(flows[f].to));
    const worth = (at: number, route: number, arrival: number): number => {
      const f = open[at];
      const [u, v] = [routes.source[route], routes.target[route]];
      const soon = 1 + (length - arrival) / (4 * length);
      if (wants[at].has(v)) return soon;
      const nearer = (ahead[f][u] - ahead[f][v]) / (ahead[f][u] + 1);
      return nearer > 0 ? RELAY * soon * nearer : -RELAY;
    };
    const share = 1 / Math.max(1, phasesLeft * windowsExpected - window);
    const found = await mostDeliveries(current, resources, columns, worth, stages, name, share);
    if (found === null || found.length === 0) break;
    for (const move of found) {
      moves.push({ ...move, flow: open[move.flow], start: (move.start + window * length) * slotPs });
    }
  }
  const end = moves.reduce((last, { start }) => Math.max(last, start), 0) + length * slotPs;
  return earliest(problem, resources, neededMoves(problem, completed(problem, moves, end)));
}

/** Returns the NPUs that hold each flow after the moves; copies only. */
function holdersAfter({ routes, flows }: FlowProblem, moves: readonly Move[]): Set<number>[] {
  const holders = flows.map(({ from }) => new Set(from));
  for (const { flow, route } of moves) holders[flow].add(routes.target[route]);
  return holders;
}

/**
 * Returns the moves with what is missing added behind them (TACOS 2023, section V-B): every flow comes to those that want it
 * on shortest ways from those that hold it, the nearest first. Starts only say the order; `earliest` finds times. Of copies.
 */
function completed(problem: FlowProblem, moves: readonly Move[], end: number): Move[] {
  const { npuCount, routes, durations, flows } = problem;
  const holders = holdersAfter(problem, moves);
  const added: Move[] = [];
  for (const [f, { to, size }] of flows.entries()) {
    const missing = new Set([...to].filter((v) => !holders[f].has(v)));
    if (missing.size === 0) continue;
    const previous = new Int32Array(npuCount).fill(-1);
    const network = graph(npuCount, routes.source, routes.target, durations[size]);
    const distance = distancesFrom(network, [...holders[f]], previous);
    for (const wanter of missing) {
      for (let v = wanter; !holders[f].has(v); v = routes.source[previous[v]]) {
        holders[f].add(v);
        const route = previous[v];
        added.push({ flow: f, route, start: end + distance[routes.source[route]], reduces: false });
      }
    }
  }
  added.sort((a, b) => a.start - b.start || a.route - b.route || a.flow - b.flow);
  return [...moves, ...added];
}

/**
 * Returns the moves of a partial schedule of copies: what arrives is worth most (TACOS 2023, figure 12b: `worth` of bringing a
 * flow over a route, by tick of arrival), not all need arrive. Null where the solver found nothing in its share of the time.
 */
async function mostDeliveries(
  problem: FlowProblem,
  resources: readonly Resource[],
  columns: Columns,
  worth: (flow: number, route: number, arrival: number) => number,
  stages: Stages,
  name: string,
  share: number,
): Promise<Move[] | null> {
  const { flows, durations, routes } = problem;
  const objective = new Float64Array(columns.count);
  for (const { flow, place, low, high, first } of columns.blocks) {
    const duration = durations[flows[flow].size][place];
    for (let k = low; k <= high; k++) objective[first + k - low] = worth(flow, place, columns.ticks[k] + duration);
  }
  const rows = await stages.build(name, (room) => {
    const sink = keepingSink(columns.count, null, room);
    writeRows(problem, columns, { flows: flows.keys(), resources, complete: false }, sink);
    // one that a single NPU wants moves on instead of spreading
    for (const [f, { to }] of flows.entries()) {
      if (to.length !== 1) continue;
      for (let v = 0; v < problem.npuCount; v++) {
        for (let r = 0; r < routes.source.length; r++) {
          const block = routes.source[r] === v ? columns.block(f, COPY, r) : undefined;
          for (let k = 0; block !== undefined && k <= block.high - block.low; k++) sink.add(block.first + k, 1);
        }
        sink.end(0, 1);
      }
    }
    return sink.lpRows();
  });
  if (rows === null) return null;
  const milp = {
    objective,
    lower: new Float64Array(columns.count),
    upper: new Float64Array(columns.count).fill(1),
    rows,
    integer: new Uint8Array(columns.count).fill(1),
  };
  const found = await stages.solve(name, milp, share);
  if (found === null || found.primal.length === 0) return null;
  return movesOf(problem, columns, (column) => found.primal[column], false);
}
