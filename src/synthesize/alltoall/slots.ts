import type { PlaceProblem } from "../../engine/contract/kernels.ts";
import type { RouteTimes } from "../../model/routes/routes.ts";
import { switchCount, type Topology } from "../../model/topology/topology.ts";
import type { KernelRunner } from "../synthesizer.ts";
import { tenNetwork } from "../tacos/network.ts";
import { attempt, type Found } from "../tacos/overlap.ts";
import { busiestAhead, hopTimes, leastEnd, workOf } from "./hop-times.ts";
import { byRounds, farthestFirst, shaken } from "./keys.ts";
import type { Hops } from "./transfers.ts";

/**
 * Problem: when each hop goes, its path being fixed, so that the last ends early. With congestion C (how long the busiest link
 * must work) and dilation D (the longest path) no schedule is shorter than either, and one of C + D nearly always exists
 * (Leighton, Maggs and Rao 1994).
 *
 * List scheduling: of the hops that are ready, an idle route starts the one with the least key, here the farthest to go; in
 * further tries what lies ahead counts by how busy its links are, and equal ones go in a drawn order. Where there are switches
 * the first try takes them in rounds. A try is a list schedule,
 * one backwards in time from its ends and one forwards from the starts of that (attempt, ../tacos/overlap.ts). The best two
 * then walk: their starts, shaken by a slot or two, are the keys of the next try.
 */

/** Tries for each trial that a request may have. */
const TRIES_PER_TRIAL = 2;
const USUAL_TRIALS = 64;
/** Hops placed by all tries: one or two seconds of native kernels. */
const MOST_STEPS = 1.2e7;
const PLACEMENTS = 3;
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
  /** The least that any schedule of these hops takes: the busiest link with the least way to and from it, or a whole path. */
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
  const leastPs = leastEnd(work, tailPs);
  const precedence = { forward, backward, slotPs };
  const wanted = TRIES_PER_TRIAL * (trials ?? USUAL_TRIALS);
  const affordable = Math.floor(
    (MOST_STEPS * Math.max(1, (trials ?? USUAL_TRIALS) / USUAL_TRIALS)) / (PLACEMENTS * route.length),
  );
  const total = Math.max(1, Math.min(wanted, affordable));
  const slot = slotPs.reduce((sum, ps) => sum + ps, 0) / slotPs.length;

  /** Rounds first, which suit switches best: links between NPUs alone are always free for somebody. */
  const crossings = switchCount(topology) === 0 ? null : byRounds(topology, routes, hops, work.busyPs);
  const first = (k: number): Float64Array => {
    if (k === 0 && crossings !== null) return crossings;
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
