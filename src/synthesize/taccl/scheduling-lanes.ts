import { gcd } from "../../model/numbers/integers.ts";
import { type RouteSet, type RouteTimes, routeCount } from "../../model/routes/routes.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { tenNetwork } from "../tacos/network.ts";

/**
 * What routes take turns on: links that several share, as equal lanes of which a message takes as many as its share asks for,
 * and each route itself where no link of it is taken whole. A lane carries one message at a time.
 */
export interface Lanes {
  /** [routes + 1] route r uses resource[useOffset[r] .. useOffset[r + 1]]. */
  readonly useOffset: Int32Array;
  readonly resource: Int32Array;
  /** Lanes of the resource that the route takes. */
  readonly units: Int32Array;
  /** [resources + 1] */
  readonly laneOffset: Int32Array;
}

/** Shares that need more lanes take the whole link: it is never overfilled, at the price of some of it. */
const MOST_LANES = 64;

/** Returns the lanes of a network's routes. O(route links). */
export function lanesOf(topology: Topology, routes: RouteSet, times: RouteTimes): Lanes {
  const ten = tenNetwork(topology, routes, times);
  const step = Float64Array.from(ten.capacity);
  for (let i = 0; i < ten.useResource.length; i++) {
    step[ten.useResource[i]] = gcd(step[ten.useResource[i]], ten.useUnits[i]);
  }
  const lanes = Array.from(ten.capacity, (capacity, k) => (capacity / step[k] <= MOST_LANES ? capacity / step[k] : 1));
  const count = routeCount(routes);
  const useOffset = new Int32Array(count + 1);
  const resource: number[] = [];
  const units: number[] = [];
  for (let route = 0; route < count; route++) {
    let whole = false;
    for (let i = ten.useOffset[route]; i < ten.useOffset[route + 1]; i++) {
      const k = ten.useResource[i];
      const taken = Math.min(lanes[k], ten.useUnits[i] / step[k]);
      whole ||= taken === lanes[k];
      resource.push(k);
      units.push(taken);
    }
    if (!whole) {
      resource.push(lanes.length);
      units.push(1);
      lanes.push(1);
    }
    useOffset[route + 1] = resource.length;
  }
  const laneOffset = new Int32Array(lanes.length + 1);
  for (let k = 0; k < lanes.length; k++) laneOffset[k + 1] = laneOffset[k] + lanes[k];
  return { useOffset, resource: Int32Array.from(resource), units: Int32Array.from(units), laneOffset };
}
