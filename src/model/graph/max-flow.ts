import { InternalError } from "../../base/errors.ts";

/** A directed network with integer capacities, as columns; arcs may be parallel. */
export interface FlowNetwork {
  readonly nodes: number;
  /** [arcs] */
  readonly tail: Int32Array;
  /** [arcs] */
  readonly head: Int32Array;
}

export interface MaxFlow {
  /** Exact integer. */
  readonly value: number;
  /** [nodes] 1 where the residual network still reaches the sink: the sink's side of a minimum cut, the smallest one. */
  readonly sinkSide: Uint8Array;
  /** [arcs] flow on each arc, exact integers. */
  readonly flow: Float64Array;
}

/** Solves maximum flows on one network; the buffers live between solves. The result's arrays are overwritten by the next. */
export type FlowSolver = (capacity: Float64Array, source: number, sink: number) => MaxFlow;

/**
 * Returns a solver of maximum flows (Dinic 1970: blocking flows in the level graph; O(n^2 m), far less on networks).
 *
 * Capacities are doubles that hold integers; the sum of those that leave the source must stay below 2^53, or it throws.
 * Arcs are searched in index order, so the flow and the cut are the same in every run.
 */
export function flowSolver(network: FlowNetwork): FlowSolver {
  const { nodes, tail, head } = network;
  const arcs = tail.length;
  // residual arc 2a goes forward along arc a, 2a + 1 back; those of a node are list[offset[v] .. offset[v + 1]]
  const offset = new Int32Array(nodes + 1);
  for (let a = 0; a < arcs; a++) {
    offset[tail[a] + 1]++;
    offset[head[a] + 1]++;
  }
  for (let v = 0; v < nodes; v++) offset[v + 1] += offset[v];
  const fill = offset.slice(0, nodes);
  const list = new Int32Array(2 * arcs);
  for (let a = 0; a < arcs; a++) {
    list[fill[tail[a]]++] = 2 * a;
    list[fill[head[a]]++] = 2 * a + 1;
  }
  const residual = new Float64Array(2 * arcs);
  const level = new Int32Array(nodes);
  const next = new Int32Array(nodes);
  const queue = new Int32Array(nodes);
  const path = new Int32Array(nodes);
  const sinkSide = new Uint8Array(nodes);
  const flow = new Float64Array(arcs);

  const end = (arc: number): number => ((arc & 1) === 0 ? head[arc >> 1] : tail[arc >> 1]);

  /** Numbers nodes by their distance to the sink in the residual network; returns whether the source is reached. */
  function levels(source: number, sink: number): boolean {
    level.fill(-1);
    level[sink] = 0;
    queue[0] = sink;
    for (let first = 0, last = 1; first < last; first++) {
      const v = queue[first];
      for (let i = offset[v]; i < offset[v + 1]; i++) {
        const arc = list[i];
        const u = end(arc);
        if (level[u] >= 0 || residual[arc ^ 1] <= 0) continue;
        level[u] = level[v] + 1;
        queue[last++] = u;
      }
    }
    return level[source] >= 0;
  }

  /** Pushes a blocking flow along arcs that step one level down; returns its value. */
  function block(source: number, sink: number): number {
    next.set(offset.subarray(0, nodes));
    let total = 0;
    let depth = 0;
    let v = source;
    for (;;) {
      if (v === sink) {
        let least = Number.POSITIVE_INFINITY;
        for (let i = 0; i < depth; i++) least = Math.min(least, residual[path[i]]);
        total += least;
        let keep = depth;
        for (let i = depth - 1; i >= 0; i--) {
          residual[path[i]] -= least;
          residual[path[i] ^ 1] += least;
          if (residual[path[i]] === 0) keep = i;
        }
        depth = keep;
        v = end(path[depth] ^ 1);
        continue;
      }
      let found = false;
      for (; next[v] < offset[v + 1]; next[v]++) {
        const arc = list[next[v]];
        const u = end(arc);
        if (residual[arc] <= 0 || level[u] !== level[v] - 1) continue;
        path[depth++] = arc;
        v = u;
        found = true;
        break;
      }
      if (found) continue;
      if (depth === 0) return total;
      depth--;
      v = end(path[depth] ^ 1);
      next[v]++;
    }
  }

  return (capacity, source, sink) => {
    let leaving = 0;
    for (let a = 0; a < arcs; a++) {
      residual[2 * a] = capacity[a];
      residual[2 * a + 1] = 0;
      if (tail[a] === source) leaving += capacity[a];
    }
    if (leaving > Number.MAX_SAFE_INTEGER) throw new InternalError("a maximum flow beyond 2^53 - 1");
    let value = 0;
    while (levels(source, sink)) value += block(source, sink);
    for (let v = 0; v < nodes; v++) sinkSide[v] = level[v] >= 0 ? 1 : 0;
    for (let a = 0; a < arcs; a++) flow[a] = residual[2 * a + 1];
    return { value, sinkSide, flow };
  };
}
