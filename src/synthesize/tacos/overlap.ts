import { draw } from "../../base/random.ts";
import type { PlaceProblem, TenNetwork } from "../../engine/contract/kernels.ts";
import { orderByTime } from "../../model/numbers/ordering.ts";
import { makespanPs, type StepSchedule } from "../../model/steps/step-schedule.ts";
import type { KernelRunner } from "../synthesizer.ts";
import { assembleRows } from "./assemble.ts";

/**
 * Overlapping the two halves of an all-reduce. TACOS runs reduce-scatter and all-gather one after the other, and so leaves
 * links idle that only one half needs: a corner sends its contributions first and receives results only later. Here the
 * transfers keep their ways (the trees that the two halves found) and are rescheduled, by list scheduling: a transfer may
 * start when what it carries is complete at its source, and of those ready on a link the one with the least key goes first.
 *
 *   key = stagger * (place of the chunk in an order) - (time that still lies behind this transfer on its trees)
 *
 * stagger 0 finishes all reductions before it spreads results, a large one finishes chunk after chunk; between them chunks
 * follow each other like pieces of a pipeline. A try is a list schedule, then one backwards in time from its ends and one
 * forwards from the starts of that (justification; Li and Willis 1992). After some staggers and orders the best schedules
 * walk: their starts, shaken by a slot or two, are the keys of the next try, and a result that is not longer replaces them
 * (iterated local search). 4x4 mesh without two NPUs, 4 chunks: 1541 us by staggers alone, 1492.5 (the bound) with walks;
 * 8x8 mesh: 18,482 and 17,138. Shakes of whole chunks, 4 or 8 walkers instead of 2, other widths (0.25, 4, 8 slots), a
 * second criterion among equals, and trees from other trials reached no more, or the same after more tries. Where routes
 * share the ports of switches nothing was gained so far (DGX and NDv2 boxes).
 */

/** Tries for each trial that a phase may have; more only where the caller asks for more than the usual trials. */
const TRIES_PER_TRIAL = 32;
const USUAL_TRIALS = 64;
/**
 * Steps of all tries: one or two seconds of native kernels, up to five where the transfers outgrow the caches. One try where
 * that is too few, none above the limits below.
 */
const MOST_STEPS = 2e7;
const MOST_TRANSFERS = 5e6;
const MOST_PAIRS = 5e7;
const MOST_KEYS = 2e8;
/** Keys are starts and a few slots more, and must stay exact. */
const LATEST_PS = 2 ** 50;
/** In units of (bound / chunks). */
const STAGGERS = [0.5, 0.25, 0.75, 1, 0, 1.5];
const FIRST_TRIES = 2 * STAGGERS.length;
const WALKERS = 2;
/** Widths of the shakes, in slots. */
const SHAKES = [1, 2];
/** Draws of the walks begin at this counter, after those of the orders. */
const WALK_DRAWS = 2 ** 20;

export interface OverlapOptions {
  /** A lower bound of the end; nothing more is tried where it is reached. */
  readonly targetPs: number;
  readonly seed: number;
  /** As in SynthesisRequest. */
  readonly trials: number | null;
  readonly runner: KernelRunner;
  readonly progress?: (done: number, total: number) => void;
}

/** A schedule of the transfers. */
export interface Found {
  readonly startPs: Float64Array;
  readonly endPs: number;
  readonly how: string;
}

/**
 * Returns the place of every chunk in order `variant`: the second as numbered, the others at random, which does better: 10x10
 * mesh, 64 chunks per NPU: 0.80 of the bound at the first try, and 0.74.
 */
function chunkPlaces(chunkCount: number, variant: number, seed: number): Float64Array {
  const places = new Float64Array(chunkCount);
  if (variant === 1) return places.map((_, c) => c);
  const drawn = Uint32Array.from({ length: chunkCount }, (_, c) => draw(seed, variant, c));
  const order = Array.from({ length: chunkCount }, (_, c) => c).sort((a, b) => drawn[a] - drawn[b] || a - b);
  order.forEach((c, place) => {
    places[c] = place;
  });
  return places;
}

