import type { MilpOptions, MilpRunner } from "../../engine/contract/programs.ts";
import { type Collective, membersOf } from "../../model/collective/collective.ts";
import { routeCount } from "../../model/routes/routes.ts";
import { mayCarry, type SketchNetwork } from "../../model/sketch/sketch.ts";
import { linkCount } from "../../model/topology/topology.ts";
import { type SolverStage, skippedStage, solvedStage } from "../solver-facts.ts";
import {
  type ChunkOptions,
  type Distances,
  distancesFrom,
  distancesOfChunks,
  mergedCosts,
  type RoutingCosts,
  type RoutingOptions,
  type RoutingSymmetry,
  routingCosts,
  routingOptions,
  routingSymmetry,
} from "./routing-options.ts";
import {
  connectionPs,
  type RoutingParts,
  type RoutingProgram,
  routingProgram,
  routingProgramSize,
} from "./routing-program.ts";
import type { RoutingStage, Sends, TacclProblem } from "./stages.ts";

/** Routings whose load is at most this much above what is proved are good enough. */
const GOOD_ENOUGH = 1.01;
/** Part of the time that the load may take, before detours. */
const LOAD_TIME = 0.7;
/** Most time for detours: they seldom become shorter later, and local search orders what it can. */
const MOST_DETOURS_MS = 5000;
/** How much of a program is built in a millisecond, at the least. */
const ENTRIES_PER_MS = 1000;

/**
 * Returns trees of routes for all chunks (TACCL, section 5.1 step 1, appendix B.1). A greedy routing is the answer where it has
 * the least load that is proved, no detours, and no policy of a switch asks for more. Else a program lowers the busiest link's
 * load; then a second one makes ways short and follows the policies without loading any link more. Where the solver has no
 * room or no time, the best routing so far stands. The bound counts latencies once for each route, and knows nothing of order.
 */
export const routeChunks: RoutingStage = async (problem, context) => {
  const { network, collective } = problem;
  const costs = routingCosts(network, collective.chunkBytes);
  const distancesOf = distancesOfChunks(network, collective, costs);
  const conflict = routingConflict(network, collective, distancesOf);
  if (conflict.length > 0) return { conflict };

  const symmetry = routingSymmetry(network, collective);
  const options = routingOptions(network, collective, costs, symmetry, distancesOf);
  const proved = loadBound(network, collective, costs);
  // a link may be busy as long as the longest way takes: nothing is lost by it
  const goalPs = Math.max(proved, options.longestPs);
  const greedy = await greedyRouting(
    network,
    costs,
    symmetry,
    options,
    goalPs,
    () => problem.deadline.isOver(),
    context.breathe,
  );
  const boundPs = Math.max(loadBound(network, collective, mergedCosts(costs)), options.longestPs);
  const stages: SolverStage[] = [];
  const parts = { network, costs, symmetry, options, goalPs };
  let taken = greedy.taken;
  if (context.milp === undefined) stages.push(skipped("no solver", symmetry));
  else taken = await improved(problem, parts, greedy, context.milp, stages);
  return { sends: sendsOf(problem, symmetry, options, taken), boundPs, stages };
};

type Parts = Pick<RoutingParts, "network" | "costs" | "symmetry" | "options" | "goalPs">;

