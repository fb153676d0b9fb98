import { InputError } from "../../base/errors.ts";
import { COLLECTIVE_KINDS, type Collective, withChunks } from "../../model/collective/collective.ts";
import { toUs } from "../../model/numbers/units.ts";
import { type RouteSet, type RouteTimes, routeTimes } from "../../model/routes/routes.ts";
import { portRouteCount, routesOf } from "../../model/routes/routing.ts";
import { isNpu, linkCount, type Topology } from "../../model/topology/topology.ts";
import { deadlineIn, USUAL_SOLVE_MS } from "../deadline.ts";
import type { SolverStage } from "../solver-facts.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest, Synthesizer } from "../synthesizer.ts";
import { leastRounds, likelySets } from "./bounds.ts";
import { roundsIn } from "./greedy.ts";
import { type Front, type FrontOptions, paretoFront, type SyncPoint } from "./pareto.ts";
import { type SyncPhase, scheduleOf, syncPhases } from "./phases.ts";
import { problemKey } from "./problem.ts";
import { sendsOf } from "./sends.ts";
import { type TimedSends, timedSends } from "./timing.ts";

/** Pairs of an item and an arc, beyond which plans are not even listed. */
const MOST_PAIRS = 200_000;
/** Also where there are few items: what bounds them goes from NPU to NPU. */
const MOST_NPUS = 256;
/** Chunks per NPU that are tried where the number is not asked for, and how much faster more must look. */
const MOST_OWN_CHUNKS = 8;
const MOST_OWN_PAIRS = 4_000;
const WORTH_MORE = 0.99;

/** Returns how many pairs of an item and an arc a program has, as far as can be told without listing them. O(nodes + links). */
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
  if (refusal !== null) throw new InputError("the topology", refusal, `${topology.name}, ${topology.npuCount} NPUs`);
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
  description:
    "fewest steps and fewest rounds of k-synchronous schedules, by integer programs (small networks; baseline)",
  collectives: [...COLLECTIVE_KINDS, "custom"],
  policies: ["latency", "bandwidth"],
  solves: true,
  heeds: ["switchDegree"],
  plans: true,
  refuses,
  ownChunks,
  synthesize,
};