/** Returns how many steps a try costs: three placements, each of every transfer, its pairs and the routes it contends with. */
function stepsOf({ forward }: Precedence): number {
  const { network, route, successor } = forward;
  const { useOffset, useResource, capacity } = network;
  const users = new Int32Array(capacity.length);
  for (let i = 0; i < useResource.length; i++) users[useResource[i]]++;
  let rivals = 0;
  for (let i = 0; i < route.length; i++) {
    for (let k = useOffset[route[i]]; k < useOffset[route[i] + 1]; k++) rivals += users[useResource[k]];
  }
  return 3 * (route.length + successor.length / 4 + rivals / 4);
}

/** Returns when the last transfer ends. */
function endOf(startPs: Float64Array, slotPs: Float64Array): number {
  let end = 0;
  for (let i = 0; i < startPs.length; i++) if (startPs[i] + slotPs[i] > end) end = startPs[i] + slotPs[i];
  return end;
}

/** Returns the starts seen backwards in time from `end`. */
function backwards(startPs: Float64Array, slotPs: Float64Array, end: number): Float64Array {
  const turned = new Float64Array(startPs.length);
  for (let i = 0; i < turned.length; i++) turned[i] = end - startPs[i] - slotPs[i];
  return turned;
}

/** Returns one try from a key, as far as need be to end by `enoughPs`; see the head of this file. */
export async function attempt(
  precedence: Pick<Precedence, "forward" | "backward" | "slotPs">,
  runner: Pick<KernelRunner, "place">,
  key: Float64Array,
  enoughPs: number,
  how: string,
): Promise<Found> {
  const { forward, backward, slotPs } = precedence;
  const first = await runner.place({ ...forward, key });
  const firstEnd = endOf(first, slotPs);
  if (firstEnd <= enoughPs) return { startPs: first, endPs: firstEnd, how };
  const turned = await runner.place({ ...backward, key: backwards(first, slotPs, firstEnd) });
  const turnedEnd = endOf(turned, slotPs);
  const justified = backwards(turned, slotPs, turnedEnd);
  if (turnedEnd <= enoughPs) return { startPs: justified, endPs: turnedEnd, how };
  const again = await runner.place({ ...forward, key: justified });
  const againEnd = endOf(again, slotPs);
  if (againEnd < Math.min(firstEnd, turnedEnd)) return { startPs: again, endPs: againEnd, how };
  return turnedEnd < firstEnd
    ? { startPs: justified, endPs: turnedEnd, how }
    : { startPs: first, endPs: firstEnd, how };
}

/**
 * Returns the schedule with its transfers moved to overlap where that is shorter, and how; the schedule itself otherwise.
 * Deterministic in the seed, whatever the width of the runner.
 */
