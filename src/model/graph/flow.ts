import { InternalError } from "../../base/errors.ts";
import { bothEnds, groupedBy } from "./graph.ts";

/** A directed network with integer capacities, as columns; arcs may be parallel. */
export interface FlowNetwork {
  readonly nodes: number;
  /** [arcs] */
  readonly tail: Int32Array;
  /** [arcs] */
  readonly head: Int32Array;
}

interface MaxFlow {
  /** Exact integer. */
  readonly value: number;
  /** [nodes] 1 where the residual network still reaches the sink: the sink's side of a minimum cut, the smallest one. */
  readonly sinkSide: Uint8Array;
  /** [arcs] flow on each arc, exact integers. */
  readonly flow: Float64Array;
}

/** Solves maximum flows on one network; the buffers live between solves. The result's arrays are overwritten by the next. */
type FlowSolver = (capacity: Float64Array, source: number, sink: number) => MaxFlow;

/**
 * Returns a solver of maximum flows (Dinic 1970: blocking flows in the level graph; O(n^2 m), far less on networks).
 *
 * Capacities are doubles that hold integers; the sum of those that leave the source must stay below 2^53, or it throws.
 * Arcs are searched in index order, so the flow and the cut are the same in every run.
 */
export function flowSolver({ nodes, tail, head }: FlowNetwork): FlowSolver {
  const arcs = tail.length;
  const residual = residualNetwork(nodes, tail, head);
  const { left, level } = residual;
  const sinkSide = new Uint8Array(nodes);
  const flow = new Float64Array(arcs);
  return (capacity, source, sink) => {
    let leaving = 0;
    for (let a = 0; a < arcs; a++) {
      left[2 * a] = capacity[a];
      left[2 * a + 1] = 0;
      if (tail[a] === source) leaving += capacity[a];
    }
    if (leaving > Number.MAX_SAFE_INTEGER) throw new InternalError("a maximum flow beyond 2^53 - 1");
    let value = 0;
    while (layLevels(residual, source, sink)) value += blockingFlow(residual, source, sink);
    for (let v = 0; v < nodes; v++) sinkSide[v] = level[v] >= 0 ? 1 : 0;
    for (let a = 0; a < arcs; a++) flow[a] = left[2 * a + 1];
    return { value, sinkSide, flow };
  };
}

type Residual = ReturnType<typeof residualNetwork>;

function residualNetwork(nodes: number, tail: Int32Array, head: Int32Array) {
  const start = bothEnds(tail, head);
  return {
    /** Residual arc 2a goes forward along arc a, 2a + 1 back: where it starts, so `start[arc ^ 1]` is where it ends. */
    start,
    /** Those of a node are items[offset[v] .. offset[v + 1]]. */
    ...groupedBy(start, nodes),
    /** What an arc can still take. */
    left: new Float64Array(2 * tail.length),
    level: new Int32Array(nodes),
    next: new Int32Array(nodes),
    queue: new Int32Array(nodes),
    path: new Int32Array(nodes),
  };
}

/** Numbers nodes by their distance to the sink in the residual network; returns whether the source is reached. */
function layLevels({ start, offset, items, left, level, queue }: Residual, source: number, sink: number): boolean {
  level.fill(-1);
  level[sink] = 0;
  queue[0] = sink;
  for (let first = 0, last = 1; first < last; first++) {
    const v = queue[first];
    for (let i = offset[v]; i < offset[v + 1]; i++) {
      const back = items[i] ^ 1;
      const u = start[back];
      if (level[u] >= 0 || left[back] <= 0) continue;
      level[u] = level[v] + 1;
      queue[last++] = u;
    }
  }
  return level[source] >= 0;
}

/** Pushes a blocking flow along arcs that step one level down; returns its value. */
function blockingFlow(residual: Residual, source: number, sink: number): number {
  const { start, offset, items, left, level, next, path } = residual;
  next.set(offset.subarray(0, next.length));
  let total = 0;
  let depth = 0;
  let v = source;
  for (;;) {
    if (v === sink) {
      let least = Number.POSITIVE_INFINITY;
      for (let i = 0; i < depth; i++) least = Math.min(least, left[path[i]]);
      total += least;
      let keep = depth;
      for (let i = depth - 1; i >= 0; i--) {
        left[path[i]] -= least;
        left[path[i] ^ 1] += least;
        if (left[path[i]] === 0) keep = i;
      }
      depth = keep;
      v = start[path[depth]];
      continue;
    }
    let found = false;
    for (; next[v] < offset[v + 1]; next[v]++) {
      const arc = items[next[v]];
      const u = start[arc ^ 1];
      if (left[arc] <= 0 || level[u] !== level[v] - 1) continue;
      path[depth++] = arc;
      v = u;
      found = true;
      break;
    }
    if (found) continue;
    if (depth === 0) return total;
    depth--;
    v = start[path[depth]];
    next[v]++;
  }
}

