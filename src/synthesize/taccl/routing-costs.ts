import type { Rational } from "../../model/numbers/rational.ts";
import { type RouteTimes, routeCount, routeTimes } from "../../model/routes/routes.ts";
import type { SketchNetwork } from "../../model/sketch/sketch.ts";

/**
 * What chunks cost the links that they pass: `eachPs` for every chunk, `oncePs` for each route that carries any. Sends between
 * boxes may be merged, so there latency counts once (TACCL, section 5.1); its own routing counts alpha for every chunk.
 */
export interface RoutingCosts {
  readonly times: RouteTimes;
  /** [routes] */
  readonly eachPs: Float64Array;
  /** [routes] */
  readonly oncePs: Float64Array;
  /** [route links] part of the link's time that the route takes, 0 to 1. */
  readonly share: Float64Array;
}

/** Returns the costs of chunks of so many bytes. O(route links). */
export function routingCosts(network: SketchNetwork, chunkBytes: Rational): RoutingCosts {
  const { routes, leavesBox } = network;
  const times = routeTimes(network.topology, routes, chunkBytes);
  const count = routeCount(routes);
  const eachPs = new Float64Array(count);
  const oncePs = new Float64Array(count);
  for (let route = 0; route < count; route++) {
    eachPs[route] = leavesBox[route] === 1 ? times.serialPs[route] : times.slotPs[route];
    oncePs[route] = leavesBox[route] === 1 ? times.latencyPs[route] : 0;
  }
  return { times, eachPs, oncePs, share: routes.shareNum.map((num, i) => num / routes.shareDen[i]) };
}

/** Returns the costs where sends may be merged on every route: what no schedule can go below. */
export const mergedCosts = (costs: RoutingCosts): RoutingCosts => ({
  ...costs,
  eachPs: costs.times.serialPs,
  oncePs: costs.times.latencyPs,
});
