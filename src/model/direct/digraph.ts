import { InputError } from "../../base/errors.ts";
import { groupedBy } from "../graph/graph.ts";
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

/** Returns the graph in which this many nodes have these targets each, in order. Targets are not checked. O(arcs). */
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

/** Distances in graphs: along arcs, one per arc. */

/** Returns how many nodes are at each distance from a node, index 0 .. the greatest finite distance. O(arcs). */
export const distanceCounts = (graph: Digraph, from: number): Int32Array =>
  countsOf(graph, from, scratch(graph)).slice();

/**
 * Returns the greatest distance between two nodes, Infinity where one does not reach another. O(nodes x arcs), O(arcs) where
 * translations are known.
 */
export function diameter(graph: Digraph): number {
  const space = scratch(graph);
  const sources = graph.translations === null ? graph.nodes : 1;
  let greatest = 0;
  for (let from = 0; from < sources; from++) {
    const counts = countsOf(graph, from, space);
    if (space.reached < graph.nodes) return Number.POSITIVE_INFINITY;
    greatest = Math.max(greatest, counts.length - 1);
  }
  return greatest;
}

/** Returns the distances from a node, [nodes]; -1 where there is no path. O(arcs). */
export function distancesFrom(graph: Digraph, from: number): Int32Array {
  const space = scratch(graph);
  countsOf(graph, from, space);
  return space.distance;
}

interface Scratch {
  /** [nodes] */
  readonly distance: Int32Array;
  readonly queue: Int32Array;
  readonly counts: Int32Array;
  reached: number;
}

const scratch = ({ nodes }: Digraph): Scratch => ({
  distance: new Int32Array(nodes),
  queue: new Int32Array(nodes),
  counts: new Int32Array(nodes),
  reached: 0,
});

function countsOf({ offset, target }: Digraph, from: number, space: Scratch): Int32Array {
  const { distance, queue, counts } = space;
  distance.fill(-1);
  distance[from] = 0;
  queue[0] = from;
  let end = 1;
  let level = 0;
  for (let next = 0; next < end; level++) {
    const stop = end;
    counts[level] = stop - next;
    for (; next < stop; next++) {
      for (let arc = offset[queue[next]]; arc < offset[queue[next] + 1]; arc++) {
        const to = target[arc];
        if (distance[to] >= 0) continue;
        distance[to] = level + 1;
        queue[end++] = to;
      }
    }
  }
  space.reached = end;
  return counts.subarray(0, level);
}

/** The expansions of graphs (Zhao 2026, 3.5 and A.4), nodes and arcs numbered as `construction.ts` says. */

/** Returns L(G) (definition 12): a node for every arc, also for parallel arcs and self-loops. O(arcs of the result). */
export function lineGraph({ offset, target }: Digraph): Digraph {
  const nodes = target.length;
  const lineOffset = new Int32Array(nodes + 1);
  for (let arc = 0; arc < nodes; arc++) {
    lineOffset[arc + 1] = lineOffset[arc] + offset[target[arc] + 1] - offset[target[arc]];
  }
  const lineTarget = new Int32Array(lineOffset[nodes]);
  for (let arc = 0, next = 0; arc < nodes; arc++) {
    for (let out = offset[target[arc]]; out < offset[target[arc] + 1]; out++) lineTarget[next++] = out;
  }
  return { nodes, offset: lineOffset, target: lineTarget, translations: null };
}

/** Returns G * n (definition 13). Throws InputError for a graph with self-loops. O(arcs of the result). */
export function degreeExpansion(graph: Digraph, factor: number): Digraph {
  if (factor === 1) return graph;
  const { nodes, offset, target } = graph;
  const loop = arcSources(graph).findIndex((source, arc) => source === target[arc]);
  if (loop >= 0) {
    const received = `a self-loop of node ${target[loop]}`;
    throw new InputError("degree expansion (*)", "a graph without self-loops (definition 13)", received);
  }
  const arcs = target.length;
  const expanded = new Int32Array(arcs * factor * factor);
  const expandedOffset = new Int32Array(nodes * factor + 1);
  let next = 0;
  for (let copy = 0; copy < factor; copy++) {
    for (let v = 0; v < nodes; v++) {
      for (let arc = offset[v]; arc < offset[v + 1]; arc++) {
        for (let to = 0; to < factor; to++) expanded[next++] = to * nodes + target[arc];
      }
      expandedOffset[copy * nodes + v + 1] = next;
    }
  }
  return { nodes: nodes * factor, offset: expandedOffset, target: expanded, translations: null };
}

/**
 * Returns the Cartesian product of graphs (definition 3), first factor fastest. Translations of all factors are translations of
 * the product. O(arcs + nodes * factors).
 */
export function product(factors: readonly Digraph[]): Digraph {
  const nodes = factors.reduce((count, factor) => count * factor.nodes, 1);
  const arcs = factors.reduce((count, factor) => count + arcCount(factor) * (nodes / factor.nodes), 0);
  const offset = new Int32Array(nodes + 1);
  const target = new Int32Array(arcs);
  let next = 0;
  for (let v = 0; v < nodes; v++) {
    let stride = 1;
    for (const factor of factors) {
      const x = Math.floor(v / stride) % factor.nodes;
      for (let arc = factor.offset[x]; arc < factor.offset[x + 1]; arc++) {
        target[next++] = v + (factor.target[arc] - x) * stride;
      }
      stride *= factor.nodes;
    }
    offset[v + 1] = next;
  }
  const groups = factors.map(({ translations }) => translations);
  return { nodes, offset, target, translations: groups.every((group) => group !== null) ? groups.flat() : null };
}

/** Returns the n-th Cartesian power of a graph, n >= 1. */
export const power = (graph: Digraph, exponent: number): Digraph => product(new Array<Digraph>(exponent).fill(graph));

/** Returns the arcs of a graph in the order of its transpose, [arcs]: arc i of `transpose(graph)` is this one turned round. */
export const transposedArcs = ({ nodes, target }: Digraph): Int32Array => groupedBy(target, nodes).items;

/** Returns the graph with all arcs turned round. O(arcs). */
export function transpose(graph: Digraph): Digraph {
  const { offset, items } = groupedBy(graph.target, graph.nodes);
  const source = arcSources(graph);
  return { nodes: graph.nodes, offset, target: items.map((arc) => source[arc]), translations: null };
}

/** Returns the union of a graph and its transpose (A.1.6): at every node its own arcs, then those of the transpose. O(arcs). */
export function bidirectional(graph: Digraph): Digraph {
  const back = transpose(graph);
  const { nodes } = graph;
  const offset = graph.offset.map((start, v) => start + back.offset[v]);
  const target = new Int32Array(2 * arcCount(graph));
  for (let v = 0; v < nodes; v++) {
    const own = graph.target.subarray(graph.offset[v], graph.offset[v + 1]);
    target.set(own, offset[v]);
    target.set(back.target.subarray(back.offset[v], back.offset[v + 1]), offset[v] + own.length);
  }
  return { nodes, offset, target, translations: null };
}
