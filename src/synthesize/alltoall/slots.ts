import { draw } from "../../base/random.ts";
import type { PlaceProblem } from "../../engine/contract/kernels.ts";
import { portRounds } from "../../model/messages/port-rounds.ts";
import { orderByTime } from "../../model/numbers/ordering.ts";
import type { RouteSet, RouteTimes } from "../../model/routes/routes.ts";
import { linkCount, switchCount, type Topology } from "../../model/topology/topology.ts";
import type { KernelRunner } from "../synthesizer.ts";
import { tenNetwork } from "../tacos/network.ts";
import { attempt, type Found } from "../tacos/overlap.ts";
import type { Hops } from "./paths.ts";
import { type Pipelined, pipelined } from "./pipelined.ts";

/**
 * Problem: when each hop goes, its path being fixed, so that the last ends early. With congestion C (how long the busiest link
 * must work) and dilation D (the longest path) no schedule is shorter than either, and one of C + D nearly always exists
 * (Leighton, Maggs and Rao 1994).
 *
 * List scheduling: of the hops that are ready, an idle route starts the one with the least key, here the farthest to go; in
 * further tries what lies ahead counts by how busy its links are, and equal ones go in a drawn order. Where there are switches
 * the first try takes them in rounds, which suit switches best (links between NPUs alone are always free for somebody), or in
 * drawn waves where only one try is affordable: rounds of a million messages take longer than the schedule. A try is a list schedule,
 * one backwards in time from its ends and one forwards from the starts of that (attempt, ../tacos/overlap.ts). The best two
 * then walk: their starts, shaken by a slot or two, are the keys of the next try.
 */

/** Tries for each trial that a request may have. */
const TRIES_PER_TRIAL = 2;
const USUAL_TRIALS = 64;
/** Hops placed by all tries: one or two seconds of native kernels. */
const MOST_STEPS = 1.2e7;
const PLACEMENTS = 3;
/** Where one try is affordable, it need not be nearer than this to the least. */
const NEAR = 0.001;
/** How much the busiest link ahead counts beside the way ahead. */
const WEIGHTS = [0, 1, 0.25, 4];
const WALKERS = 2;
/** Widths of the shakes, in slots. */
const SHAKES = [1, 2, 4];
/** Draws of the walks begin at this counter, after those of the first tries. */
const WALK_DRAWS = 2 ** 20;

export interface Timed {
  /** [transfers] */
  readonly startPs: Float64Array;
  readonly endPs: number;
  /** About the least that any schedule of these hops takes: the busiest link with the least way to and from it, or a whole path. */
  readonly leastPs: number;
  readonly tries: number;
}

export interface TimingOptions {
  readonly seed: number;
  /** As in SynthesisRequest. */
  readonly trials: number | null;
  readonly runner: Pick<KernelRunner, "width" | "place">;
  readonly progress?: (done: number, total: number) => void;
}

/** Returns when each hop starts. Deterministic in the seed, whatever the width of the runner. */
export async function timed(
  topology: Topology,
  { routes, message, route }: Hops,
  times: RouteTimes,
  { seed, trials, runner, progress }: TimingOptions,
): Promise<Timed> {
  const network = tenNetwork(topology, routes, times);
  const hops = hopTimes({ routes, message, route }, times.slotPs);
  const { slotPs, tailPs } = hops;
  const forward: Omit<PlaceProblem, "key"> = { network, route, ...chain(message, 1) };
  const backward: Omit<PlaceProblem, "key"> = { network, route, ...chain(message, -1) };
  const work = workOf(topology, routes, hops);
  const aheadPs = busiestAhead(routes, hops, work.busyPs);
  const precedence = { forward, backward, slotPs };
  const wanted = TRIES_PER_TRIAL * (trials ?? USUAL_TRIALS);
  const affordable = Math.floor(
    (MOST_STEPS * Math.max(1, (trials ?? USUAL_TRIALS) / USUAL_TRIALS)) / (PLACEMENTS * route.length),
  );
  const total = Math.max(1, Math.min(wanted, affordable));
  const leastPs = leastEnd(work, tailPs) * (total > 1 ? 1 : 1 + NEAR);
  const slot = slotPs.reduce((sum, ps) => sum + ps, 0) / slotPs.length;

  const first = (k: number): Float64Array => {
    if (k === 0 && switchCount(topology) > 0) {
      return (total > 1 ? byRounds(topology, routes, hops, work.busyPs) : null) ?? inWaves(hops, seed);
    }
    const weight = WEIGHTS[k % WEIGHTS.length] as number;
    return farthestFirst(hops, aheadPs, weight, { seed, k, slotPs: slot });
  };
  let best: Found = { startPs: new Float64Array(0), endPs: Number.POSITIVE_INFINITY, how: "" };
  let tries = 0;
  const run = async (keys: readonly (() => Float64Array)[]): Promise<Found[]> => {
    const done: Found[] = [];
    const width = Math.max(1, runner.width);
    for (let from = 0; from < keys.length && best.endPs > leastPs; from += width) {
      const wave = keys.slice(from, from + width).map((key) => attempt(precedence, runner, key(), leastPs, ""));
      for (const next of await Promise.all(wave)) {
        if (best.endPs <= leastPs) break;
        done.push(next);
        if (next.endPs < best.endPs) best = next;
      }
      progress?.(tries + done.length, total);
    }
    tries += done.length;
    return done;
  };
  const firsts = Math.min(total, Math.max(WEIGHTS.length, Math.ceil(total / 8)));
  const found = await run(Array.from({ length: firsts }, (_, k) => () => first(k)));
  const walkers = found.sort((a, b) => a.endPs - b.endPs).slice(0, WALKERS);
  while (tries < total && best.endPs > leastPs) {
    const shakes = walkers.slice(0, total - tries).map(({ startPs }, w) => {
      const k = tries + w;
      const width = slot * (SHAKES[Math.floor(k / WALKERS) % SHAKES.length] as number);
      return () => shaken(startPs, width, seed, WALK_DRAWS + k);
    });
    for (const [w, next] of (await run(shakes)).entries()) {
      if (next.endPs <= (walkers[w] as Found).endPs) walkers[w] = next;
    }
  }
  return { startPs: best.startPs, endPs: best.endPs, leastPs, tries };
}

