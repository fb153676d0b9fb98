import type { ConcurrentProblem } from "../../contract/kernels.ts";
import { NONE } from "./lists.ts";

/** Shortest paths from one node: the twin of native/kernels/concurrent_paths.h, function by function. */
export class ShortestPaths {
  readonly #graph: ConcurrentProblem;
  /** [nodes] infinite where no path leads. */
  readonly dist: Float64Array;
  /** [nodes] the arc by which the node is reached; NONE at the source and where no path leads. */
  readonly parent: Int32Array;
  /** The nodes in the order in which they were settled; the source is the first. */
  readonly order: Int32Array;
  /** [nodes] when the node was settled; nodeCount where no path leads. */
  readonly rank: Int32Array;
  settled = 0;
  readonly #heap: Int32Array;
  readonly #place: Int32Array;
  #size = 0;

  constructor(graph: ConcurrentProblem) {
    this.#graph = graph;
    this.dist = new Float64Array(graph.nodeCount);
    this.parent = new Int32Array(graph.nodeCount);
    this.order = new Int32Array(graph.nodeCount);
    this.rank = new Int32Array(graph.nodeCount);
    this.#heap = new Int32Array(graph.nodeCount);
    this.#place = new Int32Array(graph.nodeCount);
  }

  /** Finds the paths from `source` where an arc is as long as `length` says of its class, >= 0. O(arcs log nodes). */
  run(source: number, length: Float64Array): void {
    const { nodeCount, arcOffset, arcTarget, arcClass } = this.#graph;
    const heap = this.#heap;
    const { dist, parent, order, rank } = this;
    const place = this.#place;
    dist.fill(Number.POSITIVE_INFINITY);
    place.fill(NONE);
    parent.fill(NONE);
    rank.fill(nodeCount);
    this.settled = 0;
    this.#size = 0;
    dist[source] = 0;
    this.#lift(this.#size++, source);
    while (this.#size > 0) {
      const u = heap[0];
      this.#size--;
      if (this.#size > 0) this.#sink(0, heap[this.#size]);
      rank[u] = this.settled;
      order[this.settled++] = u;
      for (let a = arcOffset[u]; a < arcOffset[u + 1]; a++) {
        const w = arcTarget[a];
        const far = dist[u] + length[arcClass[a]];
        if (!(far < dist[w])) continue;
        dist[w] = far;
        parent[w] = a;
        this.#lift(place[w] === NONE ? this.#size++ : place[w], w);
      }
    }
  }

  #before(a: number, b: number): boolean {
    const { dist } = this;
    return dist[a] !== dist[b] ? dist[a] < dist[b] : a < b;
  }

  #put(place: number, node: number): void {
    this.#heap[place] = node;
    this.#place[node] = place;
  }

  #lift(from: number, node: number): void {
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!this.#before(node, this.#heap[above])) break;
      this.#put(place, this.#heap[above]);
      place = above;
    }
    this.#put(place, node);
  }

  #sink(from: number, node: number): void {
    const heap = this.#heap;
    let place = from;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= this.#size) break;
      if (below + 1 < this.#size && this.#before(heap[below + 1], heap[below])) below++;
      if (!this.#before(heap[below], node)) break;
      this.#put(place, heap[below]);
      place = below;
    }
    this.#put(place, node);
  }
}
