import type { MatchProblem, RelayProblem } from "../../engine/kernels/kernels.ts";
import { boundOf } from "../../model/bounds.ts";
import { COLLECTIVE_KINDS, type Collective } from "../../model/collective.ts";
import { ceil } from "../../model/rational.ts";
import { type RouteSet, type RouteTimes, reversedRoutes, routeTimes } from "../../model/routes.ts";
import { portRouteCount, routesOf, type SwitchDegree } from "../../model/routing.ts";
import { reversed, switchCount, type Topology } from "../../model/topology.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest, Synthesizer } from "../synthesizer.ts";
import { assemble, endOf, type PhaseTransfers, pruned } from "./assemble.ts";
import {
  everyoneWantsAll,
  holdingsOf,
  type RelayMode,
  spreadsAmongMembers,
  wantedBits,
  wantedWithPaths,
} from "./demand.ts";
import { allTimes, serviceOrder } from "./distances.ts";
import { tenNetwork } from "./network.ts";
import { overlapped } from "./overlap.ts";
import { type Phase, phasesOf } from "./phases.ts";
import {
  checkPolicy,
  defaultTrials,
  MULTICAST_POLICIES,
  multicastTrial,
  RELAY_POLICIES,
  unicastTrial,
} from "./trials.ts";

/** Above so many routes through switches, ports are not tried unless asked for. */
const MOST_PORT_ROUTES = 65_536;

/** A set of routes that a phase may use, in the direction of synthesis (`routes`) and in true direction (`trueRoutes`). */
interface Network {
  readonly trueRoutes: RouteSet;
  readonly routes: RouteSet;
  readonly times: RouteTimes;
  readonly label: string;
}

/** One trial's outcome. */
interface Outcome {
  readonly transfers: PhaseTransfers;
  readonly endPs: number;
  readonly label: string;
}

/** A trial ready to run. */
type Attempt = () => Promise<Outcome>;

/** Returns the degrees of unwinding worth trying: ports first, then a ring, then all pairs for short messages. */
function degreesToTry(topology: Topology, wanted: SwitchDegree | null): readonly SwitchDegree[] {
  if (wanted !== null || switchCount(topology) === 0) return [wanted ?? 1];
  return portRouteCount(topology) <= MOST_PORT_ROUTES ? ["ports", 1] : [1];
}

/** Returns the route sets of a phase; reversed ones for a phase that is synthesized on the reversed topology. */
function networksOf(
  topology: Topology,
  collective: Collective,
  phase: Phase,
  degrees: readonly SwitchDegree[],
): Network[] {
  return degrees.map((degree) => {
    const trueRoutes = routesCached(topology, degree);
    const routes = phase.reversed ? reversedRoutes(trueRoutes) : trueRoutes;
    const label = switchCount(topology) === 0 ? "" : degree === "ports" ? "ports" : `degree ${degree}`;
    return { trueRoutes, routes, times: routeTimes(topology, trueRoutes, collective.chunkBytes), label };
  });
}

/** Both phases of an all-reduce must see the same route set object, so that it is stored once. */
const routeCache = new WeakMap<Topology, Map<SwitchDegree, RouteSet>>();

function routesCached(topology: Topology, degree: SwitchDegree): RouteSet {
  let byDegree = routeCache.get(topology);
  if (byDegree === undefined) {
    byDegree = new Map();
    routeCache.set(topology, byDegree);
  }
  let routes = byDegree.get(degree);
  if (routes === undefined) {
    routes = routesOf(topology, degree);
    byDegree.set(degree, routes);
  }
  return routes;
}

