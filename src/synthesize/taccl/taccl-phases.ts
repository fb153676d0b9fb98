import type { MilpProblem, MilpRunner, MilpSize } from "../../engine/contract/programs.ts";
import { doublingBoundOf } from "../../model/bounds/doubling.ts";
import { type Collective, membersOf } from "../../model/collective/collective.ts";
import { groupedBy, groupedOnce } from "../../model/graph/graph.ts";
import { ceil } from "../../model/numbers/rational.ts";
import { reversedRoutes } from "../../model/routes/routes.ts";
import { type InternodeSketch, mayCarry, type SketchNetwork } from "../../model/sketch/sketch.ts";
import { reversed } from "../../model/topology/topology.ts";
import type { Deadline } from "../deadline.ts";
import { programRows } from "../program-rows.ts";
import { type SolverStage, skippedStage, solvedStage } from "../solver-facts.ts";
import type { SynthesisContext } from "../synthesizer.ts";
import { type Phase, phasesOf } from "../tacos/network.ts";
import { type NamedPlan, type Paths, type PlanOptions, pathsOf, planned } from "./contiguity.ts";
import { routeChunks } from "./routing.ts";
import {
  clockOf,
  copyTasks,
  finished,
  followedBy,
  join,
  type Plan,
  singles,
  type Tasks,
  tasksOf,
  timing,
  turnedTasks,
} from "./scheduling.ts";
import { keysFromStarts, type Reroute } from "./scheduling-search.ts";
import type { NoRouting, Sends } from "./stages.ts";
import { type Stepped, stepped } from "./steps.ts";

/** Part of the budget for plans in steps, which are good from the start. */
const PART_OF_STEPS = 0.25;

/** A phase whose chunks have their ways: copies, on the network turned around where the phase runs backwards in time. */
export interface RoutedPhase {
  readonly phase: Phase;
  readonly network: SketchNetwork;
  readonly tasks: Tasks;
  readonly boundPs: number;
  readonly stages: readonly SolverStage[];
  /** Other ways, for small chunks. */
  readonly stepped: Stepped | null;
  /** What to tell of the phase. */
  readonly notes: readonly string[];
}

/** A plan for the whole collective on a sketch, as it runs. */
export interface Drafted {
  readonly network: SketchNetwork;
  readonly phases: readonly RoutedPhase[];
  readonly whole: NamedPlan;
}

export interface Limits {
  readonly deadline: Deadline;
  readonly seed: number;
}

/** Returns the phases of the collective with ways for their chunks (stage 1), or why there are none. */
export async function routedPhases(
  network: SketchNetwork,
  collective: Collective,
  { deadline, seed }: Limits,
  context: SynthesisContext,
): Promise<readonly RoutedPhase[] | NoRouting> {
  // a gather needs no reversal: each chunk has one way
  const phases = phasesOf(collective.kind === "gather" ? { ...collective, kind: "custom" } : collective);
  const { milp: _, ...noSolver } = context;
  const routed: RoutedPhase[] = [];
  for (const [p, phase] of phases.entries()) {
    const own = phase.reversed ? reversedNetwork(network) : network;
    const problem = {
      network: own,
      collective: phase.collective,
      deadline: deadline.part(1 / (phases.length - p)),
      seed,
    };
    const paced = timing(own, phase.collective);
    const doubling = doublingBoundOf(own.topology, phase.collective, own.routes, paced.times);
    const doublingPs = Number(ceil(doubling.ps));
    const { best, note } = stepped(own, phase.collective);
    // nothing is left for programs to find
    const isLeast = best !== null && best.endPs <= doublingPs;
    const routing = await routeChunks(problem, isLeast ? noSolver : context);
    if ("conflict" in routing) return routing;
    const tasks = tasksOf(own, phase.collective, routing.sends, paced);
    const stages = isLeast ? [] : routing.stages;
    const boundPs = Math.max(routing.boundPs, doublingPs);
    const notes = note === null ? [] : [note];
    routed.push({ phase, network: own, tasks, boundPs, stages, stepped: best, notes });
  }
  return routed;
}

/**
 * Returns a plan for the phases. Reductions are planned as copies on the network turned around, run backwards in time, and
 * reordered as they run (section 5.3: not all that an NPU receives can be reduced at once, as its links are busy); the
 * halves of an all-reduce then overlap, each chunk's second half waiting for its first. `budget` as in PlanOptions, each time.
 */