async function improved(
  { deadline }: TacclProblem,
  parts: Parts,
  greedy: GreedyRouting,
  milp: MilpRunner,
  stages: SolverStage[],
): Promise<Int32Array> {
  const { network, goalPs, symmetry, options, costs } = parts;
  const hasPolicies = options.route.some((route) => {
    const edge = network.hyperedge[route];
    return edge >= 0 && network.policies[edge] !== "none";
  });
  const enough = Math.floor(goalPs * GOOD_ENOUGH);
  const greedyPs = timeOf(network, costs, symmetry, options, greedy.taken);
  if (greedyPs <= enough && greedy.latePs === 0 && !hasPolicies) {
    stages.push(skipped("the greedy routing has the least load and no detours", symmetry));
    return greedy.taken;
  }
  let taken = greedy.taken;
  let mostPs = greedyPs;
  const attempt = async (aim: RoutingParts["aim"], share: number, most = Number.POSITIVE_INFINITY): Promise<void> => {
    const all: RoutingParts = { ...parts, mostPs, aim, start: taken };
    const size = routingProgramSize(all);
    if (milp.bytesFor(size) > milp.maxBytes) {
      stages.push(skipped("the program would not fit", symmetry, size));
      return;
    }
    if (!deadline.allows(size.entries / ENTRIES_PER_MS)) {
      stages.push(skipped("no time left", symmetry, size));
      return;
    }
    const program = routingProgram(all);
    const limitMs = Math.min(most, share * deadline.leftMs());
    const solution = await milp.solve(program.problem, solverOptions(program, all, limitMs));
    const name = aim === "load" ? "routing" : "shorter ways";
    stages.push({ ...solvedStage(name, program.problem, solution), ...noteOf(symmetry) });
    if (solution.primal.length === 0) return;
    const found = Int32Array.from(options.route.keys()).filter((option) => solution.primal[option] > 0.5);
    const timePs = timeOf(network, costs, symmetry, options, found);
    if (timePs > mostPs) return;
    taken = found;
    mostPs = timePs;
  };
  if (mostPs > enough) await attempt("load", LOAD_TIME);
  mostPs = Math.max(mostPs, goalPs);
  await attempt("detours", 1, MOST_DETOURS_MS);
  return taken;
}

function solverOptions({ unitPs }: RoutingProgram, parts: RoutingParts, timeLimitMs: number): MilpOptions {
  const { goalPs, aim, options, symmetry } = parts;
  if (aim === "load") {
    const enough = (-goalPs / unitPs) * GOOD_ENOUGH;
    return { timeLimitMs, enough, absoluteGap: (goalPs / unitPs) * (GOOD_ENOUGH - 1) };
  }
  const detours = parts.start.reduce((sum, option) => sum + options.detourPs[option], 0) * symmetry.maps.length;
  return { timeLimitMs, absoluteGap: Math.min(connectionPs(parts) / 2, detours * (GOOD_ENOUGH - 1)) / unitPs };
}

const noteOf = ({ notes }: RoutingSymmetry): { readonly note?: string } =>
  notes.length === 0 ? {} : { note: notes.join("; ") };

const skipped = (why: string, { notes }: RoutingSymmetry, size = { columns: 0, rows: 0 }): SolverStage =>
  skippedStage("routing", size, [why, ...notes].join("; "));

/** Returns the options and their images as sends, without those that lead to no target. */
function sendsOf(problem: TacclProblem, symmetry: RoutingSymmetry, options: RoutingOptions, taken: Int32Array): Sends {
  const { network, collective } = problem;
  const rows: (readonly [chunk: number, route: number])[] = [];
  for (const { chunk, first, end } of options.chunks) {
    const isTarget = new Set(membersOf(collective, collective.post, chunk));
    const own = Array.from(taken.filter((option) => option >= first && option < end));
    // options are in the order of the NPUs that they enter, so those further on come later
    for (const option of own.reverse()) {
      const route = options.route[option];
      if (!isTarget.has(network.routes.target[route])) continue;
      isTarget.add(network.routes.source[route]);
      for (const { chunkTo, routeTo } of symmetry.maps) rows.push([chunkTo[chunk], routeTo[route]]);
    }
  }
  rows.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return { chunk: Int32Array.from(rows, ([chunk]) => chunk), route: Int32Array.from(rows, ([, route]) => route) };
}

/** So many sentences are given at most. */
const MOST_SENTENCES = 6;
/** So many NPUs are named in a list. */
const MOST_NAMES = 8;

/**
 * Returns what keeps chunks of some owners from some boxes, a sentence each with the sketch's fields; empty where every chunk
 * reaches all its targets. Loads are never in the way, for time is what they cost; so reaching all is all there is to be
 * feasible. O(chunks * NPUs), and O(routes) for each pair of an owner and a box in conflict.
 */
function routingConflict(network: SketchNetwork, whole: Collective, distancesOf: readonly Distances[]): string[] {
  const sentences = new Set<string>();
  const told = new Set<string>();
  for (let chunk = 0; chunk < whole.chunkCount; chunk++) {
    const { rank } = distancesOf[chunk];
    const holders = membersOf(whole, whole.pre, chunk);
    for (const target of membersOf(whole, whole.post, chunk)) {
      if (rank[target] >= 0) continue;
      const pair = `${holders[0]},${network.boxOf[target]}`;
      if (told.has(pair)) continue;
      told.add(pair);
      if (sentences.size <= MOST_SENTENCES) sentences.add(whyNot(network, holders, target));
    }
  }
  const all = [...sentences];
  return all.length > MOST_SENTENCES ? [...all.slice(0, MOST_SENTENCES), "others like these"] : all;
}

