import type { Digraph } from "./digraph.ts";

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