export async function drafted(
  network: SketchNetwork,
  phases: readonly RoutedPhase[],
  { seed, budget, isOver, breathe }: Pick<PlanOptions, "seed" | "budget" | "isOver" | "breathe">,
): Promise<Drafted> {
  const { leavesBox } = network;
  const plans: NamedPlan[] = [];
  for (const { phase, network: own, tasks, boundPs, stepped: other } of phases) {
    const reroute = rerouting(own, phase.collective, tasks, (changed) => finished(own, phase.collective, changed));
    const options = { seed, budget, leavesBox, leastPs: boundPs, isOver, breathe };
    const inSteps = async ({ tasks: own, plan: known, name }: NonNullable<typeof other>): Promise<NamedPlan> => ({
      ...(await planned(own, { ...options, budget: budget * PART_OF_STEPS, known })),
      name,
    });
    const isLeast = other !== null && other.endPs <= boundPs;
    let found = isLeast ? await inSteps(other) : await planned(tasks, { ...options, reroute });
    if (!isLeast && other !== null && other.endPs < found.endPs) found = await inSteps(other);
    plans.push(phase.reversed ? turnedPlan(found, network, phase.reduces) : found);
  }
  const [first, second] = plans as [NamedPlan, NamedPlan?];
  if (second === undefined && !(phases[0] as RoutedPhase).phase.reversed) return { network, phases, whole: first };
  const { tasks, plan } = second === undefined ? first : concatenated(first, second);
  const leastPs = second === undefined ? first.boundPs : 0;
  const whole = await planned(tasks, { seed, budget, leavesBox, leastPs, known: plan, isOver, breathe });
  return { network, phases, whole: { ...whole, name: first.name } };
}

/** Returns the plan run backwards in time on the network itself. */
function turnedPlan(found: NamedPlan, { routes }: SketchNetwork, reduces: boolean): NamedPlan {
  const clock = clockOf(found.tasks);
  clock.run(found.plan);
  const key = clock.endPs.map((end) => found.endPs - end);
  return { ...found, tasks: turnedTasks(found.tasks, routes, reduces), plan: { ...found.plan, key } };
}

/** Returns the second plan after the first one. */
function concatenated(first: NamedPlan, second: NamedPlan): { readonly tasks: Tasks; readonly plan: Plan } {
  const shift = first.tasks.count;
  const after = (column: Int32Array): number[] => Array.from(column, (task) => task + shift);
  return {
    tasks: followedBy(first.tasks, second.tasks),
    plan: {
      leader: Int32Array.from([...first.plan.leader, ...after(second.plan.leader)]),
      next: Int32Array.from([...first.plan.next, ...after(second.plan.next)]),
      key: Float64Array.from([...first.plan.key, ...second.plan.key.map((start) => start + first.endPs)]),
    },
  };
}

/** Returns the draft with what the program of stage 3 makes of its order. */
export async function exactly(
  draft: Drafted,
  context: SynthesisContext,
  timeLimitMs: number,
): Promise<{ readonly draft: Drafted; readonly stage: SolverStage | null }> {
  const { whole } = draft;
  const { plan, endPs, stage } = await contiguous(whole.tasks, whole.plan, whole.endPs, context.milp, timeLimitMs);
  return { draft: { ...draft, whole: { ...whole, plan, endPs } }, stage };
}

/**
 * Returns the logical topology with every route turned around: copies on it, run backwards in time, are what reductions may do
 * on the network itself. Route ids, links, shares, hyperedges and rotations stay. The paper inverts an all-gather's sends
 * (section 5.3), which then leave boxes by the sketch's receivers; here they keep its senders, so that one sketch holds for
 * both halves of an all-reduce. O(route links).
 */
export function reversedNetwork(network: SketchNetwork): SketchNetwork {
  const { topology, sketch, routes } = network;
  const internode = sketch.internode === null ? null : reversedInternode(sketch.internode);
  return {
    ...network,
    topology: reversed(topology),
    sketch: { ...sketch, internode },
    routes: reversedRoutes(routes),
  };
}

/** Returns the connections turned around; a chunk enters its owner's box by those that its relays send to. */
function reversedInternode(internode: InternodeSketch): InternodeSketch {
  const { connections, relays } = internode;
  // the order of owners is one in which chunks leave a box as a whole, not in which parts of sums do
  const rest = { ...internode, enforceOrdering: false, betaSplit: new Map() };
  if (connections === "direct-map") return rest;
  if (connections === "fully-connected") return { ...rest, relays: null };
  const turned = new Map<number, number[]>();
  for (const [sender, receivers] of connections) {
    for (const receiver of receivers) turned.set(receiver, [...(turned.get(receiver) ?? []), sender]);
  }
  const receiversOf = (senders: readonly number[]): number[] => [
    ...new Set(senders.flatMap((sender) => connections.get(sender) ?? [])),
  ];
  return {
    ...rest,
    connections: turned,
    relays: relays === null ? null : new Map([...relays].map(([owner, senders]) => [owner, receiversOf(senders)])),
  };
}

