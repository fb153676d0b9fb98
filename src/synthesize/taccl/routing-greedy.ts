import type { SketchNetwork } from "../../model/sketch-network.ts";
import type { RoutingCosts } from "./routing-costs.ts";
import { type LinkLoads, linkLoads } from "./routing-load.ts";
import type { ChunkOptions, RoutingOptions } from "./routing-options.ts";
import type { RoutingSymmetry } from "./routing-symmetry.ts";

export interface GreedyRouting {
  /** Options, ascending. */
  readonly taken: Int32Array;
  readonly busiestPs: number;
  readonly detourPs: number;
}

/** Rounds of rerouting: at most, without a better one, and such that all together look at about so many loads. */
const MOST_ROUNDS = 60;
const PATIENCE = 12;
const MOST_WORK = 3e8;
/** What a link that was too busy costs more in the next round. */
const PRICE_RISE = 1.25;

/**
 * Returns the best of several rounds in which chunk after chunk is taken off its links and routed anew, target after target in
 * the chunk's order, each over the way that costs least: loads weigh by the fourth power of how busy the link would be, times a
 * price that rises while it is busier than `goalPs` (negotiated congestion). Ends early where nothing is busier than the goal and
 * no chunk makes a detour. O(rounds * options * images * route length).
 */
export function greedyRouting(
  network: SketchNetwork,
  costs: RoutingCosts,
  symmetry: RoutingSymmetry,
  options: RoutingOptions,
  goalPs: number,
): GreedyRouting {
  const loads = linkLoads(network, costs, symmetry, options);
  const price = new Float64Array(loads.loadPs.length).fill(1);
  const taken: number[][] = options.chunks.map(() => []);
  const rounds = Math.max(2, Math.min(MOST_ROUNDS, Math.floor(MOST_WORK / Math.max(1, options.link.length))));
  let best: GreedyRouting | null = null;
  for (let round = 0, last = 0; round < rounds && round - last < PATIENCE; round++) {
    options.chunks.forEach((chunk, k) => {
      for (const option of taken[k]) loads.giveBack(option);
      taken[k] = routed(network, options, chunk, loads, price, goalPs);
    });
    const busiestPs = Math.floor(loads.loadPs.reduce((most, ps) => Math.max(most, ps), 0));
    const all = taken.flat();
    const detourPs = all.reduce((sum, option) => sum + options.detourPs[option], 0);
    const isBetter =
      best === null ||
      Math.max(busiestPs, goalPs) < Math.max(best.busiestPs, goalPs) ||
      (Math.max(busiestPs, goalPs) === Math.max(best.busiestPs, goalPs) && detourPs < best.detourPs);
    if (isBetter) {
      best = { taken: Int32Array.from(all).sort(), busiestPs, detourPs };
      last = round;
    }
    if (busiestPs <= goalPs && detourPs === 0) break;
    loads.loadPs.forEach((ps, link) => {
      if (ps > goalPs) price[link] *= PRICE_RISE;
    });
  }
  return best as GreedyRouting;
}

/** Routes one chunk; returns its options, which the loads hold then. */
function routed(
  { routes }: SketchNetwork,
  { route, detourPs }: RoutingOptions,
  { isHolder, isTarget, order, into }: ChunkOptions,
  loads: LinkLoads,
  price: Float64Array,
  goalPs: number,
): number[] {
  const { loadPs } = loads;
  const goal = Math.max(goalPs, 1);
  const inTree = isHolder.slice();
  const chosen: number[] = [];
  const costOf = (option: number): number => {
    let cost = (0.02 * detourPs[option]) / goal + 1e-6;
    loads.wouldAdd(option, (link, ps) => {
      const busy = (loadPs[link] + ps) / goal;
      cost += (ps / goal) * (busy * busy * busy * busy + 0.001) * price[link];
    });
    return cost;
  };
  for (const target of order) {
    if (isTarget[target] === 0 || inTree[target] === 1) continue;
    const known = new Map<number, readonly [cost: number, option: number]>();
    const cheapest = (npu: number): number => {
      if (inTree[npu] === 1) return 0;
      const before = known.get(npu);
      if (before !== undefined) return before[0];
      let least = Number.POSITIVE_INFINITY;
      let choice = -1;
      for (const option of into.get(npu) ?? []) {
        const cost = cheapest(routes.source[route[option]]) + costOf(option);
        if (cost >= least) continue;
        least = cost;
        choice = option;
      }
      known.set(npu, [least, choice]);
      return least;
    };
    cheapest(target);
    for (let npu = target; inTree[npu] === 0; ) {
      const option = (known.get(npu) as readonly [number, number])[1];
      inTree[npu] = 1;
      chosen.push(option);
      loads.take(option);
      npu = routes.source[route[option]];
    }
  }
  return chosen;
}
