import { boundOf } from "../../model/bounds/bounds.ts";
import type { Bound } from "../../model/bounds/witness.ts";
import { COLLECTIVE_KINDS, type Collective } from "../../model/collective/collective.ts";
import { distancesFrom, graph } from "../../model/graph/graph.ts";
import { ceil } from "../../model/numbers/rational.ts";
import { type RouteSet, reversedRoutes, routeTimes } from "../../model/routes/routes.ts";
import { routesOf, tableDegree } from "../../model/routes/routing.ts";
import { makespanOf, transfersOf } from "../../model/steps/schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { deadlineIn, USUAL_SOLVE_MS } from "../deadline.ts";
import type { SolverFacts } from "../solver-facts.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest, Synthesizer } from "../synthesizer.ts";
import { type Phase, phasesOf } from "../tacos/network.ts";
import { synthesizeListed, tacos } from "../tacos/tacos.ts";
import { boundBy, contains, gap, MOST_TRANSFERS, skipped, TRYING, WHOLE_CHUNKS } from "./facts.ts";
import { earliest, endOfMoves, type Move, movesOf, neededMoves, scheduleOf } from "./found-rows.ts";
import { halvesOf } from "./halves.ts";
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
import { type Shortened, shortened } from "./shorten.ts";
import { type Stages, stagesOf } from "./stages.ts";
import { COPY, type Columns, columnsOf } from "./windows.ts";

/** Of the time, for programs of whole schedules; the rest for early termination. */
const SEARCH_SHARE = 0.8;
/** Of the time, for the halves of an all-reduce. */
const HALVES_SHARE = 0.5;
/** Limits below this leave time for fewer trials of the matching than this. */
const LIMIT_FOR_ALL_MS = 20_000;
const MOST_TRIALS = 64;

/** Returns the matching's trials, fewer where time is short, so that programs have some; null: as many as it finds right. */
const trialsFor = (limitMs: number): number | null =>
  limitMs >= LIMIT_FOR_ALL_MS ? null : Math.max(1, Math.ceil((MOST_TRIALS * limitMs) / LIMIT_FOR_ALL_MS));

/**
 * Returns a schedule of least time where the solver proves one in the time it is given, and the best found else. First the
 * matching of TACOS: one that meets the bound needs no program. Then programs for less time (run/search/search.ts), of an
 * all-reduce first for its halves.
 */