/** More sends are not worth it: each change rebuilds the tasks. */
const MOST_SENDS = 2000;

/**
 * Returns whether every NPU that gets a chunk wants it, so that a send can be replaced by any other to the same NPU: one that
 * only passes a chunk on would be left with what it has no use for, and a sum with nothing in it once turned around.
 */
function everyoneWants(collective: Collective, { chunk, route }: Sends, target: Int32Array): boolean {
  return chunk.every((c, i) => membersOf(collective, collective.post, c).includes(target[route[i]]));
}

/**
 * Returns a way to let a chunk reach an NPU from another neighbour that has it, or undefined where that is not allowed: a
 * sketch with symmetries fixes what stage 1 chose. The paper never looks back at stage 1; on one NDv2 box the routing decides
 * whether an order without gaps exists, which its relaxed bandwidth constraints cannot see.
 */
export function rerouting(
  network: SketchNetwork,
  collective: Collective,
  sends: Sends,
  finish: (tasks: Tasks) => Tasks,
): Reroute | undefined {
  const { routes, leavesBox } = network;
  const npus = network.topology.npuCount;
  if (network.symmetries.length > 0 || sends.chunk.length > MOST_SENDS) return undefined;
  if (!everyoneWants(collective, sends, routes.target)) return undefined;
  const into = groupedOnce(routes.target, npus);
  return (tasks, task, draws) => {
    const { chunk, route } = tasks;
    const c = chunk[task];
    let first = task;
    let behind = task;
    while (first > 0 && chunk[first - 1] === c) first--;
    while (behind < tasks.count && chunk[behind] === c) behind++;
    const bringer = new Int32Array(npus).fill(-1);
    for (let other = first; other < behind; other++) bringer[routes.target[route[other]]] = other;
    const holders = membersOf(collective, collective.pre, c);
    const npu = routes.target[route[task]];
    const from = into.offset[npu];
    const found = into.items[from + draws.below(into.offset[npu + 1] - from)];
    if (found === route[task]) return null;
    if (leavesBox[found] === 1 && !mayCarry(network, holders[0], routes.source[found])) return null;
    // the new source must have the chunk, and not by way of this NPU
    let at = routes.source[found];
    while (at !== npu && bringer[at] >= 0) at = routes.source[route[bringer[at]]];
    if (at === npu || !holders.includes(at)) return null;
    const changed = route.slice();
    changed[task] = found;
    return finish(copyTasks({ chunk, route: changed }, routes, tasks.times, tasks.lanes, npus));
  };
}

/** Larger programs are left out: local search has come as far by then, and one relaxation takes seconds. */
const MOST_TASKS = 1500;
/** Nodes of the search tree; what they find does not depend on the machine. */
const MOST_NODES = 400;
/** Part of the whole time below which a gap is none. */
const GAP = 1e-6;

interface Contiguous {
  readonly plan: Plan;
  readonly endPs: number;
  readonly stage: SolverStage | null;
}

/**
 * Returns the plan with the messages and times that the program of stage 3 finds for its order, where these end sooner by the
 * clock, in integers; else the plan itself. The stage is null where there was nothing to solve.
 */
export async function contiguous(
  tasks: Tasks,
  plan: Plan,
  endPs: number,
  milp: MilpRunner | undefined,
  timeLimitMs: number,
): Promise<Contiguous> {
  const paths = pathsOf(tasks);
  const name = "exact scheduling";
  const skipped = (note: string, size = { columns: 0, rows: 0 }): Contiguous => ({
    plan,
    endPs,
    stage: skippedStage(name, size, note),
  });
  if (milp === undefined || tasks.count === 0 || endPs <= paths.boundPs) return { plan, endPs, stage: null };
  if (tasks.count > MOST_TASKS) return skipped(`${tasks.count} sends, of at most ${MOST_TASKS}`);
  const order = fixedOrder(tasks, plan);
  if (order === null) return skipped("links that carry several messages at once");
  const size = contiguitySize(tasks, order);
  if (milp.bytesFor(size) > milp.maxBytes) return skipped("more memory than the solver has", size);
  if (timeLimitMs <= 0) return skipped("no time left", size);
  const { problem, begin, together, unitPs } = contiguityProgram(tasks, order, paths, endPs);
  const solved = await milp.solve(problem, {
    timeLimitMs,
    nodeLimit: MOST_NODES,
    absoluteGap: (GAP * endPs) / unitPs,
    enough: -paths.boundPs / unitPs,
  });
  const stage = solvedStage(name, problem, solved);
  if (solved.primal.length === 0) return { plan, endPs, stage };
  const found = singles(solved.primal.slice(begin, begin + tasks.count));
  for (const [p, [a, b]] of order.together.entries()) {
    if (solved.primal[together + p] > 0.5) join(found, found.leader[a], b);
  }
  const clock = clockOf(tasks);
  const end = clock.run(found);
  if (end >= endPs) return { plan, endPs, stage };
  keysFromStarts(found, clock);
  return { plan: found, endPs: end, stage };
}