function whyNot(network: SketchNetwork, holders: Int32Array, target: number): string {
  const { topology, routes, boxOf, leavesBox } = network;
  const { npuCount } = topology;
  const names = (npus: Iterable<number>): string => listed([...new Set(npus)].map((npu) => topology.nodeNames[npu]));
  const reach = (from: Int32Array, allowed: (route: number) => boolean): Int32Array =>
    distancesFrom(npuCount, routes, new Float64Array(routeCount(routes)).fill(1), from, allowed)(0).order;
  const [owner] = holders;
  const home = boxOf[owner];
  const away = boxOf[target];
  if (home === away) {
    return `intranode_sketch: no connections lead from GPU ${names([owner])} to GPU ${names([target])}`;
  }
  const all = Int32Array.from({ length: routeCount(routes) }, (_, route) => route);
  const out = all.filter((route) => leavesBox[route] === 1 && boxOf[routes.source[route]] === home);
  const into = all.filter((route) => leavesBox[route] === 1 && boxOf[routes.target[route]] === away);
  if (out.length === 0) return `internode_sketch.internode_conn: nothing leaves node ${home}`;
  if (into.length === 0) return `internode_sketch.internode_conn: nothing enters node ${away}`;

  const free = new Set(reach(holders, () => true));
  if (free.has(target)) {
    const carriers = out.map((route) => routes.source[route]).filter((sender) => mayCarry(network, owner, sender));
    const map = `gpus_to_sender_rev_map: chunks of GPU ${names([owner])}`;
    const inside = new Set(reach(holders, (route) => leavesBox[route] === 0));
    const reached = carriers.filter((sender) => inside.has(sender));
    if (reached.length === 0)
      return `${map} may leave node ${home} only through GPU ${names(carriers)}, which they cannot reach by intranode_sketch`;
    return `${map} may leave nodes only through GPU ${names(reached)} and its like, from where internode_conn and intranode_sketch do not lead to GPU ${names([target])} of node ${away}`;
  }
  const entries = [...new Set(into.map((route) => routes.target[route]))].filter((npu) => free.has(npu));
  if (entries.length > 0)
    return `intranode_sketch: chunks of GPU ${names([owner])} enter node ${away} at GPU ${names(entries)}, from where no connections lead to GPU ${names([target])}`;
  const senders = [...new Set(out.map((route) => routes.source[route]))];
  if (!senders.some((sender) => free.has(sender)))
    return `intranode_sketch: no connections lead from GPU ${names([owner])} to the senders of node ${home} in internode_conn, GPU ${names(senders)}`;
  return `internode_sketch.internode_conn: no connections lead from GPU ${names([owner])} of node ${home} to node ${away}`;
}

const listed = (names: readonly string[]): string =>
  names.length <= MOST_NAMES ? names.join(", ") : `${names.slice(0, MOST_NAMES).join(", ")} ..`;

/**
 * Returns a time below which no routing loads links, exact integer picoseconds: chunks that must enter, or leave, an NPU or a
 * box pass one of the routes across, and a link that takes `once + n * each` carries whole numbers of them. Of a route's links
 * the one that counts is the first, second .. or the last, second last .., whichever proves most. Sound for any schedule where
 * `costs` has latencies once for each route. O((NPUs + boxes) * routes * route length).
 */
function loadBound(network: SketchNetwork, whole: Collective, costs: RoutingCosts): number {
  const { boxOf, topology } = network;
  const { npuCount } = topology;
  const boxes = boxOf.reduce((most, box) => Math.max(most, box + 1), 0);
  const npus = crossings(whole, npuCount, (npu) => npu);
  const groups = crossings(whole, boxes, (npu) => boxOf[npu]);
  const { source, target } = network.routes;
  const sides: Cut[] = [];
  const add = (counts: Crossings, of: (npu: number) => number, sets: number): void => {
    const into: number[][] = Array.from({ length: sets }, () => []);
    const outOf: number[][] = Array.from({ length: sets }, () => []);
    for (let route = 0; route < routeCount(network.routes); route++) {
      if (of(source[route]) === of(target[route])) continue;
      into[of(target[route])].push(route);
      outOf[of(source[route])].push(route);
    }
    for (let set = 0; set < sets; set++) {
      sides.push({ chunks: counts.into[set], routes: into[set] }, { chunks: counts.outOf[set], routes: outOf[set] });
    }
  };
  add(npus, (npu) => npu, npuCount);
  if (boxes > 1) add(groups, (npu) => boxOf[npu], boxes);
  return sides.reduce((most, cut) => Math.max(most, cutBound(network, cut, costs)), 0);
}

