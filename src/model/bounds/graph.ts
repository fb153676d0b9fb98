import { type Graph, type Grouped, graph, groupedBy } from "../graph.ts";
import type { RouteSet, RouteTimes } from "../routes.ts";
import type { Topology } from "../topology.ts";
import { nodeCount } from "../topology.ts";

/** A topology with its routes, indexed; what the chunked bounds work on. */
export interface RouteView {
  readonly topology: Topology;
  readonly routes: RouteSet;
  /** [routes] */
  readonly slotPs: Float64Array;
  /** Routes by target NPU. */
  readonly entering: Grouped;
  /** Routes by source NPU. */
  readonly leaving: Grouped;
  /** [links] scratch of `capacityOf`: all -1 between calls. */
  readonly lastEntry: Int32Array;
}

export function routeView(topology: Topology, routes: RouteSet, times: RouteTimes): RouteView {
  const nodes = nodeCount(topology);
  return {
    topology,
    routes,
    slotPs: times.slotPs,
    entering: groupedBy(routes.target, nodes),
    leaving: groupedBy(routes.source, nodes),
    lastEntry: new Int32Array(topology.linkSource.length).fill(-1),
  };
}

/** Returns the routes as a graph of the NPUs, weighted by slot. */
export function slotGraph(view: RouteView): Graph {
  return graph(view.topology.npuCount, view.routes.source, view.routes.target, view.slotPs);
}