/**
 * The program of stage 3 (TACCL, appendix B.3): exact times and which sends go together, their order being fixed. Columns, all
 * but the last kind in units of 1/1000 of the heuristic's end:
 *
 *   begin[i]     when chunk i takes its turn: its message's start plus the serialisations of those before it in the message
 *   end[i]       when its message has arrived
 *   need[i]      when all that its message still waits for, from i on, is there
 *   time         the end of all
 *   together[p]  1: the sends of pair p, neighbours on their route, are one message
 *
 * The paper has is_together for every two chunks of a link, tied by indicator constraints. Neighbours suffice, as the order is
 * fixed: messages are runs. So occupancy needs no constant at all:
 *
 *   begin[j] - begin[i] >= serial + latency * (1 - together)
 *   end[i] >= begin[i] + serial + latency,   end[i] >= end[j] - M (1 - together)
 *   begin[i] >= need[i] >= end of what brings i,   need[i] >= need[j] - M' (1 - together)
 *
 * and both constants are differences of what paths from the start and to the end leave free within the heuristic's end.
 */
interface ContiguityProgram {
  readonly problem: MilpProblem;
  /** First column of the kinds. */
  readonly begin: number;
  readonly together: number;
  /** Picoseconds per unit. */
  readonly unitPs: number;
}

/** Returns an upper limit of the program's size. */
function contiguitySize(tasks: Tasks, { together, apart }: FixedOrder): MilpSize {
  const edges = tasks.after.items.length;
  const rows = 3 * tasks.count + 3 * together.length + apart.length + edges;
  return { columns: 3 * tasks.count + together.length + 1, rows, entries: 3 * rows };
}

/** Returns the program, with the order's own times as its start. `endPs` is their end. O(tasks + pairs). */
function contiguityProgram(tasks: Tasks, order: FixedOrder, paths: Paths, endPs: number): ContiguityProgram {
  const { count, route, before, times } = tasks;
  const { together, apart } = order;
  const { headPs, tailPs } = paths;
  const unitPs = endPs / 1000;
  const [begin, end, need, time, pair] = [0, count, 2 * count, 3 * count, 3 * count + 1];
  const columns = pair + together.length;
  const lower = new Float64Array(columns);
  const upper = new Float64Array(columns).fill(1);
  const start = new Float64Array(columns);
  const objective = new Float64Array(columns);
  const integer = new Uint8Array(columns);
  const rows = programRows();
  const atLeast = (least: number, ...terms: readonly (readonly [number, number])[]): void =>
    rows.add(least / unitPs, Number.POSITIVE_INFINITY, terms);

  objective[time] = -1;
  lower[time] = paths.boundPs / unitPs;
  upper[time] = start[time] = endPs / unitPs;
  for (let task = 0; task < count; task++) {
    const slot = times.slotPs[route[task]];
    lower[begin + task] = lower[need + task] = headPs[task] / unitPs;
    upper[begin + task] = upper[need + task] = (endPs - tailPs[task]) / unitPs;
    lower[end + task] = (headPs[task] + slot) / unitPs;
    upper[end + task] = (endPs - tailPs[task] + slot) / unitPs;
    start[begin + task] = order.startPs[task] / unitPs;
    start[end + task] = order.endPs[task] / unitPs;
    atLeast(slot, [end + task, 1], [begin + task, -1]);
    atLeast(0, [time, 1], [end + task, -1]);
    atLeast(0, [begin + task, 1], [need + task, -1]);
    for (let i = before.offset[task]; i < before.offset[task + 1]; i++) {
      atLeast(0, [need + task, 1], [end + before.items[i], -1]);
      start[need + task] = Math.max(start[need + task], order.endPs[before.items[i]] / unitPs);
    }
  }
  for (const [a, b] of apart) atLeast(times.slotPs[route[a]], [begin + b, 1], [begin + a, -1]);
  together.forEach(([a, b], p) => {
    const over = route[a];
    const [slot, latency] = [times.slotPs[over], times.latencyPs[over]];
    const one = pair + p;
    integer[one] = 1;
    start[one] = order.startPs[a] === order.startPs[b] ? 1 : 0;
    atLeast(slot, [begin + b, 1], [begin + a, -1], [one, latency / unitPs]);
    const endSpare = endPs - tailPs[b] - headPs[a];
    atLeast(-endSpare, [end + a, 1], [end + b, -1], [one, -endSpare / unitPs]);
    const needSpare = endPs - tailPs[b] - headPs[a];
    atLeast(-needSpare, [need + a, 1], [need + b, -1], [one, -needSpare / unitPs]);
  });
  // turns and needs within the messages of the start, in the order of the runs
  together.forEach(([a, b], p) => {
    if (start[pair + p] === 1) start[begin + b] = start[begin + a] + times.serialPs[route[a]] / unitPs;
  });
  for (let p = together.length - 1; p >= 0; p--) {
    const [a, b] = together[p];
    if (start[pair + p] === 1) start[need + a] = Math.max(start[need + a], start[need + b]);
  }
  return { problem: { objective, lower, upper, rows: rows.lpRows(), integer, start }, begin, together: pair, unitPs };
}

