import { arcSources, type Digraph } from "../../src/model/direct/digraph.ts";

/** Returns whether a map of nodes takes one small graph to another, parallel arcs and self-loops counted: tries all, node by node. */
export function areIsomorphic(a: Digraph, b: Digraph): boolean {
  const [arcsOfA, arcsOfB] = [arcCounts(a), arcCounts(b)];
  const image: number[] = [];
  const fits = (v: number, w: number): boolean =>
    [...image, w].every((x, u) => arcsOfA[u][v] === arcsOfB[x][w] && arcsOfA[v][u] === arcsOfB[w][x]);
  const extend = (): boolean => {
    const v = image.length;
    if (v === a.nodes) return true;
    for (let w = 0; w < b.nodes; w++) {
      if (image.includes(w) || !fits(v, w)) continue;
      image.push(w);
      if (extend()) return true;
      image.pop();
    }
    return false;
  };
  return a.nodes === b.nodes && extend();
}

/** Returns how many arcs lead from each node to each, [from][to]. */
function arcCounts(graph: Digraph): Int32Array[] {
  const counts = Array.from({ length: graph.nodes }, () => new Int32Array(graph.nodes));
  arcSources(graph).forEach((from, arc) => {
    counts[from][graph.target[arc]]++;
  });
  return counts;
}
