import { InputError, inWords } from "../../base/errors.ts";
import { unreachable } from "../../model/bounds/witness.ts";
import { COLLECTIVE_KINDS, type Collective, withChunks } from "../../model/collective/collective.ts";
import { add, compare, type Rational, rational, subtract } from "../../model/numbers/rational.ts";
import { toUs } from "../../model/numbers/units.ts";
import { type RouteSet, type RouteTimes, reversedRoutes, routeTimes } from "../../model/routes/routes.ts";
import { portRouteCount, routesOf } from "../../model/routes/routing.ts";
import { emptyRows, OP_COPY, OP_REDUCE, type StepSchedule } from "../../model/steps/step-schedule.ts";
import { isNpu, linkCount, reversed, type Topology } from "../../model/topology/topology.ts";
import { deadlineIn, USUAL_SOLVE_MS } from "../deadline.ts";
import type { SolverStage } from "../solver-facts.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest, Synthesizer } from "../synthesizer.ts";
import { type Phase, phasesOf } from "../tacos/network.ts";
import { type Front, type FrontOptions, paretoFront, type SyncPoint } from "./pareto.ts";
import {
  hopsOf,
  leastRounds,
  leastSteps,
  likelySets,
  problemKey,
  type SyncProblem,
  syncProblem,
  windowsOf,
} from "./problem.ts";
import { roundsIn, type Send, sendsOf } from "./sends.ts";

/** Pairs of an item and an arc, beyond which plans are not even listed. */
const MOST_PAIRS = 200_000;
/** Also where there are few items: what bounds them goes from NPU to NPU. */
const MOST_NPUS = 256;
/** Chunks per NPU that are tried where the number is not asked for, and how much faster more must look. */
const MOST_OWN_CHUNKS = 8;
const MOST_OWN_PAIRS = 4_000;
const WORTH_MORE = 0.99;

/** Returns how many pairs of an item and an arc a program has, as far as can be known without listing them. O(nodes + links). */
function pairsOf(topology: Topology, { kind, chunkCount, groupSize, groupCount }: Collective): number {
  const { linkSource, linkTarget } = topology;
  let arcs = portRouteCount(topology);
  for (let link = 0; link < linkCount(topology); link++) {
    if (isNpu(topology, linkSource[link]) && isNpu(topology, linkTarget[link])) arcs++;
  }
  const items =
    kind === "gather" || kind === "scatter" ? groupCount : kind === "alltoall" ? groupCount * groupSize : chunkCount;
  return items * arcs;
}

function refuses(topology: Topology, collective: Collective): string | null {
  if (topology.npuCount > MOST_NPUS) return `at most ${MOST_NPUS} NPUs for sccl`;
  const pairs = pairsOf(topology, collective);
  if (pairs <= MOST_PAIRS) return null;
  // chunks and links both grow with the NPUs
  const fewer = Math.max(1, Math.floor(topology.npuCount * Math.sqrt(MOST_PAIRS / pairs)));
  return `at most ${MOST_PAIRS} pairs of chunk and link (at most about ${fewer} NPUs of a network like this) for sccl`;
}

/** The time of a step, and of a round, of the slowest routes. */
interface Costs {
  readonly alphaPs: number;
  readonly betaPs: number;
}

const costsOf = ({ latencyPs, serialPs }: RouteTimes): Costs => ({
  alphaPs: latencyPs.reduce((most, ps) => Math.max(most, ps), 0),
  betaPs: serialPs.reduce((most, ps) => Math.max(most, ps), 0),
});

const costOf = ({ alphaPs, betaPs }: Costs, steps: number, rounds: number): number => steps * alphaPs + rounds * betaPs;

interface Task {
  readonly routes: RouteSet;
  readonly times: RouteTimes;
  readonly phases: readonly SyncPhase[];
}

/** Throws InputError where the program would be too large, InfeasibleError where a target cannot be reached. */
function taskOf({ topology, collective, switchDegree }: SynthesisRequest): Task {
  const refusal = refuses(topology, collective);
  if (refusal !== null)
    throw new InputError("the topology", refusal, inWords(`${topology.name}, ${topology.npuCount} NPUs`));
  const routes = routesOf(topology, switchDegree ?? "ports");
  const phases = syncPhases(topology, routes, collective);
  return { routes, times: routeTimes(topology, routes, collective.chunkBytes), phases };
}

/** Which points of a front are looked for, by policy. */
function worthTryingBy(policy: string | null, costs: Costs): NonNullable<FrontOptions["worthTrying"]> {
  if (policy === "latency") return () => false;
  if (policy === "bandwidth") return () => true;
  return (steps, rounds, points) =>
    points.every((point) => costOf(costs, steps, rounds) < costOf(costs, point.steps, roundsIn(point)));
}

interface Choice {
  readonly point: SyncPoint;
  readonly timed: TimedSends;
}