/** Returns the attempt for trial k of a phase whose chunks may go to many NPUs. */
function multicastAttempts(
  phase: Phase,
  networks: readonly Network[],
  request: SynthesisRequest,
  context: SynthesisContext,
) {
  const { collective } = phase;
  const npus = request.topology.npuCount;
  const all = everyoneWantsAll(collective, npus);
  const members = all ? null : wantedBits(collective, npus);
  const held = holdingsOf(collective, npus);
  const oneSource = held.offset.some((end, v) => v > 0 && end - held.offset[v - 1] === held.chunk.length);
  const variants = networks.flatMap((network) => {
    const modes: RelayMode[] = all
      ? ["members"]
      : [...(spreadsAmongMembers(collective, network.routes, npus) ? (["members"] as const) : []), "paths", "all"];
    const ten = tenNetwork(request.topology, network.routes, network.times);
    return modes.map((mode) => ({ network, mode, ten }));
  });
  const wantedOf = (variant: (typeof variants)[number]): Uint32Array | null => {
    if (members === null || variant.mode === "all") return null;
    if (variant.mode === "members") return members;
    return wantedWithPaths(collective, variant.network.routes, variant.network.times.slotPs, npus);
  };
  const wanted = variants.map(() => undefined as Uint32Array | null | undefined);
  return (k: number): Attempt => {
    const heterogeneousVariant = variants[k % variants.length] as (typeof variants)[number];
    const slots = heterogeneousVariant.network.times.slotPs;
    const trial = multicastTrial(k, {
      seed: request.seed,
      wanted: request.policy,
      variants: variants.length,
      chunkCount: collective.chunkCount,
      oneSource,
      heterogeneous: slots.some((slot) => slot !== slots[0]),
    });
    const variant = variants[trial.variant] as (typeof variants)[number];
    return async () => {
      if (wanted[trial.variant] === undefined) wanted[trial.variant] = wantedOf(variant);
      const problem: MatchProblem = {
        network: variant.ten,
        chunkCount: collective.chunkCount,
        heldOffset: held.offset,
        heldChunk: held.chunk,
        wanted: wanted[trial.variant] as Uint32Array | null,
        policy: trial.policy,
      };
      const found = await context.runner.match(problem);
      const { network, mode } = variant;
      const kept = members === null ? found : pruned(found, network.routes, members, collective.chunkCount);
      const labels = [trial.name, network.label, mode === "members" ? "" : `relays: ${mode}`];
      return outcome(phase, network, kept, labels);
    };
  };
}

/** Returns the attempt for trial k of a phase in which every chunk has one source and one target. */
function unicastAttempts(
  phase: Phase,
  networks: readonly Network[],
  request: SynthesisRequest,
  context: SynthesisContext,
) {
  const { collective } = phase;
  const npus = request.topology.npuCount;
  const single = (placement: Collective["pre"]): Int32Array => (placement as { npu: Int32Array }).npu;
  const source = single(collective.pre);
  const target = single(collective.post);
  const bothWays = collective.kind === "custom" && !phase.reversed && !isFan(source) && !isFan(target);
  const variants = networks.flatMap((network) =>
    (bothWays ? [false, true] : [false]).map((turned) => ({ network, turned })),
  );
  const prepared = variants.map(
    () => null as null | { problem: Omit<RelayProblem, "order" | "seed">; demand: Float64Array },
  );
  const orders = new Map<string, Int32Array>();
  const prepare = (index: number) => {
    const { network, turned } = variants[index] as (typeof variants)[number];
    const routes = turned ? reversedRoutes(network.routes) : network.routes;
    const { timePs: distancePs, hops } = allTimes(routes, network.times.slotPs, npus);
    const [from, to] = turned ? [target, source] : [source, target];
    const demand = new Float64Array(npus * npus);
    let maxTransfers = from.length;
    for (let c = 0; c < from.length; c++) {
      demand[from[c] * npus + to[c]]++;
      maxTransfers += hops[from[c] * npus + to[c]];
    }
    const network_ = tenNetwork(request.topology, routes, network.times);
    return { problem: { network: network_, chunkSource: from, chunkTarget: to, distancePs, maxTransfers }, demand };
  };
  return (k: number): Attempt => {
    const trial = unicastTrial(k, request.seed, request.policy, variants.length);
    return async () => {
      const { network, turned } = variants[trial.variant] as (typeof variants)[number];
      const routes = turned ? reversedRoutes(network.routes) : network.routes;
      prepared[trial.variant] ??= prepare(trial.variant);
      const { problem, demand } = prepared[trial.variant] as ReturnType<typeof prepare>;
      const key = `${trial.variant}:${trial.order}`;
      let order = orders.get(key);
      if (order === undefined) {
        order = serviceOrder(trial.order, routes, network.times.slotPs, problem.distancePs, demand);
        orders.set(key, order);
      }
      let room = problem.maxTransfers;
      let found = await context.runner.relay({ ...problem, order, seed: trial.seed });
      while (found === null) {
        room *= 2;
        found = await context.runner.relay({ ...problem, maxTransfers: room, order, seed: trial.seed });
      }
      const labels = [trial.name, network.label, turned ? "time-reversed" : ""];
      return outcome(phase, network, turned ? turnedBack(found, network.times.slotPs) : found, labels);
    };
  };
}

/** Returns whether all chunks meet in one NPU. */
const isFan = (npus: Int32Array): boolean => npus.every((npu) => npu === npus[0]);