/** Hops placed by the tries of `timedAsReplayed`: about a quarter of a second. */
const MOST_REPLAYED_STEPS = 2.5e5;
const MOST_REPLAYED_TRIES = WEIGHTS.length;

/**
 * Returns when each hop starts if hops go in the order of the best list schedule in the simulation's model (pipelined), where latency
 * delays but does not hold links: for many small messages, of which slots with latency hold links for too long, and slots without
 * it know no far ways. `endPs`, `leastPs`: in that model; `startPs`: planned in slots. Deterministic in the seed.
 */
export function timedAsReplayed(
  topology: Topology,
  { routes, message, route }: Hops,
  times: RouteTimes,
  { seed, trials }: Pick<TimingOptions, "seed" | "trials">,
): Timed {
  const { slotPs, serialPs } = times;
  const network = tenNetwork(topology, routes, { ...times, slotPs: serialPs });
  const latencyPs = slotPs.map((ps, r) => ps - serialPs[r]);
  const onTheWay = hopTimes({ routes, message, route }, slotPs);
  const held = {
    ...onTheWay,
    slotPs: Float64Array.from(route, (r) => serialPs[r]),
    headPs: onTheWay.headPs.map((ps, i) => ps - latencyPs[route[i]]),
  };
  const work = workOf(topology, routes, held);
  const aheadPs = busiestAhead(routes, held, work.busyPs);
  const leastPs = leastEnd(work, onTheWay.tailPs);
  const drawnPs = serialPs.reduce((sum, ps) => sum + ps, 0) / serialPs.length;
  const wanted = Math.min(MOST_REPLAYED_TRIES, TRIES_PER_TRIAL * (trials ?? USUAL_TRIALS));
  const total = Math.max(1, Math.min(wanted, Math.floor(MOST_REPLAYED_STEPS / route.length)));
  let best: Pipelined = { startPs: new Float64Array(route.length), endPs: Number.POSITIVE_INFINITY };
  let k = 0;
  for (; k < total && best.endPs > leastPs; k++) {
    const key = farthestFirst(onTheWay, aheadPs, WEIGHTS[k % WEIGHTS.length] as number, { seed, k, slotPs: drawnPs });
    const next = pipelined({ network, latencyPs, message, route, key });
    if (next.endPs < best.endPs) best = next;
  }
  const startPs = inOrder(topology, { routes, message, route }, times, best.startPs);
  return { startPs, endPs: best.endPs, leastPs, tries: k };
}

/**
 * Returns when each hop starts if on every link hops start in the order of `orderPs` [transfers], in which the hops of a message
 * ascend: also those that have parts of a link side by side, for a replay keeps the order in which they are planned there.
 * O(transfers log transfers + the links of their routes).
 */
