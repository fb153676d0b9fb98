import { boundOf } from "../../model/bounds/bounds.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { unitedRoutes } from "../../model/joint/joint-schedule.ts";
import { ceil } from "../../model/numbers/rational.ts";
import { toUs } from "../../model/numbers/units.ts";
import { type RouteSet, routeCount, routeTimes } from "../../model/routes/routes.ts";
import { stepsOf } from "../../model/steps/schedule.ts";
import { makespanPs, OP_REDUCE } from "../../model/steps/step-schedule.ts";
import type { HalvesFacts } from "../solver-facts.ts";
import type { SynthesisContext, SynthesisRequest } from "../synthesizer.ts";
import { mirrorsPhase } from "../tacos/mirror.ts";
import { phasesOf } from "../tacos/network.ts";
import { synthesizeListed } from "../tacos/tacos.ts";
import { MOST_TRANSFERS } from "./facts.ts";
import { endOfMoves, type Move } from "./found-rows.ts";
import { shortenedOrCompleted } from "./partial.ts";
import { type FlowProblem, flowsOf, isReversible, oppositeRoutes, resourcesOf } from "./problem.ts";
import type { Trying } from "./search.ts";
import type { Stages } from "./stages.ts";

/**
 * All-reduces that are a reduce-scatter followed by an all-gather (TACOS 2023, section VII-A): every chunk is summed at the NPU
 * whose block it is of, and no copy leaves before all sums are there. The shortest is the shortest of each half one after the
 * other, and programs describe all schedules of a half, so it can be proved, where that of all all-reduces cannot. Where the
 * network equals its reverse a reduce-scatter is an all-gather backwards in time: one half stands for both.
 */
export interface Halves {
  readonly facts: Omit<HalvesFacts, "met">;
  readonly leastPs: number;
  /** The shortest known one, in order of start, picoseconds; over the routes asked for. */
  readonly moves: readonly Move[];
  /** What found it; null where it is that of the matching. */
  readonly how: string | null;
}

/** What the programs of halves are over. */
export interface HalvesScope {
  readonly routes: RouteSet;
  /** Length of a slot; null: exact times where these are few. */
  readonly slotPs: number | null;
  readonly trying: Trying;
}

/** Stages of programs of whole schedules, and of partial ones. */
type BothStages = readonly [Stages, Stages];

interface Half {
  readonly leastPs: number;
  readonly endPs: number;
  readonly moves: readonly Move[];
  readonly how: string | null;
}

/**
 * Returns what is known of those over these routes; null for other collectives, and where the matching takes other routes.
 * `stages` solves programs; null: the matching and the bounds say what they can.
 */
export async function halvesOf(
  request: SynthesisRequest,
  context: SynthesisContext,
  scope: HalvesScope,
  stages: BothStages | null,
): Promise<Halves | null> {
  const { topology, collective } = request;
  if (collective.kind !== "allreduce") return null;
  const [first, second] = phasesOf(collective);
  const owners = second.collective.pre;
  const halfOf = (half: Collective, name: string): Promise<Half | null> =>
    solvedHalf({ ...request, collective: half, policy: null }, context, scope, named(stages, name));
  const gather = await halfOf(second.collective, "all-gather");
  if (gather === null) return null;
  const scattered: Collective = { ...collective, kind: "reducescatter", post: owners };
  const backwards = mirrorsPhase(first, second)
    ? inMirror(problemOf(topology.npuCount, scope.routes, second.collective, request), gather)
    : null;
  const scatter = backwards ?? (await halfOf(scattered, "reduce-scatter"));
  if (scatter === null) return null;
  const leastPs = scatter.leastPs + gather.leastPs;
  const later = gather.moves.map((move): Move => ({ ...move, start: scatter.endPs + move.start }));
  return {
    facts: { leastUs: toUs(leastPs), us: toUs(scatter.endPs + gather.endPs) },
    leastPs,
    moves: [...scatter.moves, ...later],
    how: gather.how ?? scatter.how,
  };
}

const problemOf = (
  npuCount: number,
  routes: RouteSet,
  collective: Collective,
  { topology }: SynthesisRequest,
): FlowProblem => ({
  npuCount,
  routes,
  durations: [routeTimes(topology, routes, collective.chunkBytes).slotPs],
  flows: flowsOf(collective),
});

/** Returns stages of a half of this name. */
const named = (stages: BothStages | null, half: string): BothStages | null => {
  const of = (one: Stages): Stages => ({
    ...one,
    solve: (name, ...rest) => one.solve(`${half} ${name}`, ...rest),
    build: (name, make) => one.build(`${half} ${name}`, make),
  });
  return stages === null ? null : [of(stages[0]), of(stages[1])];
};

/** Returns the shortest schedule of a half that matching and programs find, and what is proved; null where it takes other routes. */
async function solvedHalf(
  request: SynthesisRequest,
  context: SynthesisContext,
  { routes, slotPs, trying }: HalvesScope,
  stages: BothStages | null,
): Promise<Half | null> {
  const { topology, collective } = request;
  const matched = stepsOf((await synthesizeListed(request, context)).schedule);
  const { routes: all, places } = unitedRoutes([routes, matched.routes]);
  if (routeCount(all) > routeCount(routes)) return null;
  const endPs = makespanPs(matched);
  const times = routeTimes(topology, routes, collective.chunkBytes);
  const lowPs = Number(ceil(boundOf(topology, collective, routes, times).ps));
  const moves = Array.from(matched.chunk, (flow, i): Move => {
    return {
      flow,
      route: places[1][matched.route[i]],
      start: matched.startPs[i],
      reduces: matched.op[i] === OP_REDUCE,
    };
  });
  const known: Half = { leastPs: lowPs, endPs, moves, how: null };
  if (endPs <= lowPs || stages === null || moves.length > MOST_TRANSFERS) return known;
  const flows = flowsOf(collective);
  const durations = [times.slotPs];
  const asProgram = { topology, routes, durations, slotPs, flows, lowPs, highPs: endPs, trying };
  const found = await shortenedOrCompleted(asProgram, collective, stages);
  const leastPs = Math.max(lowPs, found.proof?.ps ?? 0);
  if (found.moves === null) return { ...known, leastPs };
  const problem = { npuCount: topology.npuCount, routes, durations, flows };
  return { leastPs, endPs: endOfMoves(problem, found.moves), moves: found.moves, how: found.how };
}

/** Returns the reduce-scatter that an all-gather is backwards in time; null where the network is not its own reverse. */
function inMirror(problem: FlowProblem, { moves, ...gather }: Half): Half | null {
  const opposite = oppositeRoutes(problem);
  if (!isReversible(opposite, resourcesOf(problem.routes).resources)) return null;
  const backwards = moves.map(({ flow, route, start }): Move => {
    return { flow, route: opposite[route], start: gather.endPs - start - problem.durations[0][route], reduces: true };
  });
  return { ...gather, moves: backwards.sort((a, b) => a.start - b.start || a.route - b.route || a.flow - b.flow) };
}
