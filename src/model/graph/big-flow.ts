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