export async function overlapped(
  schedule: StepSchedule,
  network: TenNetwork,
  options: OverlapOptions,
): Promise<{ readonly schedule: StepSchedule; readonly tries: number; readonly how: string | null }> {
  const { targetPs, seed, runner, progress } = options;
  const { chunk, collective, topology } = schedule;
  const { chunkCount } = collective;
  const plannedPs = makespanPs(schedule);
  const tooMuch = chunkCount * topology.npuCount > MOST_KEYS || chunk.length > MOST_TRANSFERS || plannedPs > LATEST_PS;
  const precedence = tooMuch || plannedPs <= targetPs ? null : precedenceOf(schedule, network, MOST_PAIRS);
  if (precedence === null) return { schedule, tries: 0, how: null };
  const { slotPs, tailPs } = precedence;
  const enoughPs = Math.max(targetPs, precedence.leastPs);
  const trials = options.trials ?? USUAL_TRIALS;
  const steps = MOST_STEPS * Math.max(1, trials / USUAL_TRIALS);
  const total = Math.max(1, Math.min(TRIES_PER_TRIAL * trials, Math.floor(steps / stepsOf(precedence))));
  const slot = slotPs.reduce((sum, ps) => sum + ps, 0) / slotPs.length;
  let best: Found = { startPs: schedule.startPs, endPs: plannedPs, how: "" };
  let tries = 0;

  /** Runs tries as many at a time as the runner can; those behind the first that is short enough do not count. */
  const run = async (keys: readonly (() => Float64Array)[], how: (k: number) => string): Promise<Found[]> => {
    const done: Found[] = [];
    const width = Math.max(1, runner.width);
    for (let from = 0; from < keys.length && best.endPs > enoughPs; from += width) {
      const wave = keys
        .slice(from, from + width)
        .map((key, i) => attempt(precedence, runner, key(), enoughPs, how(from + i)));
      for (const next of await Promise.all(wave)) {
        if (best.endPs <= enoughPs) break;
        done.push(next);
        if (next.endPs < best.endPs) best = next;
      }
      progress?.(tries + done.length, total);
    }
    tries += done.length;
    return done;
  };

  const staggered = (k: number): Float64Array => {
    const step = Math.floor((STAGGERS[k % STAGGERS.length] * targetPs) / chunkCount);
    const places = chunkPlaces(chunkCount, Math.floor(k / STAGGERS.length), seed);
    const key = new Float64Array(chunk.length);
    for (let i = 0; i < key.length; i++) key[i] = step * places[chunk[i]] - tailPs[i];
    return key;
  };
  const shaken = (startPs: Float64Array, k: number): Float64Array => {
    const width = slot * SHAKES[Math.floor(k / WALKERS) % SHAKES.length];
    const key = new Float64Array(startPs.length);
    for (let i = 0; i < key.length; i++) {
      key[i] = startPs[i] + Math.floor((draw(seed, WALK_DRAWS + k, i) / 4294967296 - 0.5) * width);
    }
    return key;
  };

  const orders = Math.min(total, Math.max(FIRST_TRIES, Math.ceil(total / 10)));
  const staggers = Array.from({ length: orders }, (_, k) => () => staggered(k));
  const found = await run(staggers, (k) => `stagger ${STAGGERS[k % STAGGERS.length]}`);
  const walkers = found.sort((a, b) => a.endPs - b.endPs).slice(0, WALKERS);
  while (tries < total && best.endPs > enoughPs) {
    const shakes = walkers.slice(0, total - tries).map(({ startPs }, w) => {
      const k = tries + w;
      return () => shaken(startPs, k);
    });
    for (const [w, next] of (await run(shakes, () => "walk")).entries()) {
      if (next.endPs <= walkers[w].endPs) walkers[w] = next;
    }
  }
  if (best.endPs === plannedPs) return { schedule, tries, how: null };
  return { schedule: assembleRows(schedule, best.startPs, slotPs), tries, how: best.how };
}

/** Which transfers of a schedule wait for which, when they move only in time and not to other routes or trees. */
interface Precedence {
  /** A transfer's successors are those that leave its target with its chunk, and that the schedule starts after its end. */
  readonly forward: Omit<PlaceProblem, "key">;
  /** The same backwards in time: successors are predecessors. */
  readonly backward: Omit<PlaceProblem, "key">;
  /** [transfers] */
  readonly slotPs: Float64Array;
  /** [transfers] longest time from the start of this transfer to the end of all that builds on it. */
  readonly tailPs: Float64Array;
  /** No schedule of these transfers ends earlier: a path, or all that a route or resource must do, with what lies before and behind. */
  readonly leastPs: number;
}

/** Transfers that leave (chunk, NPU): rows[offset[key] .. offset[key + 1]], key = chunk * NPUs + NPU. */
function departuresOf({ topology, collective, routes, chunk, route }: StepSchedule) {
  const npus = topology.npuCount;
  const keys = collective.chunkCount * npus;
  const offset = new Int32Array(keys + 1);
  for (let i = 0; i < chunk.length; i++) offset[chunk[i] * npus + routes.source[route[i]] + 1]++;
  for (let k = 0; k < keys; k++) offset[k + 1] += offset[k];
  const next = offset.slice(0, keys);
  const rows = new Int32Array(chunk.length);
  for (let i = 0; i < chunk.length; i++) rows[next[chunk[i] * npus + routes.source[route[i]]]++] = i;
  return { offset, rows };
}

