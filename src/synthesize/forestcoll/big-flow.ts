/**
 * Maximum flows with capacities of any size (Dinic 1970) on a network that grows. Arcs are tried in the order in which they
 * were added, so flows and cuts are the same in every run. For small networks: every flow starts with O(arcs) work.
 */
export class BigFlow {
  /** [nodes] arcs that leave the node; arc ^ 1 is the opposite one. */
  readonly #leaving: number[][] = [];
  readonly #head: number[] = [];
  readonly #capacity: bigint[] = [];
  #residual: bigint[] = [];
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
    this.#leaving[from].push(arc);
    this.#leaving[to].push(arc + 1);
    return arc;
  }

  capacity(arc: number): bigint {
    return this.#capacity[arc];
  }

  setCapacity(arc: number, capacity: bigint): void {
    this.#capacity[arc] = capacity;
  }

  /** Returns the maximum flow from source to sink, at most `most`. */
  solve(source: number, sink: number, most: bigint): bigint {
    this.#residual = this.#capacity.slice();
    let left = most;
    while (left > 0n && this.#layLevels(source, sink)) {
      this.#next = new Int32Array(this.#leaving.length);
      for (;;) {
        const pushed = left > 0n ? this.#push(source, sink, left) : 0n;
        if (pushed === 0n) break;
        left -= pushed;
      }
    }
    return most - left;
  }

  /** Returns [nodes] 1 where the source still reaches after a flow below its limit: the least source side of a minimum cut. */
  sourceSide(source: number): Uint8Array {
    this.#layLevels(source, -1);
    return Uint8Array.from(this.#level, (level) => (level < 0 ? 0 : 1));
  }

  /** Numbers nodes by their distance from the source; false where the sink is out of reach. */
  #layLevels(source: number, sink: number): boolean {
    const level = new Int32Array(this.#leaving.length).fill(-1);
    this.#level = level;
    level[source] = 0;
    const queue = [source];
    for (let i = 0; i < queue.length; i++) {
      const v = queue[i];
      for (const arc of this.#leaving[v]) {
        const u = this.#head[arc];
        if (level[u] >= 0 || this.#residual[arc] === 0n) continue;
        level[u] = level[v] + 1;
        if (u === sink) return true;
        queue.push(u);
      }
    }
    return false;
  }

  /** Pushes up to `most` from v along one path of ascending levels; returns what went through. */
  #push(v: number, sink: number, most: bigint): bigint {
    if (v === sink) return most;
    const leaving = this.#leaving[v];
    for (; this.#next[v] < leaving.length; this.#next[v]++) {
      const arc = leaving[this.#next[v]];
      const u = this.#head[arc];
      const room = this.#residual[arc];
      if (room === 0n || this.#level[u] !== this.#level[v] + 1) continue;
      const pushed = this.#push(u, sink, room < most ? room : most);
      if (pushed === 0n) continue;
      this.#residual[arc] -= pushed;
      this.#residual[arc ^ 1] += pushed;
      return pushed;
    }
    return 0n;
  }
}
