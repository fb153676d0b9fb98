import { commonValue, type Graph, type Grouped, groupedOnce } from "../graph/graph.ts";
import type { RouteSet, RouteTimes } from "../routes/routes.ts";
import { nodeCount, type Topology } from "../topology/topology.ts";

/** A topology with its routes, indexed; what the chunked bounds work on. */
export interface RouteView {
  readonly topology: Topology;
  readonly routes: RouteSet;
  /** [routes] least time of a chunk on the route. */
  readonly slotPs: Float64Array;
  /** [routes] how many chunks pass: no more than floor((time - leadPs) / pacePs), where any do. */
  readonly pacePs: Float64Array;
  /** [routes] null: 0. */
  readonly leadPs: Float64Array | null;
  /** Routes by target NPU. */
  readonly entering: Grouped;
  /** Routes by source NPU. */
  readonly leaving: Grouped;
  /** Every route is one link, which no other route uses. */
  readonly direct: boolean;
  /** [links] scratch of `capacityOf`: all -1 between calls. */
  readonly lastEntry: Int32Array;
}

/** Returns the view; `merged`: chunks may go together and pay the latencies of a route once, else each has a slot. */
export function routeView(topology: Topology, routes: RouteSet, times: RouteTimes, merged = false): RouteView {
  const nodes = nodeCount(topology);
  return {
    topology,
    routes,
    slotPs: times.slotPs,
    pacePs: merged ? times.serialPs : times.slotPs,
    leadPs: merged ? times.latencyPs : null,
    entering: groupedOnce(routes.target, nodes),
    leaving: groupedOnce(routes.source, nodes),
    direct: isDirect(topology, routes),
    lastEntry: new Int32Array(topology.linkSource.length).fill(-1),
  };
}

function isDirect(topology: Topology, { links, source }: RouteSet): boolean {
  if (links.length !== source.length) return false;
  const used = new Uint8Array(topology.linkSource.length);
  for (let i = 0; i < links.length; i++) {
    if (used[links[i]] === 1) return false;
    used[links[i]] = 1;
  }
  return true;
}

/** Returns the view of the network and its routes turned around; `routes` are the reversed ones. Shares the columns. */
export function reversedView(view: RouteView, topology: Topology, routes: RouteSet): RouteView {
  return { ...view, topology, routes, entering: view.leaving, leaving: view.entering };
}

/** Returns the routes as a graph of the NPUs, weighted by slot; backwards, as a graph of the routes turned around. */
export function slotGraph({ topology, routes, slotPs, entering, leaving }: RouteView, backwards = false): Graph {
  return {
    nodes: topology.npuCount,
    head: backwards ? routes.source : routes.target,
    weight: slotPs,
    leaving: backwards ? entering : leaving,
    uniform: commonValue(slotPs),
  };
}

/**
 * Returns whether this many transfers can end by a time over the NPU's own routes, in or out; `release` as for `capacityOf`.
 * For views whose routes are direct. O(routes of the NPU).
 */
export function fitsAtNpu(
  view: RouteView,
  npu: number,
  direction: "in" | "out",
  release: Float64Array | null,
  transfers: number,
  time: number,
): boolean {
  if (transfers === 0) return true;
  const { pacePs, leadPs, routes } = view;
  const { offset, items } = direction === "in" ? view.entering : view.leaving;
  let sum = 0;
  for (let i = offset[npu]; i < offset[npu + 1]; i++) {
    const route = items[i];
    const start = (release === null ? 0 : release[routes.source[route]]) + (leadPs === null ? 0 : leadPs[route]);
    if (time > start) sum += Math.floor((time - start) / pacePs[route]);
    if (sum >= transfers) return true;
  }
  return false;
}