/** Returns the successors of every transfer, or null when there are more than `most` in all. O(transfers + pairs of neighbours). */
function successorsOf(schedule: StepSchedule, most: number) {
  const { topology, routes, chunk, route, startPs, endPs } = schedule;
  const departures = departuresOf(schedule);
  const offset = new Int32Array(chunk.length + 1);
  // Rows are in order of start, and so are the departures of one key: the successors are the last of them.
  const first = new Int32Array(chunk.length);
  let count = 0;
  for (let i = 0; i < chunk.length && count <= most; i++) {
    const key = chunk[i] * topology.npuCount + routes.target[route[i]];
    const behind = departures.offset[key + 1];
    let k = departures.offset[key];
    while (k < behind && startPs[departures.rows[k]] < endPs[i]) k++;
    first[i] = k;
    count += behind - k;
    offset[i + 1] = count;
  }
  if (count > most) return null;
  const items = new Int32Array(count);
  for (let i = 0; i < chunk.length; i++) {
    for (let at = offset[i], k = first[i]; at < offset[i + 1]; at++, k++) items[at] = departures.rows[k];
  }
  return { offset, items };
}

function transposed({ offset, items }: { readonly offset: Int32Array; readonly items: Int32Array }) {
  const count = offset.length - 1;
  const back = new Int32Array(count + 1);
  for (let k = 0; k < items.length; k++) back[items[k] + 1]++;
  for (let i = 0; i < count; i++) back[i + 1] += back[i];
  const next = back.slice(0, count);
  const rows = new Int32Array(items.length);
  for (let i = 0; i < count; i++) {
    for (let k = offset[i]; k < offset[i + 1]; k++) rows[next[items[k]]++] = i;
  }
  return { offset: back, items: rows };
}

/** Returns the longest time from the start of each transfer to the end of its successors; `order` has successors first. */
function tails(
  lists: { offset: Int32Array; items: Int32Array },
  slotPs: Float64Array,
  order: Uint32Array,
): Float64Array {
  const tailPs = new Float64Array(slotPs.length);
  for (const i of order) {
    let behind = 0;
    for (let k = lists.offset[i]; k < lists.offset[i + 1]; k++) behind = Math.max(behind, tailPs[lists.items[k]]);
    tailPs[i] = behind + slotPs[i];
  }
  return tailPs;
}

/**
 * Returns a time before which no schedule of these transfers ends: for every route or resource and every set of its
 * transfers with the longest heads, the least head, all their slots, and the least time behind one of them. Shares of a
 * resource are rounded: good enough to end a search.
 */
function leastEnd(
  network: TenNetwork,
  route: Int32Array,
  slotPs: Float64Array,
  ahead: Float64Array,
  behind: Float64Array,
) {
  const { useOffset, useResource, useUnits, capacity } = network;
  const routes = network.slotPs.length;
  const busy = new Float64Array(routes + capacity.length);
  const least = new Float64Array(routes + capacity.length).fill(Number.POSITIVE_INFINITY);
  let end = 0;
  const add = (machine: number, i: number, time: number): void => {
    busy[machine] += time;
    least[machine] = Math.min(least[machine], behind[i] - slotPs[i]);
    end = Math.max(end, ahead[i] - slotPs[i] + busy[machine] + least[machine]);
  };
  for (const i of orderByTime(ahead).reverse()) {
    const r = route[i];
    add(r, i, slotPs[i]);
    for (let k = useOffset[r]; k < useOffset[r + 1]; k++) {
      add(routes + useResource[k], i, (slotPs[i] * useUnits[k]) / capacity[useResource[k]]);
    }
  }
  return Math.floor(end);
}

/** Returns what waits for what in a schedule, or null when there are more than `most` pairs. O(transfers log transfers + pairs). */
function precedenceOf(schedule: StepSchedule, network: TenNetwork, most: number): Precedence | null {
  const successors = successorsOf(schedule, most);
  if (successors === null) return null;
  const predecessors = transposed(successors);
  const route = Int32Array.from(schedule.route);
  const slotPs = Float64Array.from(route, (r) => network.slotPs[r]);
  const byStart = orderByTime(schedule.startPs);
  const headPs = tails(predecessors, slotPs, byStart);
  const tailPs = tails(successors, slotPs, byStart.slice().reverse());
  const least = leastEnd(network, route, slotPs, headPs, tailPs);
  return {
    forward: { network, route, successorOffset: successors.offset, successor: successors.items },
    backward: { network, route, successorOffset: predecessors.offset, successor: predecessors.items },
    slotPs,
    tailPs,
    leastPs: Math.max(least, leastEnd(network, route, slotPs, tailPs, headPs)),
  };
}
