/**
 * Returns a colour for each edge of a bipartite multigraph so that no two edges with a colour meet at either side: `source` and
 * `target` are numbered apart, and there are as many colours as the most edges that one node has (Koenig, 1916). Edges are coloured in
 * turn; where the colours that are free at both ends differ, a path of the two is swapped. O(edges x nodes), far less as a rule.
 */
export function edgeColours(
  source: ArrayLike<number>,
  target: ArrayLike<number>,
): { colour: Int32Array; count: number } {
  const edges = source.length;
  const count = Math.max(greatestDegree(source), greatestDegree(target));
  const colour = new Int32Array(edges).fill(-1);
  const bySource = new Int32Array(nodesOf(source) * count).fill(-1);
  const byTarget = new Int32Array(nodesOf(target) * count).fill(-1);
  const free = (table: Int32Array, node: number): number => table.indexOf(-1, node * count) - node * count;
  const path: number[] = [];
  for (let edge = 0; edge < edges; edge++) {
    const a = free(bySource, source[edge]);
    const b = free(byTarget, target[edge]);
    if (a !== b) {
      // from the target along colours a, b, a, ...; it never comes to the edge's source, where a is free
      path.length = 0;
      for (let next = byTarget[target[edge] * count + a], wanted = b; next >= 0; wanted = a + b - wanted) {
        path.push(next);
        next = wanted === b ? bySource[source[next] * count + b] : byTarget[target[next] * count + a];
      }
      for (const one of path) {
        bySource[source[one] * count + colour[one]] = -1;
        byTarget[target[one] * count + colour[one]] = -1;
      }
      for (const one of path) {
        colour[one] = a + b - colour[one];
        bySource[source[one] * count + colour[one]] = one;
        byTarget[target[one] * count + colour[one]] = one;
      }
    }
    colour[edge] = a;
    bySource[source[edge] * count + a] = edge;
    byTarget[target[edge] * count + a] = edge;
  }
  return { colour, count };
}

function nodesOf(ends: ArrayLike<number>): number {
  let most = -1;
  for (let i = 0; i < ends.length; i++) if (ends[i] > most) most = ends[i];
  return most + 1;
}

function greatestDegree(ends: ArrayLike<number>): number {
  const degree = new Int32Array(nodesOf(ends));
  let most = 0;
  for (let i = 0; i < ends.length; i++) most = Math.max(most, ++degree[ends[i]]);
  return most;
}
