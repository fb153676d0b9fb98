import type { FlowArcs } from "./flow-arcs.ts";

/**
 * Returns the distance of every node from one where an arc is as long as `length` says of its class, whole numbers >= 0;
 * Infinity where no path leads. Dijkstra's algorithm with a binary heap of keys, old ones left in. O(arcs log arcs).
 */
export function distancesUnder(arcs: FlowArcs, from: number, length: Int32Array): Float64Array {
  const dist = new Float64Array(arcs.offset.length - 1).fill(Number.POSITIVE_INFINITY);
  const keys: number[] = [];
  const nodes: number[] = [];
  const push = (key: number, node: number): void => {
    let at = keys.length;
    for (; at > 0; ) {
      const above = (at - 1) >> 1;
      if (keys[above] <= key) break;
      keys[at] = keys[above];
      nodes[at] = nodes[above];
      at = above;
    }
    keys[at] = key;
    nodes[at] = node;
  };
  const dropFirst = (): void => {
    const key = keys.pop() ?? 0;
    const node = nodes.pop() ?? 0;
    if (keys.length === 0) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= keys.length) break;
      if (below + 1 < keys.length && keys[below + 1] < keys[below]) below++;
      if (keys[below] >= key) break;
      keys[at] = keys[below];
      nodes[at] = nodes[below];
      at = below;
    }
    keys[at] = key;
    nodes[at] = node;
  };
  dist[from] = 0;
  push(0, from);
  while (keys.length > 0) {
    const far = keys[0];
    const v = nodes[0];
    dropFirst();
    if (far > dist[v]) continue;
    for (let a = arcs.offset[v]; a < arcs.offset[v + 1]; a++) {
      const to = arcs.target[a];
      const through = far + length[arcs.arcClass[a]];
      if (through >= dist[to]) continue;
      dist[to] = through;
      push(through, to);
    }
  }
  return dist;
}