interface Crossings {
  /** [sets] chunks that must enter, and leave. */
  readonly into: Float64Array;
  readonly outOf: Float64Array;
}

interface Cut {
  readonly chunks: number;
  readonly routes: readonly number[];
}

function crossings(whole: Collective, sets: number, of: (npu: number) => number): Crossings {
  const into = new Float64Array(sets);
  const outOf = new Float64Array(sets);
  for (let chunk = 0; chunk < whole.chunkCount; chunk++) {
    const held = new Set(Array.from(membersOf(whole, whole.pre, chunk), of));
    const wanted = new Set(Array.from(membersOf(whole, whole.post, chunk), of));
    for (const set of wanted) if (!held.has(set)) into[set]++;
    if (held.size !== 1) continue;
    const [only] = held;
    if (wanted.size > 1 || !wanted.has(only)) outOf[only]++;
  }
  return { into, outOf };
}

/** Cheapest chunk of the routes over one link. */
interface Port {
  each: number;
  once: number;
}

function cutBound({ routes }: SketchNetwork, { chunks, routes: across }: Cut, costs: RoutingCosts): number {
  if (chunks === 0 || across.length === 0) return 0;
  const { linkOffset, links } = routes;
  const longest = across.reduce((most, route) => Math.max(most, linkOffset[route + 1] - linkOffset[route]), 0);
  let most = 0;
  for (let step = 0; step < 2 * longest; step++) {
    const ports = new Map<number, Port>();
    for (const route of across) {
      const last = linkOffset[route + 1] - linkOffset[route] - 1;
      const k = linkOffset[route] + (step < longest ? Math.min(step, last) : Math.max(0, last - (step - longest)));
      const each = Math.floor(costs.eachPs[route] * costs.share[k]);
      const once = Math.floor(costs.oncePs[route] * costs.share[k]);
      const port = ports.get(links[k]);
      if (port === undefined) ports.set(links[k], { each, once });
      else {
        port.each = Math.min(port.each, each);
        port.once = Math.min(port.once, once);
      }
    }
    most = Math.max(most, leastTime([...ports.values()], chunks));
  }
  return most;
}

/** Returns the least whole time in which the ports carry this many chunks. */
function leastTime(ports: readonly Port[], chunks: number): number {
  const carried = (time: number): number => {
    let total = 0;
    for (const { each, once } of ports) {
      if (time >= once + each) total += each === 0 ? chunks : Math.floor((time - once) / each);
    }
    return total;
  };
  let low = 0;
  let high = ports.reduce((most, { each, once }) => Math.min(most, once + chunks * each), Number.POSITIVE_INFINITY);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (carried(middle) >= chunks) high = middle;
    else low = middle + 1;
  }
  return high;
}

interface GreedyRouting {
  /** Options, ascending. */
  readonly taken: Int32Array;
  /** Of the busiest link or of the longest way, whichever takes longer. */
  readonly timePs: number;
  /** By how much chunks come later to NPUs than by shortest ways, in all. */
  readonly latePs: number;
}

/** Rounds of rerouting: at most, without a better one, and such that all together look at about this many loads. */
const MOST_ROUNDS = 60;
const PATIENCE = 12;
const MOST_WORK = 3e8;
/** What a link that was too busy costs more in the next round. */
const PRICE_RISE = 1.25;
/** What it costs to come late, in parts of the goal: a little, and much once it is after the goal. */
const LATE = 0.02;
const TOO_LATE = 4;

/**
 * Returns the best of several rounds in which chunk after chunk is taken off its links and rerouted, target after target in
 * the chunk's order, each over the way that costs least: loads weigh by the fourth power of how busy the link would be, times a
 * price that rises while it is busier than `goalPs` (negotiated congestion). Ends early where nothing is over the goal and
 * no chunk comes late, or where time is over. O(rounds * options * images * route length).
 */