/**
 * Maximum flows with capacities of any size (Dinic 1970) on a network that grows and changes. Levels are laid from the sink
 * backwards and stop at the source, so a flow out of a source next to the sink costs little in a large network. Arcs are tried
 * in the order in which they were added: flows and cuts are the same in every run.
 */
export class BigFlow {
  /** [nodes] arcs that leave the node; arc ^ 1 is the opposite one. */
  readonly #leaving: number[][] = [];
  readonly #head: number[] = [];
  readonly #capacity: bigint[] = [];
  readonly #residual: bigint[] = [];
  /** Arcs whose residual is not their capacity. */
  readonly #used: number[] = [];
  #level: Int32Array = new Int32Array(0);
  #next: Int32Array = new Int32Array(0);

  /** Returns the number of the first of `count` new nodes. */
  addNodes(count: number): number {
    const first = this.#leaving.length;
    for (let i = 0; i < count; i++) this.#leaving.push([]);
    return first;
  }

  /** Returns the new arc. */
  addArc(from: number, to: number, capacity: bigint): number {
    const arc = this.#head.length;
    this.#head.push(to, from);
    this.#capacity.push(capacity, 0n);
    this.#residual.push(capacity, 0n);
    this.#leaving[from].push(arc);
    this.#leaving[to].push(arc + 1);
    return arc;
  }

  capacity(arc: number): bigint {
    return this.#capacity[arc];
  }

  /** Returns what the last flow sends over an arc. */
  flow(arc: number): bigint {
    return this.#capacity[arc] - this.#residual[arc];
  }

  /** Changes a capacity, which takes back the flow. */
  setCapacity(arc: number, capacity: bigint): void {
    this.#takeBack();
    this.#capacity[arc] = this.#residual[arc] = capacity;
  }

  /** Returns the maximum flow from source to sink, at most `most`. */
  solve(source: number, sink: number, most: bigint): bigint {
    this.#takeBack();
    let left = most;
    while (left > 0n && this.#layLevels(source, sink)) {
      this.#next = new Int32Array(this.#leaving.length);
      while (left > 0n) {
        const pulled = this.#pull(sink, source, left);
        if (pulled === 0n) break;
        left -= pulled;
      }
    }
    return most - left;
  }

  /** Returns [nodes] 1 where the source still reaches after a flow below its limit: the least source side of a minimum cut. */
  sourceSide(source: number): Uint8Array {
    const side = new Uint8Array(this.#leaving.length);
    side[source] = 1;
    const queue = [source];
    for (const v of queue) {
      for (const arc of this.#leaving[v]) {
        const u = this.#head[arc];
        if (side[u] === 1 || this.#residual[arc] === 0n) continue;
        side[u] = 1;
        queue.push(u);
      }
    }
    return side;
  }

  #takeBack(): void {
    for (const arc of this.#used) {
      this.#residual[arc] = this.#capacity[arc];
      this.#residual[arc ^ 1] = this.#capacity[arc ^ 1];
    }
    this.#used.length = 0;
  }

  /** Numbers nodes by their distance to the sink, those nearer than the source; false where the source is not reached. */
  #layLevels(source: number, sink: number): boolean {
    const level = new Int32Array(this.#leaving.length).fill(-1);
    this.#level = level;
    level[sink] = 0;
    const queue = [sink];
    for (const v of queue) {
      for (const arc of this.#leaving[v]) {
        const u = this.#head[arc];
        if (level[u] >= 0 || this.#residual[arc ^ 1] === 0n) continue;
        level[u] = level[v] + 1;
        if (u === source) return true;
        queue.push(u);
      }
    }
    return false;
  }

  /** Pulls up to `most` into v along one path of levels that ascend to the source; returns what came through. */
  #pull(v: number, source: number, most: bigint): bigint {
    if (v === source) return most;
    const leaving = this.#leaving[v];
    for (; this.#next[v] < leaving.length; this.#next[v]++) {
      const arc = leaving[this.#next[v]] ^ 1;
      const u = this.#head[arc ^ 1];
      const room = this.#residual[arc];
      if (room === 0n || this.#level[u] !== this.#level[v] + 1) continue;
      const pulled = this.#pull(u, source, room < most ? room : most);
      if (pulled === 0n) continue;
      this.#residual[arc] -= pulled;
      this.#residual[arc ^ 1] += pulled;
      this.#used.push(arc);
      return pulled;
    }
    return 0n;
  }
}