/** The order of sends on links, as stage 3 takes it from stage 2. */
interface FixedOrder {
  /** [tasks] When the message of the task starts and ends in the plan that the order is from. */
  readonly startPs: Float64Array;
  readonly endPs: Float64Array;
  /** Pairs of a route that follow each other on all its links: they may go together. */
  readonly together: readonly (readonly [number, number])[];
  /** Pairs of different routes that follow each other on a link. */
  readonly apart: readonly (readonly [number, number])[];
}

/**
 * Returns the order of the plan's tasks; those of one message by when they are there. Null where a link carries several
 * messages at once: which of its lanes a message takes is then no matter of order. O(uses log uses).
 */
export function fixedOrder(tasks: Tasks, plan: Plan): FixedOrder | null {
  const { count, route, before, lanes } = tasks;
  const { useOffset, resource, laneOffset } = lanes;
  const clock = clockOf(tasks);
  clock.run(plan);
  const startPs = Float64Array.from(plan.leader, (message) => clock.startPs[message]);
  const endPs = Float64Array.from(plan.leader, (message) => clock.endPs[message]);
  const readyPs = new Float64Array(count);
  for (let task = 0; task < count; task++) {
    for (let i = before.offset[task]; i < before.offset[task + 1]; i++) {
      readyPs[task] = Math.max(readyPs[task], endPs[before.items[i]]);
    }
  }
  const sequence = Int32Array.from({ length: count }, (_, task) => task).sort(
    (a, b) => startPs[a] - startPs[b] || plan.leader[a] - plan.leader[b] || readyPs[a] - readyPs[b] || a - b,
  );
  const keys: number[] = [];
  const users: number[] = [];
  for (const task of sequence) {
    for (let i = useOffset[route[task]]; i < useOffset[route[task] + 1]; i++) {
      if (laneOffset[resource[i] + 1] - laneOffset[resource[i]] > 1) return null;
      keys.push(resource[i]);
      users.push(task);
    }
  }
  const byResource = groupedBy(Int32Array.from(keys), laneOffset.length - 1);
  /** How many resources see the second task right after the first: all of the route's, or there is one in between. */
  const followed = new Map<number, number>();
  const apart = new Map<number, readonly [number, number]>();
  for (let k = 0; k + 1 < byResource.offset.length; k++) {
    for (let i = byResource.offset[k] + 1; i < byResource.offset[k + 1]; i++) {
      const [a, b] = [users[byResource.items[i - 1]], users[byResource.items[i]]];
      const pair = a * count + b;
      followed.set(pair, (followed.get(pair) ?? 0) + 1);
      apart.set(pair, [a, b]);
    }
  }
  const together: (readonly [number, number])[] = [];
  for (const [pair, [a, b]] of apart) {
    const uses = useOffset[route[a] + 1] - useOffset[route[a]];
    if (route[a] !== route[b] || followed.get(pair) !== uses) continue;
    together.push([a, b]);
    apart.delete(pair);
  }
  return { startPs, endPs, together, apart: [...apart.values()] };
}
