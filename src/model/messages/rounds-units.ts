import type { Precedence } from "./rounds-order.ts";

/**
 * Calls `visit` with the nodes that depend on each other in a circle (most often a single node), what they depend on first.
 * Nodes are looked at in the order given, so that circles come as early as their dependencies allow. The view is used again.
 * O(nodes + edges). Tarjan 1972, without recursion.
 */
export function visitUnits(
  { nodes, first, next, to }: Precedence,
  order: Uint32Array,
  visit: (unit: Int32Array) => void,
): void {
  const number = new Int32Array(nodes);
  const low = new Int32Array(nodes);
  const edge = first.slice(0, nodes);
  const open = new Int32Array(nodes);
  const path = new Int32Array(nodes);
  const done = new Uint8Array(nodes);
  let [numbers, openCount] = [0, 0];
  for (const start of order) {
    if (number[start] > 0) continue;
    let depth = 0;
    path[0] = start;
    while (depth >= 0) {
      const node = path[depth];
      if (number[node] === 0) {
        number[node] = ++numbers;
        low[node] = numbers;
        open[openCount++] = node;
      }
      const e = edge[node];
      if (e >= 0) {
        const other = to[e];
        if (number[other] === 0) {
          path[++depth] = other;
          continue;
        }
        if (done[other] === 0 && low[other] < low[node]) low[node] = low[other];
        edge[node] = next[e];
        continue;
      }
      if (low[node] === number[node]) {
        const end = openCount;
        while (open[--openCount] !== node);
        const unit = open.subarray(openCount, end);
        for (const member of unit) done[member] = 1;
        visit(unit);
      }
      depth--;
    }
  }
}