/** Returns the point of a policy: the fewest steps, the fewest rounds, or the fastest, of equal ones that of fewer steps. */
function choiceOf(phase: SyncPhase, { points }: Front, times: RouteTimes, policy: string | null): Choice {
  const tried = policy === "latency" ? points.slice(0, 1) : policy === "bandwidth" ? points.slice(-1) : points;
  const choices = tried.map((point) => {
    const sends = sendsOf(phase.problem, point.flows, point.steps);
    return { point, timed: timedSends(phase.problem, sends, phase.routes, times) };
  });
  return choices.reduce((best, choice) => (choice.timed.ps < best.timed.ps ? choice : best));
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? "" : "s"}`;
const pointWords = (point: SyncPoint): string =>
  `${count(point.steps, "step")} of ${count(roundsIn(point), "round")}${point.proved ? "" : " (not proved)"}`;

async function synthesize(request: SynthesisRequest, context: SynthesisContext): Promise<Synthesis> {
  const { topology, collective, policy } = request;
  const { routes, times, phases } = taskOf(request);
  const costs = costsOf(times);
  const sets = likelySets(topology);
  const fronts = new Map<string, Front>();
  const stages: SolverStage[] = [];
  const done: (Choice & { readonly phase: SyncPhase; readonly front: Front })[] = [];
  const deadline = deadlineIn(request.timeLimitMs ?? USUAL_SOLVE_MS);
  const sending = phases.filter(({ problem }) => problem.items.length > 0);
  for (const [p, phase] of sending.entries()) {
    const key = problemKey(phase.problem);
    let front = fronts.get(key);
    if (front === undefined) {
      front = await paretoFront(phase.problem, {
        ...(context.milp === undefined ? {} : { milp: context.milp }),
        deadline: deadline.part(1 / (sending.length - p)),
        breathe: context.breathe,
        worthTrying: worthTryingBy(policy, costs),
        sets,
        shape: topology.shape,
        onStage: (name) =>
          context.onProgress?.({ phase: `solve ${phase.name}, ${name}`, done: p, total: sending.length }),
      });
      fronts.set(key, front);
      const { stages: own } = front;
      stages.push(
        ...own.map((stage) => (sending.length > 1 ? { ...stage, name: `${phase.name}, ${stage.name}` } : stage)),
      );
    }
    done.push({ ...choiceOf(phase, front, times, policy), phase, front });
  }
  const schedule = scheduleOf(topology, collective, routes, done);
  if (done.length === 0) return { schedule, policy: "nothing to send", trials: 0 };
  const costOfPoint = (point: SyncPoint): number => costOf(costs, point.steps, roundsIn(point));
  // where routes differ, what is fastest on them need not cost least in whole rounds
  const isProved = ({ front, point }: (typeof done)[number]): boolean =>
    policy === "latency"
      ? point.proved
      : front.complete && (policy !== null || front.points.every((other) => costOfPoint(point) <= costOfPoint(other)));
  return {
    schedule,
    policy: wordsOf(done.map(({ point }) => pointWords(point))),
    trials: stages.filter(({ status }) => status !== "skipped").length,
    solver: {
      proved: done.every(isProved),
      model: `steps of whole rounds, ${toUs(costs.betaPs).toFixed(3)} us each (k-synchronous)${thenWords(done)}`,
      stages,
    },
    notes: done.map(
      ({ phase, front }) =>
        `${phase.name}: ${front.points.map(pointWords).join(", ")}; at least ${count(front.leastRounds, "round")} in any steps`,
    ),
    ...(deadline.struck() || stages.some(({ status }) => status === "limit") ? { deterministic: false } : {}),
  };
}

const wordsOf = (phases: readonly string[]): string => [...new Set(phases)].join("; ");

/** An all-reduce is proved half by half only: all NPUs may send all that they have at once, in fewer steps. */
const thenWords = (done: readonly { readonly phase: SyncPhase }[]): string =>
  done.length < 2 ? "" : `, ${done.map(({ phase }) => phase.name).join(" and then ")}`;

/**
 * Returns the number of chunks per NPU for which the fewest steps and the fewest rounds that cuts allow would cost least
 * together (PPoPP 2021 goes through numbers of chunks alike); few enough that programs stay small.
 */
async function ownChunks(request: SynthesisRequest): Promise<number> {
  const { topology, collective } = request;
  if (collective.kind === "custom") return 1;
  const sets = likelySets(topology);
  let best = 1;
  let bestPs = Number.POSITIVE_INFINITY;
  for (let chunks = 1; chunks <= MOST_OWN_CHUNKS; chunks++) {
    const cut = withChunks(collective, chunks);
    if (chunks > 1 && pairsOf(topology, cut) > MOST_OWN_PAIRS) break;
    const { times, phases } = taskOf({ ...request, collective: cut });
    const costs = costsOf(times);
    const ps = phases.reduce(
      (sum, phase) =>
        sum + costOf(costs, phase.leastSteps, Math.max(phase.leastSteps, leastRounds(phase.problem, sets))),
      0,
    );
    if (ps < WORTH_MORE * bestPs) [best, bestPs] = [chunks, ps];
  }
  return best;
}

/** Steps and rounds of k-synchronous schedules by integer programs (Cai et al., PPoPP 2021): a baseline for small networks. */
export const sccl: Synthesizer = {
  name: "sccl",
  makes: "steps",
  description:
    "fewest steps and fewest rounds of k-synchronous schedules, by integer programs (small networks; baseline)",
  collectives: [...COLLECTIVE_KINDS, "custom"],
  policies: ["latency", "bandwidth"],
  options: ["switchDegree", "timeLimitMs"],
  traits: { solves: true },
  plans: true,
  refuses,
  ownChunks,
  synthesize,
};

/** A phase of a collective, with its problem in the direction in which it is solved. */
interface SyncPhase extends Phase {
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
const syncPhases = (topology: Topology, routes: RouteSet, collective: Collective): SyncPhase[] =>
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
function scheduleOf(
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

/** Transfers of chunks, as columns; rows with equal route, start and end are one merged send. */
interface TimedSends {
  readonly chunk: readonly number[];
  readonly route: readonly number[];
  readonly startPs: readonly number[];
  readonly endPs: readonly number[];
  /** When the last step ends. */
  readonly ps: number;
}

/** One message: chunks on one route. */
interface Message {
  readonly route: number;
  readonly chunks: number[];
}

/**
 * Returns when each chunk is sent: a step begins when the one before has ended, the chunks of a route are one message, and
 * messages that share links begin as soon as their shares are free, the longest first. Where nothing is shared a step lasts
 * as long as its longest message. `sends` by steps. O(sends + messages of a step squared where links are shared).
 */
function timedSends(
  { arcs }: Pick<SyncProblem, "arcs">,
  sends: readonly Send[],
  routes: RouteSet,
  times: RouteTimes,
): TimedSends {
  const chunk: number[] = [];
  const route: number[] = [];
  const startPs: number[] = [];
  const endPs: number[] = [];
  let now = 0;
  for (let from = 0; from < sends.length; ) {
    let to = from;
    while (to < sends.length && sends[to]?.step === sends[from]?.step) to++;
    const messages = messagesOf(arcs.routes, sends.slice(from, to), times);
    let end = now;
    for (const { message, start } of placed(messages, routes, times, now)) {
      const stop = start + lengthOf(message, times);
      for (const one of message.chunks) {
        chunk.push(one);
        route.push(message.route);
        startPs.push(start);
        endPs.push(stop);
      }
      end = Math.max(end, stop);
    }
    now = end;
    from = to;
  }
  return { chunk, route, startPs, endPs, ps: now };
}

const lengthOf = ({ route, chunks }: Message, { latencyPs, serialPs }: RouteTimes): number =>
  latencyPs[route] + chunks.length * serialPs[route];

/** Returns the messages of a step: the chunks of an arc go to its routes so that each, in turn, ends as early as it can. */
function messagesOf(routesOf: readonly (readonly number[])[], sends: readonly Send[], times: RouteTimes): Message[] {
  const byRoute = new Map<number, Message>();
  for (const { chunk, arc } of sends) {
    let best: Message | null = null;
    let bestPs = Number.POSITIVE_INFINITY;
    for (const route of routesOf[arc] as readonly number[]) {
      const message = byRoute.get(route) ?? { route, chunks: [] };
      const ps = lengthOf(message, times) + times.serialPs[route];
      if (ps < bestPs) [best, bestPs] = [message, ps];
    }
    const { route, chunks } = best as Message;
    chunks.push(chunk);
    byRoute.set(route, best as Message);
  }
  return [...byRoute.values()];
}

/** Returns the messages with their starts, from `now` on. */
function placed(messages: readonly Message[], routes: RouteSet, times: RouteTimes, now: number) {
  const { linkOffset, links, shareNum, shareDen } = routes;
  const waiting = [...messages].sort((a, b) => lengthOf(b, times) - lengthOf(a, times) || a.route - b.route);
  const inUse = new Map<number, Rational>();
  const change = (route: number, by: typeof add): void => {
    for (let i = linkOffset[route]; i < linkOffset[route + 1]; i++) {
      const used = inUse.get(links[i]) ?? rational(0);
      inUse.set(links[i], by(used, rational(shareNum[i], shareDen[i])));
    }
  };
  const isFree = (route: number): boolean => {
    for (let i = linkOffset[route]; i < linkOffset[route + 1]; i++) {
      const used = inUse.get(links[i]);
      if (used !== undefined && compare(add(used, rational(shareNum[i], shareDen[i])), rational(1)) > 0) return false;
    }
    return true;
  };
  const starts: { readonly message: Message; readonly start: number }[] = [];
  let running: { readonly route: number; readonly end: number }[] = [];
  let at = now;
  for (let left = waiting; left.length > 0; ) {
    left = left.filter((message) => {
      if (!isFree(message.route)) return true;
      change(message.route, add);
      running.push({ route: message.route, end: at + lengthOf(message, times) });
      starts.push({ message, start: at });
      return false;
    });
    if (left.length === 0) break;
    at = running.reduce((least, { end }) => Math.min(least, end), Number.POSITIVE_INFINITY);
    for (const { route, end } of running) if (end === at) change(route, subtract);
    running = running.filter(({ end }) => end > at);
  }
  return starts;
}
