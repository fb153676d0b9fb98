import { InputError } from "../../base/errors.ts";
import { groupedBy } from "../graph/graph.ts";
import { arcCount, arcSources, type Digraph } from "./digraph.ts";

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