async function greedyRouting(
  network: SketchNetwork,
  costs: RoutingCosts,
  symmetry: RoutingSymmetry,
  options: RoutingOptions,
  goalPs: number,
  isOver: () => boolean,
  breathe: () => Promise<void> = async () => undefined,
): Promise<GreedyRouting> {
  const loads = linkLoads(network, costs, symmetry, options);
  const price = new Float64Array(loads.loadPs.length).fill(1);
  const routed: Routed[] = options.chunks.map(() => ({ taken: [], latePs: 0, lastPs: 0 }));
  const rounds = Math.max(2, Math.min(MOST_ROUNDS, Math.floor(MOST_WORK / Math.max(1, options.link.length))));
  let best: GreedyRouting | null = null;
  for (let round = 0, last = 0; round < rounds && round - last < PATIENCE; round++) {
    options.chunks.forEach((chunk, k) => {
      for (const option of routed[k].taken) loads.giveBack(option);
      routed[k] = routeChunk(network, costs, options, chunk, loads, price, goalPs);
    });
    const busiestPs = Math.floor(loads.loadPs.reduce((most, ps) => Math.max(most, ps), 0));
    const timePs = routed.reduce((most, { lastPs }) => Math.max(most, lastPs), busiestPs);
    const latePs = routed.reduce((sum, chunk) => sum + chunk.latePs, 0);
    const over = Math.max(timePs, goalPs) - Math.max(best?.timePs ?? Number.POSITIVE_INFINITY, goalPs);
    if (best === null || over < 0 || (over === 0 && latePs < best.latePs)) {
      best = { taken: Int32Array.from(routed.flatMap(({ taken }) => taken)).sort(), timePs, latePs };
      last = round;
    }
    await breathe();
    if ((timePs <= goalPs && latePs === 0) || isOver()) break;
    loads.loadPs.forEach((ps, link) => {
      if (ps > goalPs) price[link] *= PRICE_RISE;
    });
  }
  return best as GreedyRouting;
}

interface Routed {
  readonly taken: readonly number[];
  readonly latePs: number;
  readonly lastPs: number;
}

/** The cheapest way to an NPU that the chunk is not at yet. */
interface Way {
  readonly cost: number;
  readonly timePs: number;
  /** -1 where there is no way. */
  readonly option: number;
}

/** Returns ways of one chunk to its targets, which the loads hold then. */
function routeChunk(
  { routes }: SketchNetwork,
  { times }: RoutingCosts,
  { route }: RoutingOptions,
  { isHolder, isTarget, order, into, timePs: leastPs }: ChunkOptions,
  loads: LinkLoads,
  price: Float64Array,
  goalPs: number,
): Routed {
  const { loadPs } = loads;
  const goal = Math.max(goalPs, 1);
  const reached = new Map<number, number>();
  const taken: number[] = [];
  let latePs = 0;
  let lastPs = 0;
  const costOf = (option: number): number => {
    let cost = 1e-6;
    loads.wouldAdd(option, (link, ps) => {
      const busy = (loadPs[link] + ps) / goal;
      cost += (ps / goal) * (busy * busy * busy * busy + 0.001) * price[link];
    });
    return cost;
  };
  const lateness = (npu: number, timePs: number): number =>
    (LATE * (timePs - leastPs[npu])) / goal + (TOO_LATE * Math.max(0, timePs - goal)) / goal;
  for (const target of order) {
    if (isTarget[target] === 0 || reached.has(target)) continue;
    const known = new Map<number, Way>();
    const wayTo = (npu: number): Way => {
      if (isHolder[npu] === 1) return { cost: 0, timePs: 0, option: -1 };
      const at = reached.get(npu);
      if (at !== undefined) return { cost: 0, timePs: at, option: -1 };
      const before = known.get(npu);
      if (before !== undefined) return before;
      let best: Way = { cost: Number.POSITIVE_INFINITY, timePs: 0, option: -1 };
      for (const option of into.get(npu) ?? []) {
        const r = route[option];
        const until = wayTo(routes.source[r]);
        const timePs = until.timePs + times.slotPs[r];
        const cost = until.cost + costOf(option) + lateness(npu, timePs);
        if (cost < best.cost) best = { cost, timePs, option };
      }
      known.set(npu, best);
      return best;
    };
    wayTo(target);
    for (let npu = target; isHolder[npu] === 0 && !reached.has(npu); ) {
      const { option, timePs } = known.get(npu) as Way;
      reached.set(npu, timePs);
      taken.push(option);
      loads.take(option);
      latePs += timePs - leastPs[npu];
      lastPs = Math.max(lastPs, timePs);
      npu = routes.source[route[option]];
    }
  }
  return { taken, latePs, lastPs };
}

