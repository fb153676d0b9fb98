import type { SketchNetwork } from "../../model/sketch/sketch.ts";
import { linkCount } from "../../model/topology/topology.ts";
import type { RoutingCosts } from "./routing-costs.ts";
import type { RoutingOptions } from "./routing-options.ts";
import type { RoutingSymmetry } from "./routing-symmetry.ts";

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
export function linkLoads(
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
