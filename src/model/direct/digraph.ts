import type { Topology } from "../topology/topology.ts";
import { topologyBuilder } from "../topology/topology-builder.ts";

/**
 * A direct-connect network as a directed graph, before bandwidths: what families, expansions and schedules of comm steps
 * count on (Zhao 2026, 3.3.1). Arc ids are positions in `target`, so they ascend with the node that they leave. Parallel
 * arcs and self-loops are allowed; a self-loop takes a port and never carries anything.
 */
export interface Digraph {
  readonly nodes: number;
  /** [nodes + 1] Arcs that leave v: offset[v] .. offset[v + 1]. */
  readonly offset: Int32Array;
  /** [arcs] Node that the arc enters. */
  readonly target: Int32Array;
  /** Sizes of a group of translations that takes arcs to arcs in order (`model/symmetry/translation.ts`); null: none is known. */
  readonly translations: readonly number[] | null;
}

export const arcCount = (graph: Digraph): number => graph.target.length;

/** Returns the node that each arc leaves, [arcs]. O(arcs). */
export function arcSources({ nodes, offset, target }: Digraph): Int32Array {
  const source = new Int32Array(target.length);
  for (let v = 0; v < nodes; v++) source.fill(v, offset[v], offset[v + 1]);
  return source;
}

/** Returns the graph in which so many nodes have these targets each, in order. Targets are not checked. O(arcs). */
export function digraph(
  nodes: number,
  targetsOf: (node: number) => readonly number[],
  translations: readonly number[] | null = null,
): Digraph {
  const offset = new Int32Array(nodes + 1);
  const target: number[] = [];
  for (let v = 0; v < nodes; v++) {
    for (const to of targetsOf(v)) target.push(to);
    offset[v + 1] = target.length;
  }
  return { nodes, offset, target: Int32Array.from(target), translations };
}

/** Returns d where every node has d arcs in and d arcs out, self-loops counted; null for other graphs. O(arcs). */
export function regularDegree({ nodes, offset, target }: Digraph): number | null {
  const degree = offset[1] - offset[0];
  const entering = new Int32Array(nodes);
  for (const to of target) entering[to]++;
  for (let v = 0; v < nodes; v++) if (offset[v + 1] - offset[v] !== degree || entering[v] !== degree) return null;
  return degree;
}

/** Where arcs and links correspond; -1 for a self-loop, which is no link. */
export interface DirectNetwork {
  readonly graph: Digraph;
  readonly topology: Topology;
  /** [arcs] */
  readonly linkOfArc: Int32Array;
}

/** Returns the link of each arc in the network of a graph, -1 for self-loops, [arcs]. O(arcs). */
export function linksOfArcs({ nodes, offset, target }: Digraph): Int32Array {
  const linkOfArc = new Int32Array(target.length).fill(-1);
  let links = 0;
  for (let v = 0; v < nodes; v++) {
    for (let arc = offset[v]; arc < offset[v + 1]; arc++) if (target[arc] !== v) linkOfArc[arc] = links++;
  }
  return linkOfArc;
}

/** Returns the network of a graph with equal links: a link for every arc but self-loops, in order of arcs. O(arcs). */
export function networkOf(
  graph: Digraph,
  name: string,
  link: { readonly bytesPerSecond: number; readonly latencyPs: number },
  about: { readonly shape?: readonly number[]; readonly sources?: readonly string[] } = {},
): DirectNetwork {
  const builder = topologyBuilder(name, arcCount(graph));
  builder.addNumberedNpus(graph.nodes);
  const linkOfArc = linksOfArcs(graph);
  const source = arcSources(graph);
  for (let arc = 0; arc < linkOfArc.length; arc++) {
    if (linkOfArc[arc] >= 0) builder.addLink(source[arc], graph.target[arc], link.bytesPerSecond, link.latencyPs);
  }
  return { graph, topology: builder.build({ shape: about.shape ?? [], sources: about.sources ?? [] }), linkOfArc };
}
