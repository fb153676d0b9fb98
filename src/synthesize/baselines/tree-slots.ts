import { disjointSets } from "../../model/graph/disjoint-sets.ts";
import { edgeColours } from "../../model/graph/edge-colouring.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import type { RouteSet, RouteTimes } from "../../model/routes/routes.ts";

/** A cycle that repeats for ever: in each, every hop sends once, at its offset into the cycle. */
export interface Cycle {
  readonly ps: number;
  /** [hops] 0 .. ps - 1. */
  readonly offsetPs: Float64Array;
}

/** Returns the most loaded link of the first half of each route, and of the second: the same where a route is a single link. */
function portsOf({ linkOffset, links }: RouteSet, load: Float64Array): { out: Int32Array; into: Int32Array } {
  const busiest = (from: number, to: number): number => {
    let best = links[from];
    for (let k = from + 1; k < to; k++) if (load[links[k]] > load[best]) best = links[k];
    return best;
  };
  const routes = linkOffset.length - 1;
  const out = new Int32Array(routes);
  const into = new Int32Array(routes);
  for (let route = 0; route < routes; route++) {
    const [from, to] = [linkOffset[route], linkOffset[route + 1]];
    const middle = Math.floor((from + to) / 2);
    out[route] = busiest(from, Math.max(middle, from + 1));
    into[route] = busiest(Math.min(middle, to - 1), to);
  }
  return { out, into };
}

/**
 * Returns a cycle as long as the busiest link is busy when every hop sends once, with offsets so that hops which leave through one
 * port, or arrive through one, take turns: ports that meet in hops are a bipartite graph, whose edges are coloured, and colours
 * are spread over the cycle. `routeOf`: [hops]. O(hops x ports) at most.
 */
export function cycleOf(links: number, routes: RouteSet, { serialPs }: RouteTimes, routeOf: Int32Array): Cycle {
  const load = new Float64Array(links);
  for (const route of routeOf) {
    for (let k = routes.linkOffset[route]; k < routes.linkOffset[route + 1]; k++) {
      load[routes.links[k]] += serialPs[route];
    }
  }
  const ps = load.reduce((a, b) => Math.max(a, b), 0);
  const { out, into } = portsOf(routes, load);
  const together = disjointSets(2 * links);
  for (const route of routeOf) together.join(out[route], links + into[route]);
  const part = routeOf.map((route) => together.least(out[route]));
  const { offset, items } = groupedBy(part, links);
  const offsetPs = new Float64Array(routeOf.length);
  for (let first = 0; first < links; first++) {
    const hops = items.subarray(offset[first], offset[first + 1]);
    if (hops.length === 0) continue;
    const { colour, count } = edgeColours(
      compact(hops.map((hop) => out[routeOf[hop]])),
      compact(hops.map((hop) => into[routeOf[hop]])),
    );
    hops.forEach((hop, i) => {
      offsetPs[hop] = Math.floor((colour[i] * ps) / count);
    });
  }
  return { ps, offsetPs };
}

/** Returns numbers 0, 1, ... in the order in which they first occur. */
function compact(numbers: Int32Array): Int32Array {
  const known = new Map<number, number>();
  return numbers.map((number) => {
    const seen = known.get(number) ?? known.size;
    known.set(number, seen);
    return seen;
  });
}