async function synthesize(asked: SynthesisRequest, context: SynthesisContext): Promise<Synthesis> {
  const { topology, collective, switchDegree, timeLimitMs, policy } = asked;
  const limitMs = timeLimitMs ?? USUAL_SOLVE_MS;
  const deadline = deadlineIn(limitMs);
  const request = { ...asked, trials: asked.trials ?? trialsFor(limitMs), policy: null };
  const greedy = await synthesizeListed(request, context);
  const greedyPs = makespanOf(greedy.schedule);
  const routes = routesOf(topology, tableDegree(topology, switchDegree));
  const boundFor = (set: RouteSet): Bound =>
    boundOf(topology, collective, set, routeTimes(topology, set, collective.chunkBytes));
  const own = contains(routes, greedy.schedule.routes);
  const lowPs = Number(ceil(boundFor(routes).ps));
  const greedyLowPs = Number(ceil(boundFor(greedy.schedule.routes).ps));
  const durations = [routeTimes(topology, routes, collective.chunkBytes).slotPs];
  const given = { topology, collective, routes, durations };
  const trying = TRYING[policy ?? ""] ?? "all";
  const small = transfersOf(greedy.schedule) <= MOST_TRANSFERS;
  const forHalves =
    context.milp === undefined || !small ? null : stagesOf(context.milp, deadline.part(HALVES_SHARE), context);
  const solved = (own || greedyPs <= greedyLowPs) && greedyPs <= lowPs;
  const halves = solved || !own ? null : await halvesOf(request, context, routes, trying, forHalves);
  const inHalves =
    halves === null ? null : scheduleOf(topology, collective, routes, durations[0], together(given, halves.moves));
  const isShorter = inHalves !== null && makespanOf(inHalves) < greedyPs;
  const best: Synthesis = isShorter
    ? { ...greedy, schedule: inHalves, policy: `program: ${halves?.how}` }
    : { ...greedy, policy: `matching: ${greedy.policy}` };
  const highPs = makespanOf(best.schedule);
  const met = highPs <= (isShorter ? lowPs : greedyLowPs);
  const factsOf = (endPs: number, facts: SolverFacts): SolverFacts => ({
    ...facts,
    stages: [...(forHalves?.list ?? []), ...facts.stages],
    ...(halves === null ? {} : { halves: { ...halves.facts, met: endPs <= halves.leastPs } }),
  });
  const known = (proved: boolean, notes: readonly string[]): Synthesis => ({
    ...best,
    solver: factsOf(highPs, { proved, model: WHOLE_CHUNKS, stages: [] }),
    ...(notes.length === 0 ? {} : { notes }),
  });
  if ((own || met) && highPs <= lowPs) return known(true, []);
  if (context.milp === undefined) return known(met, ["no solver of integer programs is at hand"]);
  if (!small) {
    const note = `no program was tried: ${transfersOf(greedy.schedule)} transfers, and programs are for at most ${MOST_TRANSFERS}`;
    return known(met, [note]);
  }
  const flows = flowsOf(collective);
  const windows = policy === "clustered";
  // trees through one meeting place are not all that an all-reduce can be
  const describesAll = flows.every(({ kind }) => kind !== "both");
  const stages = stagesOf(context.milp, deadline.part(windows || !describesAll ? 1 : SEARCH_SHARE), context);
  const found: Shortened = windows
    ? { moves: await byWindows(given, highPs, stages), how: "windows", proof: null, model: "short windows", notes: [] }
    : await shortened({ topology, routes, durations, flows, lowPs, highPs, trying }, stages);
  const last = stagesOf(context.milp, deadline, context);
  const open = found.moves === null && !windows && describesAll && (found.proof?.ps ?? 0) < highPs;
  const moves = open ? await byTermination(given, highPs, last) : found.moves;
  const made = moves === null ? null : scheduleOf(topology, collective, routes, durations[0], moves);
  const schedule = made !== null && makespanOf(made) < highPs ? made : null;
  const endPs = schedule === null ? highPs : makespanOf(schedule);
  const proof = describesAll && (schedule !== null || own) ? found.proof : null;
  // a schedule over other routes is held against their bound
  const least = Math.max(schedule !== null || own ? lowPs : greedyLowPs, proof?.ps ?? 0);
  const list = [...stages.list, ...last.list];
  const notes = [...found.notes, ...skipped(list), ...gap(endPs, least, describesAll)];
  return {
    ...best,
    ...(schedule === null ? {} : { schedule, policy: `program: ${open ? "most deliveries, completed" : found.how}` }),
    solver: factsOf(endPs, { proved: endPs <= least, model: found.model, stages: list }),
    ...(proof === null || proof.ps <= lowPs ? {} : { bound: boundBy(proof, found.model) }),
    ...(notes.length === 0 ? {} : { notes }),
    ...([forHalves, stages, last].some((one) => one?.timedOut()) ? { deterministic: false } : {}),
  };
}

/** TACOS-ILP: the time-expanded network as a binary program (TACOS 2023, section V). */
export const tacosIlp: Synthesizer = {
  name: "tacos-ilp",
  makes: "steps",
  description: "binary program on the time-expanded network, from the bound upwards: proved optimal, or with its gap",
  collectives: [...COLLECTIVE_KINDS, "custom"],
  policies: ["exact", "symmetric", "clustered"],
  options: ["trials", "switchDegree", "timeLimitMs"],
  traits: { solves: true },
  plans: true,
  // the matching goes first
  ...(tacos.refuses === undefined ? {} : { refuses: tacos.refuses }),
  synthesize,
};

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
  const name = "most deliveries";
  const columns = await stages.build(name, (room) => columnsOf(problem, clock.ticks, horizon, room));
  if (columns === null) return null;
  const wants = problem.flows.map(({ to }) => new Set(to));
  const worth = (flow: number, route: number): number => (wants[flow].has(problem.routes.target[route]) ? 1 : 0);
  const found = await mostDeliveries(problem, resources, columns, worth, stages, name, 1);
  if (found === null) return null;
  const all = neededMoves(problem, completed(problem, found, horizon));
  return together(given, inTime(problem, phases[0], earliest(problem, resources, all), 0));
}

/** Transfers of the longest duration that follow each other within one window. */
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
  windowsExpected: number,
  stages: Stages,
): Promise<Move[] | null> {
  const { routes, flows, npuCount } = problem;
  const { resources } = resourcesOf(routes);
  const durations = inSlots(problem.durations, slotPs, true);
  const times = pairTimes({ ...problem, durations });
  const length = HOPS * durations.reduce((most, column) => column.reduce((a, b) => Math.max(a, b), most), 1);
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
    const share = 1 / Math.max(1, windowsExpected - window);
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
    const sink = keepingSink(columns.count, null);
    writeRows(problem, columns, { flows: flows.keys(), resources, complete: false }, sink, room);
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