/** How long links are busy with the options that were taken, kept up to date. */
export interface LinkLoads {
  /** [links] picoseconds */
  readonly loadPs: Float64Array;
  take(option: number): void;
  giveBack(option: number): void;
  /** Calls back with each link and what the option would add to it; a link may come twice. */
  wouldAdd(option: number, each: (link: number, ps: number) => void): void;
}

/** Returns the loads of no options. O(1); each change is O(images * route length). */
function linkLoads(
  network: SketchNetwork,
  costs: RoutingCosts,
  { maps }: RoutingSymmetry,
  { route, offset, link, load }: RoutingOptions,
): LinkLoads {
  const { linkOffset, links } = network.routes;
  const { oncePs, share } = costs;
  const loadPs = new Float64Array(linkCount(network.topology));
  const users = new Int32Array(oncePs.length);
  const paidOnce = (r: number, each: (link: number, ps: number) => void): void => {
    for (let i = linkOffset[r]; i < linkOffset[r + 1]; i++) each(links[i], oncePs[r] * share[i]);
  };
  const change = (option: number, sign: 1 | -1): void => {
    for (let j = offset[option]; j < offset[option + 1]; j++) loadPs[link[j]] += sign * load[j];
    if (oncePs[route[option]] === 0) return;
    for (const { routeTo } of maps) {
      const r = routeTo[route[option]];
      users[r] += sign;
      if (users[r] !== (sign === 1 ? 1 : 0)) continue;
      paidOnce(r, (l, ps) => {
        loadPs[l] += sign * ps;
      });
    }
  };
  return {
    loadPs,
    take: (option) => change(option, 1),
    giveBack: (option) => change(option, -1),
    wouldAdd(option, each) {
      for (let j = offset[option]; j < offset[option + 1]; j++) each(link[j], load[j]);
      const r = route[option];
      if (oncePs[r] > 0 && users[r] === 0) for (const { routeTo } of maps) paidOnce(routeTo[r], each);
    },
  };
}

/** Returns how long links take for what was taken if nothing passes before it can be there. */
function latestEnd({ offset, link, load, headPs }: RoutingOptions, taken: Int32Array, links: number): number {
  const endPs = new Float64Array(links);
  // one after the other in the order in which they can come: the least time of one link
  for (const option of taken.slice().sort((a, b) => headPs[a] - headPs[b])) {
    for (let j = offset[option]; j < offset[option + 1]; j++)
      endPs[link[j]] = Math.max(endPs[link[j]], headPs[option]) + load[j];
  }
  return endPs.reduce((most, ps) => Math.max(most, ps), 0);
}

/**
 * Returns how long the busiest link, or the chunk with the longest way, takes with the options that were taken, ascending, in
 * picoseconds; rounded down, for shares of links are fractions. O(options * images * route length).
 */
export function timeOf(
  network: SketchNetwork,
  costs: RoutingCosts,
  symmetry: RoutingSymmetry,
  options: RoutingOptions,
  taken: Int32Array,
): number {
  const loads = linkLoads(network, costs, symmetry, options);
  let lastPs = 0;
  let next = 0;
  for (const { end } of options.chunks) {
    const timePs = new Map<number, number>();
    for (; next < taken.length && taken[next] < end; next++) {
      const route = options.route[taken[next]];
      const at = (timePs.get(network.routes.source[route]) ?? 0) + costs.times.slotPs[route];
      timePs.set(network.routes.target[route], at);
      lastPs = Math.max(lastPs, at);
      loads.take(taken[next]);
    }
  }
  const endPs = latestEnd(options, taken, loads.loadPs.length);
  return Math.floor(loads.loadPs.reduce((most, ps) => Math.max(most, ps), Math.max(lastPs, endPs)));
}