export function inOrder(
  topology: Topology,
  { routes, message, route }: Hops,
  times: RouteTimes,
  orderPs: Float64Array,
): Float64Array {
  const { useOffset, useResource, capacity, slotPs } = tenNetwork(topology, routes, times);
  const { linkOffset, links } = routes;
  const routeFree = new Float64Array(slotPs.length);
  const sharedFree = new Float64Array(capacity.length);
  const lastStart = new Float64Array(linkCount(topology)).fill(-1);
  const startPs = new Float64Array(route.length);
  for (const i of orderByTime(orderPs)) {
    const r = route[i];
    let start = routeFree[r];
    if (i > 0 && message[i - 1] === message[i]) start = Math.max(start, startPs[i - 1] + slotPs[route[i - 1]]);
    for (let k = linkOffset[r]; k < linkOffset[r + 1]; k++) start = Math.max(start, lastStart[links[k]] + 1);
    for (let k = useOffset[r]; k < useOffset[r + 1]; k++) start = Math.max(start, sharedFree[useResource[k]]);
    startPs[i] = start;
    routeFree[r] = start + slotPs[r];
    for (let k = linkOffset[r]; k < linkOffset[r + 1]; k++) lastStart[links[k]] = start;
    for (let k = useOffset[r]; k < useOffset[r + 1]; k++) sharedFree[useResource[k]] = start + slotPs[r];
  }
  return startPs;
}

/** Returns what waits for each hop: the next of its message, or, for direction -1, the one before. */
function chain(message: Int32Array, direction: 1 | -1): Pick<PlaceProblem, "successorOffset" | "successor"> {
  const successorOffset = new Int32Array(message.length + 1);
  const successor = new Int32Array(message.length);
  let count = 0;
  for (let i = 0; i < message.length; i++) {
    if (message[i + direction] === message[i]) successor[count++] = i + direction;
    successorOffset[i + 1] = count;
  }
  return { successorOffset, successor: successor.slice(0, count) };
}

/** Orders in which list scheduling takes hops: the least key first, [transfers] exact integers of any sign. */

/**
 * Returns the keys for "farthest to go first"; `weight` says how much `aheadPs` counts beside the way, and hops as far as each
 * other go in the order drawn for try `k`.
 */
function farthestFirst(
  { message, tailPs }: HopTimes,
  aheadPs: Float64Array,
  weight: number,
  { seed, k, slotPs }: { readonly seed: number; readonly k: number; readonly slotPs: number },
): Float64Array {
  const key = new Float64Array(message.length);
  for (let i = 0; i < key.length; i++) {
    const tie = draw(seed, k, message[i]) / 4294967296;
    key[i] = Math.floor((tie - 0.5) * slotPs) - tailPs[i] - Math.floor(weight * aheadPs[i]);
  }
  return key;
}

/** Returns a drawn key for each message, the same at all its hops: messages go through the network in waves, few behind others. */
function inWaves({ message }: HopTimes, seed: number): Float64Array {
  const key = new Float64Array(message.length);
  for (let i = 0; i < key.length; i++)
    key[i] = i > 0 && message[i] === message[i - 1] ? key[i - 1] : draw(seed, 0, message[i]);
  return key;
}

/**
 * Returns the keys for rounds in which each port of a switch sends and receives one message (portRounds): every message crosses
 * its busiest route in its round, and is there in time. null where rounds would take too much memory.
 */
function byRounds(
  topology: Topology,
  { linkOffset, links }: RouteSet,
  { message, route, slotPs, headPs }: HopTimes,
  busyPs: Float64Array,
): Float64Array | null {
  const routeBusyPs = new Float64Array(linkOffset.length - 1);
  for (let r = 0; r < routeBusyPs.length; r++) {
    for (let k = linkOffset[r]; k < linkOffset[r + 1]; k++) routeBusyPs[r] = Math.max(routeBusyPs[r], busyPs[links[k]]);
  }
  const crossing: number[] = [];
  for (let i = 0; i < route.length; i++) {
    const last = crossing.length - 1;
    if (i === 0 || message[i] !== message[i - 1]) crossing.push(i);
    else if (routeBusyPs[route[i]] > routeBusyPs[route[crossing[last] as number]]) crossing[last] = i;
  }
  const from = Int32Array.from(crossing, (i) => links[linkOffset[route[i]]]);
  const to = Int32Array.from(crossing, (i) => linkCount(topology) + links[linkOffset[route[i] + 1] - 1]);
  const rounds = portRounds(from, to, 2 * linkCount(topology));
  if (rounds === null) return null;
  const key = new Float64Array(route.length);
  for (let i = 0, m = -1; i < route.length; i++) {
    if (i === 0 || message[i] !== message[i - 1]) m++;
    const at = crossing[m] as number;
    key[i] = rounds[m] * slotPs[at] + headPs[i] - headPs[at];
  }
  return key;
}

