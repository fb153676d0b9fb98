import type { SketchNetwork } from "../../model/sketch/sketch-network.ts";
import type { RoutingCosts } from "./routing-costs.ts";
import { type LinkLoads, linkLoads } from "./routing-load.ts";
import type { ChunkOptions, RoutingOptions } from "./routing-options.ts";
import type { RoutingSymmetry } from "./routing-symmetry.ts";

export interface GreedyRouting {
  /** Options, ascending. */
  readonly taken: Int32Array;
  /** Of the busiest link or of the longest way, whichever takes longer. */
  readonly timePs: number;
  /** By how much chunks come later to NPUs than by shortest ways, in all. */
  readonly latePs: number;
}

/** Rounds of rerouting: at most, without a better one, and such that all together look at about so many loads. */
const MOST_ROUNDS = 60;
const PATIENCE = 12;
const MOST_WORK = 3e8;
/** What a link that was too busy costs more in the next round. */
const PRICE_RISE = 1.25;
/** What it costs to come late, in parts of the goal: a little, and much once it is after the goal. */
const LATE = 0.02;
const TOO_LATE = 4;

/**
 * Returns the best of several rounds in which chunk after chunk is taken off its links and routed anew, target after target in
 * the chunk's order, each over the way that costs least: loads weigh by the fourth power of how busy the link would be, times a
 * price that rises while it is busier than `goalPs` (negotiated congestion). Ends early where nothing is over the goal and
 * no chunk comes late, or where time is over. O(rounds * options * images * route length).
 */
export async function greedyRouting(
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
