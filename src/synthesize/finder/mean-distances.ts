import type { Construction } from "../../model/direct/construction.ts";
import { type Digraph, regularDegree } from "../../model/direct/digraph.ts";
import { distancesFrom } from "../../model/direct/distances.ts";
import { graphOf } from "../../model/direct/graph-of.ts";
import type { Candidate } from "./candidate.ts";

/** Searches from all nodes of a graph may look at so many arcs. */
const MOST_VISITS = 5e7;

/**
 * Returns the sum of the distances from a node to all others, on average over nodes, or a little less: all messages of an
 * all-to-all together cross so many links, so its rate is at most the degree by this. Infinity where a node does not reach
 * another, null where the graph is too large. A line graph's distances are those of its base and one, but to the node itself:
 * with S(G) their sum, S(L(G)) = d^2 (S(G) + N^2) less the ways back along each arc. O(arcs) for each node that is not like
 * node 0 of the graph that line graphs start with.
 */
export function meanDistances({ construction }: Candidate): number | null {
  const lines = construction.kind === "line" ? construction.times : 0;
  const base = construction.kind === "line" ? construction.base : construction;
  const graph = graphOf(base);
  const degree = regularDegree(graph) as number;
  const roots = allAlike(graph, base) ? 1 : graph.nodes;
  if (roots * graph.nodes * degree > MOST_VISITS) return null;
  let sum = 0;
  /** [lines] sums of the distances from the end of walks of that many arcs and one to their start. */
  const back = new Float64Array(lines);
  for (let root = 0; root < roots; root++) {
    const distance = distancesFrom(graph, root);
    if (distance.includes(-1)) return Number.POSITIVE_INFINITY;
    sum += distance.reduce((a, b) => a + b, 0);
    let walks: Float64Array = new Float64Array(graph.nodes).fill(1, root, root + 1);
    for (let i = 0; i < lines; i++) {
      walks = oneLonger(graph, walks);
      for (let v = 0; v < graph.nodes; v++) back[i] += walks[v] * distance[v];
    }
  }
  let [mean, nodes] = [sum / roots, graph.nodes];
  for (let i = 0; i < lines; i++) {
    // all per node of the graph so far, of which each has `degree` in the next
    const waysBack = back[i] / roots / degree ** i + degree * (i + 1);
    mean = degree * (mean + nodes) - waysBack / degree;
    nodes *= degree;
  }
  return mean;
}

const allAlike = (graph: Digraph, base: Construction): boolean =>
  graph.translations !== null || (base.kind === "family" && base.family === "Cayley");

/** Returns how many walks that are an arc longer lead from each node to where `walks` lead, [nodes]. O(arcs). */
function oneLonger({ nodes, offset, target }: Digraph, walks: Float64Array): Float64Array {
  const longer = new Float64Array(nodes);
  for (let v = 0; v < nodes; v++) for (let arc = offset[v]; arc < offset[v + 1]; arc++) longer[v] += walks[target[arc]];
  return longer;
}
