import { type Grouped, groupedOnce } from "../graph/graph.ts";
import { nodeCount, type Topology } from "../topology/topology.ts";
import type { Charged } from "./capacity.ts";
import type { RouteView } from "./graph.ts";

/** Marks one set of nodes at a time, without clearing. */
export interface Sides {
  readonly stamp: Int32Array;
  current: number;
}

export const sidesOf = (topology: Topology): Sides => ({ stamp: new Int32Array(nodeCount(topology)), current: 0 });

export function markSet(sides: Sides, nodes: ArrayLike<number>): void {
  sides.current++;
  for (let i = 0; i < nodes.length; i++) sides.stamp[nodes[i]] = sides.current;
}

/**
 * Returns the routes from an NPU outside the marked set to an NPU inside it ("in") or the other way ("out"), each charged
 * to the first link on its way that crosses the border in that direction. O(routes at the set's NPUs).
 */
export function crossingRoutes(
  view: RouteView,
  sides: Sides,
  nodes: ArrayLike<number>,
  direction: "in" | "out",
): Charged {
  const { routes, topology } = view;
  const { linkOffset, links } = routes;
  const { linkSource, linkTarget, npuCount } = topology;
  const { stamp, current } = sides;
  const { offset, items } = direction === "in" ? view.entering : view.leaving;
  const other = direction === "in" ? routes.source : routes.target;
  const from = direction === "in" ? linkSource : linkTarget;
  const to = direction === "in" ? linkTarget : linkSource;
  const charged: Charged = { route: [], position: [] };
  for (let n = 0; n < nodes.length; n++) {
    const npu = nodes[n];
    if (npu >= npuCount) continue;
    for (let i = offset[npu]; i < offset[npu + 1]; i++) {
      const route = items[i];
      if (stamp[other[route]] === current) continue;
      let position = linkOffset[route];
      while (stamp[from[links[position]]] === current || stamp[to[links[position]]] !== current) position++;
      charged.route.push(route);
      charged.position.push(position);
    }
  }
  return charged;
}

/**
 * Returns the bandwidth, bytes per second, of the links to which routes are charged: a link counts with the shares of its routes
 * together, once at most.
 */
export function chargedBandwidth({ topology, routes }: RouteView, { position }: Charged): number {
  const { links, shareNum, shareDen } = routes;
  const shares = new Map<number, number>();
  for (const i of position) shares.set(links[i], (shares.get(links[i]) ?? 0) + shareNum[i] / shareDen[i]);
  let sum = 0;
  for (const [link, share] of shares) sum += topology.linkBytesPerSecond[link] * (share > 1 - 1e-9 ? 1 : share);
  return sum;
}

/** Physical links by node, both ways. */
export interface Ports {
  readonly entering: Grouped;
  readonly leaving: Grouped;
}

export function portsOf(topology: Topology): Ports {
  const nodes = nodeCount(topology);
  return { entering: groupedOnce(topology.linkTarget, nodes), leaving: groupedOnce(topology.linkSource, nodes) };
}

/** Returns the bandwidth, bytes per second, of the links that enter and that leave the marked set. */
export function crossingBandwidth(
  topology: Topology,
  ports: Ports,
  sides: Sides,
  nodes: ArrayLike<number>,
): { into: number; outOf: number } {
  const { linkSource, linkTarget, linkBytesPerSecond } = topology;
  const { stamp, current } = sides;
  let into = 0;
  let outOf = 0;
  for (let n = 0; n < nodes.length; n++) {
    const v = nodes[n];
    for (let i = ports.entering.offset[v]; i < ports.entering.offset[v + 1]; i++) {
      const link = ports.entering.items[i];
      if (stamp[linkSource[link]] !== current) into += linkBytesPerSecond[link];
    }
    for (let i = ports.leaving.offset[v]; i < ports.leaving.offset[v + 1]; i++) {
      const link = ports.leaving.items[i];
      if (stamp[linkTarget[link]] !== current) outOf += linkBytesPerSecond[link];
    }
  }
  return { into, outOf };
}