/** Returns starts shaken by up to half of `widthPs` either way, as drawn for counter `k`. */
function shaken(startPs: Float64Array, widthPs: number, seed: number, k: number): Float64Array {
  const key = new Float64Array(startPs.length);
  for (let i = 0; i < key.length; i++) {
    key[i] = startPs[i] + Math.floor((draw(seed, k, i) / 4294967296 - 0.5) * widthPs);
  }
  return key;
}

/** [transfers] each. */
interface HopTimes {
  readonly message: Int32Array;
  readonly route: Int32Array;
  readonly slotPs: Float64Array;
  /** From the start of the message to the end of the hop, on free links. */
  readonly headPs: Float64Array;
  /** From the start of the hop to the end of the message, on free links. */
  readonly tailPs: Float64Array;
}

/** Returns how long the hops of messages take on free links, `slotOfRoute` [routes] each. O(transfers). */
function hopTimes({ message, route }: Hops, slotOfRoute: Float64Array): HopTimes {
  const slotPs = new Float64Array(route.length);
  for (let i = 0; i < route.length; i++) slotPs[i] = slotOfRoute[route[i]];
  return { message, route, slotPs, headPs: waysTo(message, slotPs), tailPs: waysFrom(message, slotPs) };
}

/** Returns the time from the start of each hop's message to the hop's end, on free links. */
function waysTo(message: Int32Array, slotPs: Float64Array): Float64Array {
  const way = slotPs.slice();
  for (let i = 1; i < way.length; i++) if (message[i] === message[i - 1]) way[i] += way[i - 1];
  return way;
}

/** Returns the time from the start of each hop to the end of its message, on free links. */
function waysFrom(message: Int32Array, slotPs: Float64Array): Float64Array {
  const way = slotPs.slice();
  for (let i = way.length - 2; i >= 0; i--) if (message[i] === message[i + 1]) way[i] += way[i + 1];
  return way;
}

/** Work of a link that some hops use, as their shares of it, and the least way to and from one of them. */
interface LinkWork {
  /** [links] */
  readonly busyPs: Float64Array;
  readonly leastHeadPs: Float64Array;
  readonly leastTailPs: Float64Array;
}

/** Returns the work of all links, in picoseconds. O(links of the hops). */
function workOf(
  topology: Topology,
  { linkOffset, links, shareNum, shareDen }: RouteSet,
  { route, slotPs, headPs, tailPs }: HopTimes,
): LinkWork {
  const busyPs = new Float64Array(linkCount(topology));
  const leastHeadPs = new Float64Array(busyPs.length).fill(Number.POSITIVE_INFINITY);
  const leastTailPs = leastHeadPs.slice();
  for (let i = 0; i < route.length; i++) {
    for (let k = linkOffset[route[i]]; k < linkOffset[route[i] + 1]; k++) {
      const link = links[k];
      busyPs[link] += (slotPs[i] * shareNum[k]) / shareDen[k];
      leastHeadPs[link] = Math.min(leastHeadPs[link], headPs[i] - slotPs[i]);
      leastTailPs[link] = Math.min(leastTailPs[link], tailPs[i] - slotPs[i]);
    }
  }
  return { busyPs, leastHeadPs, leastTailPs };
}

/** Returns, for each hop, how long the busiest link that its message takes after it is busy; 0 for the last hop. */
function busiestAhead(routes: RouteSet, { route, message }: HopTimes, busyPs: Float64Array): Float64Array {
  const ahead = new Float64Array(route.length);
  for (let i = route.length - 2; i >= 0; i--) {
    if (message[i] !== message[i + 1]) continue;
    const next = route[i + 1];
    ahead[i] = ahead[i + 1];
    for (let k = routes.linkOffset[next]; k < routes.linkOffset[next + 1]; k++) {
      ahead[i] = Math.max(ahead[i], busyPs[routes.links[k]]);
    }
  }
  return ahead;
}

/** Returns a time before which no schedule of these hops ends, up to the rounding of shares. */
function leastEnd({ busyPs, leastHeadPs, leastTailPs }: LinkWork, tailPs: Float64Array): number {
  let end = 0;
  for (let i = 0; i < tailPs.length; i++) if (tailPs[i] > end) end = tailPs[i];
  for (let link = 0; link < busyPs.length; link++) {
    if (busyPs[link] > 0) end = Math.max(end, leastHeadPs[link] + busyPs[link] + leastTailPs[link]);
  }
  return Math.floor(end);
}