/** Returns the transfers of the reversed network run backwards in time, in order of their ends. */
function turnedBack(found: { chunk: Int32Array; route: Int32Array; startPs: Float64Array }, slotPs: Float64Array) {
  const end = endOf({ ...found, slotPs });
  const count = found.chunk.length;
  const startPs = new Float64Array(count);
  for (let i = 0; i < count; i++) startPs[i] = end - found.startPs[i] - slotPs[found.route[i]];
  return { chunk: found.chunk, route: found.route, startPs };
}

function outcome(
  phase: Phase,
  network: Network,
  found: { readonly chunk: Int32Array; readonly route: Int32Array; readonly startPs: Float64Array },
  labels: readonly string[],
): Outcome {
  const transfers: PhaseTransfers = {
    ...found,
    slotPs: network.times.slotPs,
    routes: network.trueRoutes,
    reversed: phase.reversed,
    reduces: phase.reduces,
  };
  return { transfers, endPs: endOf(transfers), label: labels.filter((label) => label !== "").join(", ") };
}

/**
 * Returns the best of the trials: the first that reaches `targetPs`, else the shortest, else the earliest among equals.
 * Runs `width` trials at a time and discards what lies behind the first hit, so the answer does not depend on `width`.
 */
async function bestOf(
  attempt: (k: number) => Attempt,
  trials: (first: Outcome) => number,
  targetPs: number,
  width: number,
  progress: (done: number, total: number) => void,
): Promise<{ best: Outcome; ran: number }> {
  let best = await attempt(0)();
  const total = trials(best);
  let ran = 1;
  progress(ran, total);
  while (best.endPs > targetPs && ran < total) {
    const wave = Math.min(width, total - ran);
    const outcomes = await Promise.all(Array.from({ length: wave }, (_, i) => attempt(ran + i)()));
    for (const next of outcomes) {
      ran++;
      if (next.endPs < best.endPs) best = next;
      if (best.endPs <= targetPs) break;
    }
    progress(ran, total);
  }
  return { best, ran };
}

async function synthesize(request: SynthesisRequest, context: SynthesisContext): Promise<Synthesis> {
  const { topology, collective } = request;
  const phases = phasesOf(collective);
  checkPolicy(request.policy, phases);
  const degrees = degreesToTry(topology, request.switchDegree);
  const done: PhaseTransfers[] = [];
  const labels: string[] = [];
  let trials = 0;
  for (const phase of phases) {
    const networks = networksOf(topology, collective, phase, degrees);
    const phaseTopology = phase.reversed ? reversed(topology) : topology;
    const attempts = (phase.unicast ? unicastAttempts : multicastAttempts)(phase, networks, request, context);
    let target = Number.POSITIVE_INFINITY;
    for (const { routes, times } of networks) {
      target = Math.min(target, Number(ceil(boundOf(phaseTopology, phase.collective, routes, times).ps)));
    }
    const { best, ran } = await bestOf(
      attempts,
      (first) => request.trials ?? defaultTrials(first.transfers.chunk.length),
      target,
      context.runner.width,
      (count, total) => context.onProgress?.({ phase: phase.name, done: count, total }),
    );
    trials += ran;
    done.push(best.transfers);
    labels.push(best.label);
  }
  const schedule = assemble(topology, collective, done);
  const policy = labels.every((label) => label === labels[0]) ? (labels[0] as string) : labels.join("; ");
  if (done.length === 1) return { schedule, policy, trials };
  return overlap({ schedule, policy, trials }, request, context);
}

/** Lets the phases of an all-reduce overlap where that is shorter. */
async function overlap(found: Synthesis, request: SynthesisRequest, context: SynthesisContext): Promise<Synthesis> {
  const { topology, collective, routes } = found.schedule;
  const times = routeTimes(topology, routes, collective.chunkBytes);
  const targetPs = Number(ceil(boundOf(topology, collective, routes, times).ps));
  const { schedule, tries, how } = await overlapped(found.schedule, tenNetwork(topology, routes, times), {
    targetPs,
    seed: request.seed,
    trials: request.trials,
    runner: context.runner,
    progress: (done, total) => context.onProgress?.({ phase: "overlap", done, total }),
  });
  const policy = how === null ? found.policy : `${found.policy}, halves overlapped (${how})`;
  return { schedule, policy, trials: found.trials + tries };
}

/** TACOS: greedy matching of chunks to links on the time-expanded network (TACOS 2024, Algorithms 1 and 2). */
export const tacos: Synthesizer = {
  name: "tacos",
  description: "greedy matching on the time-expanded network, best of several seeded trials",
  collectives: [...COLLECTIVE_KINDS, "custom"],
  policies: [...MULTICAST_POLICIES, ...RELAY_POLICIES],
  synthesize,
};
