import { InfeasibleError, InputError, InternalError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { type Bound, lengthsBound } from "../../model/bounds/witness.ts";
import { type Collective, withChunks } from "../../model/collective/collective.ts";
import { type Traffic, trafficOf } from "../../model/collective/traffic.ts";
import { commonDivisor } from "../../model/numbers/integers.ts";
import { orderByColumns, orderByTime } from "../../model/numbers/ordering.ts";
import { ceil, rational, toNumber } from "../../model/numbers/rational.ts";
import { PS_PER_SECOND } from "../../model/numbers/units.ts";
import { routeTimes, serializationPs } from "../../model/routes/routes.ts";
import { stepsOf } from "../../model/steps/schedule.ts";
import { emptyRows, makespanPs, type StepSchedule } from "../../model/steps/step-schedule.ts";
import { linkCount, nodeCount, outLinks, switchCount, type Topology } from "../../model/topology/topology.ts";
import { leastOf, simulatedPs } from "../fastest.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest, Synthesizer } from "../synthesizer.ts";
import { type AllToAllFlow, allToAllFlow, type FlowOptions, MOST_LP_COLUMNS } from "./flow.ts";
import {
  type Hops,
  hopsOf,
  inStreams,
  type Messages,
  messagesOf,
  type Paths,
  pathsAlong,
  type SourceFlow,
  shortestPaths,
} from "./paths.ts";
import { inOrder, type Timed, type TimingOptions, timed, timedAsReplayed } from "./slots.ts";

/** How far below the optimum flows may be. */
const GAP = 0.005;
/** More chunks must be so much faster. */
const WORTH_MORE = 0.99;
/** Most chunks per NPU, and messages in all, where the number is not asked for. */
const MOST_OWN_CHUNKS = 16;
const MOST_OWN_MESSAGES = 150_000;
/** Schedules of more messages are not made to see how many chunks are best. */
const MOST_TRIED_MESSAGES = 4096;

/** What is to be sent in units of chunks, as flows know it. */
interface Demand {
  /** [npus * npus]; null: one unit from everyone to everyone. */
  readonly matrix: Float64Array | null;
  /** Chunks of one unit. */
  readonly unit: number;
}

function demandOf({ each, fill }: Traffic, npuCount: number): Demand {
  if (each !== null) return { matrix: null, unit: each };
  const matrix = new Float64Array(npuCount * npuCount);
  for (let npu = 0; npu < npuCount; npu++) fill(npu, matrix.subarray(npu * npuCount, (npu + 1) * npuCount));
  const unit = commonDivisor(matrix);
  return { matrix: matrix.map((chunks) => chunks / unit), unit };
}

const known = new WeakMap<Topology, AllToAllFlow>();

/** Returns the flow of a demand; that of everyone to everyone is found once for a network, whatever the number of chunks. */
async function flowFor(
  topology: Topology,
  { matrix }: Demand,
  { runner, lp }: Pick<SynthesisContext, "runner" | "lp">,
  options: FlowOptions = {},
): Promise<AllToAllFlow> {
  const before = matrix === null ? known.get(topology) : undefined;
  if (before !== undefined) return before;
  const solver = lp !== undefined && linkCount(topology) <= MOST_LP_COLUMNS ? await lp() : null;
  const flow = await allToAllFlow(topology, matrix, GAP, runner, solver, options);
  if (matrix === null) known.set(topology, flow);
  return flow;
}

/** Returns the bound that a flow's lengths prove of the collective. */
const boundBy = ({ lengths, bound }: AllToAllFlow, { unit }: Demand, { chunkBytes: { num, den } }: Collective): Bound =>
  lengthsBound(lengths, bound, rational(num * BigInt(unit), den));

/** Returns the bound that the flow of a collective with this traffic proves; null where nothing is sent. Throws as allToAllFlow does. */
export async function flowBound(
  topology: Topology,
  collective: Collective,
  traffic: Traffic,
  context: Pick<SynthesisContext, "runner" | "lp">,
  options: FlowOptions = {},
): Promise<Bound | null> {
  const demand = demandOf(traffic, topology.npuCount);
  if (demand.unit === 0) return null;
  return boundBy(await flowFor(topology, demand, context, options), demand, collective);
}

interface Task {
  readonly messages: Messages;
  readonly demand: Demand;
  /** null: there is nothing to send. */
  readonly flow: AllToAllFlow | null;
}

async function taskOf(request: SynthesisRequest, context: SynthesisContext): Promise<Task> {
  const { topology, collective, switchDegree } = request;
  if (switchDegree !== null && switchDegree !== "ports")
    throw new InputError(optionName("switchDegree"), '"ports", for flows share the ports of switches,', switchDegree);
  const messages = messagesOf(collective, topology.npuCount);
  const traffic = trafficOf(collective, topology.npuCount);
  if (traffic === null) throw new InternalError("messages without traffic");
  const demand = demandOf(traffic, topology.npuCount);
  const flow = messages.chunk.length === 0 ? null : await flowFor(topology, demand, context);
  return { messages, demand, flow };
}

async function synthesize(request: SynthesisRequest, context: SynthesisContext): Promise<Synthesis> {
  const { topology, collective, seed, trials } = request;
  const { messages, demand, flow } = await taskOf(request, context);
  const nowhere = new Float64Array(linkCount(topology));
  const flowOf = (source: number): Float64Array => flow?.flow(source).map((units) => units * demand.unit) ?? nowhere;
  const { schedule, fractionPs, busiestPs, tries } = await unicastSchedule(topology, collective, messages, flowOf, {
    seed,
    trials,
    runner: context.runner,
    progress: (done, total) => context.onProgress?.({ phase: "slots", done, total }),
  });
  if (flow === null) return { schedule, policy: "nothing to send", trials: 0 };
  const rounded = (busiestPs / fractionPs).toFixed(3);
  return {
    schedule,
    policy: `${flow.method}; whole chunks ${rounded} of the flow's busiest link`,
    trials: tries,
    limit: boundBy(flow, demand, collective),
  };
}

/**
 * Returns the number of chunks per NPU for which the time is least as far as the busiest link tells: so many whole chunks as
 * the flow has for it and one more, each with its latency. Of few messages through switches schedules tell, for half and twice
 * as many chunks as well: 7 NPUs on 3 uneven switches 0.936 of the limit with 8, 0.994 with 16.
 */
async function ownChunks(request: SynthesisRequest, context: SynthesisContext): Promise<number> {
  const { topology, collective } = request;
  const { messages, flow } = await taskOf(request, context);
  if (flow === null || collective.kind === "custom") return 1;
  const { linkBytesPerSecond, linkLatencyPs } = topology;
  const total = new Float64Array(linkCount(topology));
  for (let source = 0; source < topology.npuCount; source++) {
    if (messages.bySource[source] === messages.bySource[source + 1]) continue;
    const sent = flow.flow(source);
    for (let link = 0; link < total.length; link++) total[link] += sent[link];
  }
  const bytes = toNumber(collective.chunkBytes);
  const timeOf = (chunks: number): number =>
    total.reduce((most, units, link) => {
      const slotPs = linkLatencyPs[link] + ((bytes / chunks) * PS_PER_SECOND) / linkBytesPerSecond[link];
      return Math.max(most, units === 0 ? 0 : (units * chunks + 1) * slotPs);
    }, 0);
  let best = 1;
  for (let chunks = 2; chunks <= MOST_OWN_CHUNKS && messages.chunk.length * chunks <= MOST_OWN_MESSAGES; chunks *= 2) {
    if (timeOf(chunks) < WORTH_MORE * timeOf(best)) best = chunks;
  }
  if (switchCount(topology) === 0 || messages.chunk.length * best > MOST_TRIED_MESSAGES) return best;
  let leastPs = Number.POSITIVE_INFINITY;
  const tried = [best / 2, best, best * 2].filter((chunks) => chunks >= 1 && chunks <= MOST_OWN_CHUNKS);
  for (const chunks of tried) {
    const { schedule } = await synthesize({ ...request, collective: withChunks(collective, chunks) }, context);
    const endPs = makespanPs(stepsOf(schedule));
    if (endPs < leastPs) [leastPs, best] = [endPs, chunks];
  }
  return best;
}

/** All-to-all(v) along a maximum concurrent flow (Zhao 2026, A.1.5): flows to paths, paths to chunks, chunks to slots. */
export const mcf: Synthesizer = {
  name: "mcf",
  makes: "steps",
  description: "all-to-all(v) along a maximum concurrent flow with a proved bound, one path per chunk",
  collectives: ["alltoall", "custom"],
  policies: [],
  options: ["trials", "switchDegree"],
  traits: { searches: 1 },
  ownChunks,
  synthesize,
};

/**
 * Where a schedule along the flow takes so much longer than its busiest link and the longest way, its paths are too long for so
 * few messages, and shorter ones are tried that fill links for longer, up to that time.
 */
const LONG = 0.02;
const SHORTENINGS = 4;
/** Of more hops there are many on each link, and waiting is not what makes a schedule long. */
const MOST_SHORTENED = 1e6;

/** A schedule of messages on one path each, and what held it up. */
interface Unicast {
  readonly schedule: StepSchedule;
  /** How long the busiest link would be busy if messages could be split as the flow says. */
  readonly fractionPs: number;
  /** How long it is busy with whole messages. */
  readonly busiestPs: number;
  readonly tries: number;
}

/**
 * Returns the schedule of messages along a flow: paths, then balanced loads, then times. Throws InfeasibleError for a message
 * that cannot reach its target.
 */
export async function unicastSchedule(
  topology: Topology,
  collective: Collective,
  messages: Messages,
  flowOf: SourceFlow,
  options: TimingOptions,
): Promise<Unicast> {
  const { paths: along, total } = pathsAlong(topology, messages, flowOf, options.seed);
  const planBy = (kept: Kept) => planned({ topology, collective, messages, along, total, kept, options });
  const first = await planBy("with latency");
  const made = ({ plan, fractionPs }: Planned) => ({
    schedule: scheduleOf(topology, collective, messages, plan),
    fractionPs,
    busiestPs: plan.busiestPs,
  });
  const found = { ...made(first), tries: first.tries };
  if (first.plan.hops.route.length > MOST_REPLAYED || topology.linkLatencyPs.every((ps) => ps === 0)) return found;
  const leastPs = busiestOfFlow(total, linkCosts(topology, collective, "for the bytes"));
  const foundPs = simulatedPs(found.schedule);
  if (foundPs <= leastPs * (1 + LONG)) return found;
  const second = await planBy("for the bytes");
  const others = [second, ...[first, second].map((one) => asReplayed(topology, collective, one, options))];
  const tries = others.reduce((sum, one) => sum + one.tries, found.tries);
  const all = [{ one: made(first), ps: foundPs }];
  for (const one of others.map(made)) all.push({ one, ps: simulatedPs(one.schedule) });
  return { ...leastOf(all, ({ ps }) => ps).one, tries };
}

/**
 * For how long a chunk keeps a link: as planned times say, or as the replay does. Many small chunks are balanced and ordered
 * better by the second.
 */
type Kept = "with latency" | "for the bytes";

/** Schedules of more hops are not replayed to see how near they come. */
const MOST_REPLAYED = 2e5;

interface Planning {
  readonly topology: Topology;
  readonly collective: Collective;
  readonly messages: Messages;
  readonly along: Paths;
  /** [links] messages of the flow. */
  readonly total: Float64Array;
  readonly kept: Kept;
  readonly options: TimingOptions;
}

interface Planned {
  readonly plan: Plan;
  readonly fractionPs: number;
  readonly tries: number;
}

/** Returns a plan with its hops in the order that is best where latency delays them but holds no links. */
function asReplayed(
  topology: Topology,
  { chunkBytes }: Collective,
  { plan, fractionPs }: Planned,
  options: TimingOptions,
): Planned {
  const { hops } = plan;
  const found = timedAsReplayed(topology, hops, routeTimes(topology, hops.routes, chunkBytes), options);
  return { plan: { ...plan, found }, fractionPs, tries: found.tries };
}

const busiestOfFlow = (total: Float64Array, costPs: Float64Array): number =>
  total.reduce((most, units, link) => Math.max(most, units * costPs[link]), 0);

/** Returns messages on balanced paths in time, links being kept as said, and how long the flow keeps the busiest. */
async function planned({ topology, collective, messages, along, total, kept, options }: Planning): Promise<Planned> {
  const costPs = linkCosts(topology, collective, kept);
  const fractionPs = busiestOfFlow(total, costPs);
  const planOn = async (paths: Paths, targetPs: number): Promise<Plan> => {
    const busiestPs = balanced(topology, messages, paths, costPs, targetPs);
    return { busiestPs, ...(await timedAlong(topology, collective, paths, kept, options)) };
  };
  const shortest = shortestPaths(topology, messages, costPs);
  const leastWayPs = longestOf(shortest, costPs);
  // Where the shortest ways are as good as any, nothing is relayed for the sake of a flow that is one of many.
  const suffices = busiestOf(shortest, costPs) <= fractionPs * (1 + TOLERANCE);
  let best = await planOn(suffices ? shortest.slice() : along.slice(), fractionPs);
  let { tries } = best.found;
  const leastPs = Math.max(fractionPs, leastWayPs);
  const firstPs = best.found.endPs;
  const isLong = (): boolean => best.found.endPs > Math.max(best.busiestPs, leastWayPs) * (1 + LONG);
  const mayShorten = !suffices && best.hops.route.length <= MOST_SHORTENED;
  for (let k = 1; k <= SHORTENINGS && mayShorten && isLong(); k++) {
    const other = await planOn(shortest.slice(), leastPs + ((firstPs - leastPs) * k) / SHORTENINGS);
    tries += other.found.tries;
    if (other.found.endPs < best.found.endPs) best = other;
  }
  return { plan: best, fractionPs, tries };
}

/** Messages on their paths, in time. */
interface TimedHops {
  readonly hops: Hops;
  /** [routes] */
  readonly slotPs: Float64Array;
  readonly found: Timed;
}

interface Plan extends TimedHops {
  readonly busiestPs: number;
}

/** Returns when messages go along their paths, from NPU to NPU; through switches also in streams, if that is faster. */
async function timedAlong(
  topology: Topology,
  collective: Collective,
  paths: Paths,
  kept: Kept,
  options: TimingOptions,
): Promise<TimedHops> {
  const inTime = async (hops: Hops): Promise<TimedHops> => {
    const times = routeTimes(topology, hops.routes, collective.chunkBytes);
    const { serialPs, slotPs } = times;
    const found = await timed(
      topology,
      hops,
      kept === "for the bytes" ? { ...times, slotPs: serialPs } : times,
      options,
    );
    return { hops, slotPs, found };
  };
  const hops = hopsOf(topology, paths);
  const whole = await inTime(hops);
  const mayGain = switchCount(topology) > 0 && whole.found.endPs > whole.found.leastPs * (1 + LONG);
  const streams = mayGain ? inStreams(topology, hops) : null;
  const shared = streams === null ? whole : await inTime(streams);
  const better = shared.found.endPs < whole.found.endPs ? shared : whole;
  if (kept === "with latency") return better;
  const times = routeTimes(topology, better.hops.routes, collective.chunkBytes);
  const startPs = inOrder(topology, better.hops, times, better.found.startPs);
  return { ...better, found: { ...better.found, startPs } };
}

/** Returns the schedule of messages on one path each, every NPU on a path handing on what it has whole. */
export async function scheduleAlong(
  topology: Topology,
  collective: Collective,
  messages: Messages,
  paths: Paths,
  options: TimingOptions,
): Promise<StepSchedule> {
  return scheduleOf(
    topology,
    collective,
    messages,
    await timedAlong(topology, collective, paths, "with latency", options),
  );
}

/** Returns how long the longest path takes on free links. */
const longestOf = (paths: Paths, costPs: Float64Array): number =>
  paths.reduce(
    (most, path) =>
      Math.max(
        most,
        path.reduce((sum, link) => sum + costPs[link], 0),
      ),
    0,
  );

/** Returns how long a chunk keeps each link busy, [links]. */
function linkCosts(
  { linkBytesPerSecond, linkLatencyPs }: Topology,
  { chunkBytes }: Collective,
  kept: Kept,
): Float64Array {
  const known = new Map<number, number>();
  return linkBytesPerSecond.map((rate, link) => {
    let ps = known.get(rate);
    if (ps === undefined) {
      ps = Number(ceil(serializationPs(chunkBytes, rate)));
      known.set(rate, ps);
    }
    return kept === "with latency" ? ps + linkLatencyPs[link] : ps;
  });
}

/** Returns the hops as a schedule: rows ascend by (start, route, chunk). */
function scheduleOf(
  topology: Topology,
  collective: Collective,
  messages: Messages,
  { hops: { routes, message, route }, slotPs, found: { startPs } }: TimedHops,
): StepSchedule {
  const chunk = message.map((m) => messages.chunk[m]);
  const byRoute = orderByColumns([chunk, route]);
  const startBy = new Float64Array(byRoute.length);
  for (let k = 0; k < byRoute.length; k++) startBy[k] = startPs[byRoute[k]];
  const order = orderByTime(startBy);
  const schedule = emptyRows(topology, collective, routes, order.length);
  for (let row = 0; row < order.length; row++) {
    const i = byRoute[order[row]];
    schedule.chunk[row] = chunk[i];
    schedule.route[row] = route[i];
    schedule.startPs[row] = startBy[order[row]];
    schedule.endPs[row] = schedule.startPs[row] + slotPs[route[i]];
  }
  return schedule;
}

/**
 * Problem: whole messages on one path each, so that the busiest link is busy for as short as possible.
 *
 * Negotiated congestion (McMurchie and Ebeling 1995): a message that takes a link pays costPs * (FLAT + (busy / B)^16 + dues),
 * where busy counts the message itself and B is the time to be reached; a link above B raises its dues round by round. In a
 * round every message on a link above B leaves its path and takes the cheapest one (Dijkstra). The best state seen is the
 * answer. FLAT keeps paths short where links have room; dues let excess wander to where there is room, which prices alone do
 * not: 5-cube, 2 chunks: 33 messages on the busiest link without them, 32 (the mean of all links) with them.
 */

const FLAT = 1e-3;
const DUES = 0.1;
/** A link may be busy for so much longer than the flow asks for: a message more in 200. */
const TOLERANCE = 0.005;
const MOST_ROUNDS = 100;
/** Rounds without a better state. */
const MOST_FRUITLESS = 25;
/** Links looked at by all searches together: some seconds. */
const MOST_STEPS = 1.5e8;

/**
 * Changes `paths` so that no link is busy for more than `targetPs`, or the busiest for as short as was found, and gives a path
 * to messages without; returns how long the busiest is busy. `costPs` [links] is how long one message keeps a link busy.
 * Throws InfeasibleError for a message that cannot reach its target.
 */
export function balanced(
  topology: Topology,
  messages: Messages,
  paths: Paths,
  costPs: Float64Array,
  targetPs: number,
): number {
  const load = new Int32Array(linkCount(topology));
  for (const path of paths) for (const link of path) load[link]++;
  const dues = new Float64Array(load.length);
  const search = pathSearch(topology, costPs, load, dues, targetPs);
  const route = (m: number): void => {
    for (const link of paths[m] as Int32Array) load[link]--;
    const found = search.cheapest(messages.source[m], messages.target[m]);
    for (const link of found) load[link]++;
    paths[m] = found;
  };
  for (let m = 0; m < paths.length; m++) if ((paths[m] as Int32Array).length === 0) route(m);

  const isAbove = (link: number): boolean => load[link] * costPs[link] > targetPs * (1 + TOLERANCE);
  let best = { ...worstOf(load, costPs, isAbove), paths: paths.slice() };
  let fruitless = 0;
  for (let round = 0; round < MOST_ROUNDS && best.above > 0; round++) {
    if (fruitless === MOST_FRUITLESS || search.steps() > MOST_STEPS) break;
    for (let link = 0; link < load.length; link++) if (isAbove(link)) dues[link] += DUES;
    for (let m = 0; m < paths.length; m++) if ((paths[m] as Int32Array).some(isAbove)) route(m);
    const now = worstOf(load, costPs, isAbove);
    const better = now.ps < best.ps || (now.ps === best.ps && now.above < best.above);
    fruitless = better ? 0 : fruitless + 1;
    if (better) best = { ...now, paths: paths.slice() };
  }
  for (let m = 0; m < paths.length; m++) paths[m] = best.paths[m] as Int32Array;
  return best.ps;
}

/** Returns how long the busiest link of these paths is busy. O(path links). */
function busiestOf(paths: Paths, costPs: Float64Array): number {
  const load = new Int32Array(costPs.length);
  for (const path of paths) for (const link of path) load[link]++;
  return worstOf(load, costPs, () => false).ps;
}

/** Returns how long the busiest link is busy, and how many are above the target. */
function worstOf(load: Int32Array, costPs: Float64Array, isAbove: (link: number) => boolean) {
  let ps = 0;
  let above = 0;
  for (let link = 0; link < load.length; link++) {
    if (load[link] * costPs[link] > ps) ps = load[link] * costPs[link];
    if (isAbove(link)) above++;
  }
  return { ps, above };
}

interface PathSearch {
  /** Returns the links of the cheapest path, ties by the order of links. */
  cheapest(source: number, target: number): Int32Array;
  /** Links looked at so far. */
  steps(): number;
}

function pathSearch(
  topology: Topology,
  costPs: Float64Array,
  load: Int32Array,
  dues: Float64Array,
  targetPs: number,
): PathSearch {
  const search = searchState(topology, costPs, load, dues, targetPs);
  return { cheapest: (source: number, target: number) => cheapest(search, source, target), steps: () => search.steps };
}

/** Returns the columns of a search. */
function searchState(topology: Topology, costPs: Float64Array, load: Int32Array, dues: Float64Array, targetPs: number) {
  const { linkTarget, linkSource } = topology;
  const { offset, links } = outLinks(topology);
  const nodes = nodeCount(topology);
  const distance = new Float64Array(nodes);
  const via = new Int32Array(nodes);
  const stamp = new Int32Array(nodes);
  const heapKey = new Float64Array(linkCount(topology) + 1);
  const heapNode = new Int32Array(heapKey.length);
  const perTarget = targetPs > 0 ? 1 / targetPs : 0;
  return {
    load,
    costPs,
    perTarget,
    dues,
    heapKey,
    heapNode,
    distance,
    stamp,
    offset,
    links,
    linkTarget,
    via,
    topology,
    linkSource,
    searches: 0,
    steps: 0,
    size: 0,
  };
}

type SearchState = ReturnType<typeof searchState>;

function price(search: SearchState, link: number): number {
  const { load, costPs, perTarget, dues } = search;
  const x = (load[link] + 1) * costPs[link] * perTarget;
  const x2 = x * x;
  const x4 = x2 * x2;
  const x8 = x4 * x4;
  return costPs[link] * (FLAT + x8 * x8 + dues[link]);
}

function push(search: SearchState, key: number, node: number): void {
  const { heapKey, heapNode } = search;
  let i = search.size++;
  while (i > 0) {
    const up = (i - 1) >> 1;
    if (heapKey[up] <= key) break;
    heapKey[i] = heapKey[up];
    heapNode[i] = heapNode[up];
    i = up;
  }
  heapKey[i] = key;
  heapNode[i] = node;
}

function removeTop(search: SearchState): void {
  const { heapKey, heapNode } = search;
  const key = heapKey[--search.size];
  const node = heapNode[search.size];
  let i = 0;
  for (let child = 1; child < search.size; child = 2 * i + 1) {
    if (child + 1 < search.size && heapKey[child + 1] < heapKey[child]) child++;
    if (heapKey[child] >= key) break;
    heapKey[i] = heapKey[child];
    heapNode[i] = heapNode[child];
    i = child;
  }
  heapKey[i] = key;
  heapNode[i] = node;
}

function cheapest(search: SearchState, source: number, target: number): Int32Array {
  const { distance, stamp, heapNode, heapKey, offset, links, linkTarget, via, topology, linkSource } = search;
  search.searches++;
  search.size = 0;
  distance[source] = 0;
  stamp[source] = search.searches;
  push(search, 0, source);
  while (search.size > 0 && heapNode[0] !== target) {
    const key = heapKey[0];
    const node = heapNode[0];
    removeTop(search);
    if (key > distance[node]) continue;
    search.steps += offset[node + 1] - offset[node];
    for (let k = offset[node]; k < offset[node + 1]; k++) {
      const link = links[k];
      const next = linkTarget[link];
      const reach = key + price(search, link);
      if (stamp[next] === search.searches && distance[next] <= reach) continue;
      stamp[next] = search.searches;
      distance[next] = reach;
      via[next] = link;
      push(search, reach, next);
    }
  }
  if (search.size === 0) {
    const [from, to] = [source, target].map((npu) => topology.nodeNames[npu]);
    throw new InfeasibleError(`NPU ${from} cannot reach NPU ${to}`, { from: source, to: target });
  }
  const path: number[] = [];
  for (let node = target; node !== source; node = linkSource[via[node]]) path.push(via[node]);
  return Int32Array.from(path.reverse());
}
