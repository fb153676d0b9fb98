import { type Lists, NONE, type Touched, touch, touched } from "./lists.ts";

/** Maximum flows into one sink after another: the twin of native/kernels/flow.h, function by function. */

/**
 * An exact integer: a double where all amounts of a network stay below 2^53, else a BigInt, one or the other throughout.
 * TypeScript sees numbers, for +, -, *, %, exact /, < and > read the same; constants come from the arithmetic, only > 0 is written out.
 */
export type Amount = number;
export type Amounts = Float64Array;

export interface Arithmetic {
  of(value: number): Amount;
  /** Returns a column of zeros. */
  zeros(length: number): Amounts;
}

export const DOUBLES: Arithmetic = {
  of: (value) => value,
  zeros: (length) => new Float64Array(length),
};

export const BIGINTS: Arithmetic = {
  of: (value) => BigInt(value) as unknown as Amount,
  zeros: (length) => new Array(length).fill(0n) as unknown as Amounts,
};

export function gcd(a: Amount, b: Amount): Amount {
  let x = a;
  let y = b;
  while (y > 0) [x, y] = [y, x % y];
  return x;
}

/** Returns the greatest number that divides all of the values; 1 where there are none. */
export function commonDivisor(values: Float64Array): number {
  let divisor = 0;
  for (let i = 0; i < values.length && divisor !== 1; i++) divisor = gcd(values[i], divisor);
  return divisor === 0 ? 1 : divisor;
}

/** The arcs into each node, ascending by tail: those into v are offset[v] .. offset[v + 1]. */
export interface FlowGraph {
  readonly offset: Int32Array;
  readonly tail: Int32Array;
  /** The opposite arc. */
  readonly mate: Int32Array;
  readonly capacity: Amounts;
}

interface Links {
  readonly nodeCount: number;
  readonly linkSource: Int32Array;
  readonly linkTarget: Int32Array;
  readonly capacity: Float64Array;
}

/** Returns the graph of links of capacity[i] / divisor; `out` and `into` are the links by source and by target. */
export function flowGraph(
  links: Links,
  divisor: number,
  out: Lists,
  into: Lists,
  { of, zeros }: Arithmetic,
): FlowGraph {
  const { nodeCount, linkSource, linkTarget } = links;
  const offset = new Int32Array(nodeCount + 1);
  const latest = new Int32Array(nodeCount).fill(NONE);
  const count = (head: number, from: number): void => {
    if (latest[head] === from) return;
    latest[head] = from;
    offset[head + 1]++;
  };
  for (let u = 0; u < nodeCount; u++) {
    for (let i = out.offset[u]; i < out.offset[u + 1]; i++) count(linkTarget[out.items[i]], u);
    for (let i = into.offset[u]; i < into.offset[u + 1]; i++) count(linkSource[into.items[i]], u);
  }
  for (let v = 0; v < nodeCount; v++) offset[v + 1] += offset[v];
  const arcs = offset[nodeCount];
  const tail = new Int32Array(arcs);
  const mate = new Int32Array(arcs);
  const capacity = zeros(arcs);
  for (let v = 0; v < nodeCount; v++) latest[v] = offset[v] - 1;
  const arc = (head: number, from: number): number => {
    if (latest[head] < offset[head] || tail[latest[head]] !== from) tail[++latest[head]] = from;
    return latest[head];
  };
  for (let u = 0; u < nodeCount; u++) {
    for (let i = out.offset[u]; i < out.offset[u + 1]; i++) {
      const link = out.items[i];
      capacity[arc(linkTarget[link], u)] += of(links.capacity[link] / divisor);
    }
    for (let i = into.offset[u]; i < into.offset[u + 1]; i++) arc(linkSource[into.items[i]], u);
  }
  // Heads ascend here and tails at every node, so opposite arcs come in the same order.
  latest.set(offset.subarray(0, nodeCount));
  for (let v = 0; v < nodeCount; v++) {
    for (let a = offset[v]; a < offset[v + 1]; a++) mate[a] = latest[tail[a]]++;
  }
  return { offset, tail, mate, capacity };
}

const FIRST_ENOUGH = 8;
const MOST_ENOUGH = 2 ** 28;

export class Flow {
  readonly #graph: FlowGraph;
  readonly #zero: Amount;
  readonly #full: Amounts;
  readonly #residual: Amounts;
  readonly #fed: Amounts;
  readonly #supply: Amounts;
  #left: Amount;
  readonly #arcs: Touched;
  readonly #nodes: Touched;
  /** [nodes] 1 + steps to the sink; 0: not laid. */
  readonly #level: Int32Array;
  readonly #queue: Int32Array;
  readonly #next: Int32Array;
  readonly #path: Int32Array;
  #queued = 0;
  #lastLevel = 0;

  constructor(graph: FlowGraph, { of, zeros }: Arithmetic) {
    const nodes = graph.offset.length - 1;
    const arcs = graph.tail.length;
    this.#graph = graph;
    this.#zero = of(0);
    this.#full = zeros(arcs);
    this.#residual = zeros(arcs);
    this.#fed = zeros(nodes);
    this.#supply = zeros(nodes);
    this.#left = this.#zero;
    this.#arcs = touched(arcs);
    this.#nodes = touched(nodes);
    this.#level = new Int32Array(nodes);
    this.#queue = new Int32Array(nodes);
    this.#next = new Int32Array(nodes);
    this.#path = new Int32Array(nodes);
  }

  /** Gives every arc `factor` times its capacity and takes back all flow and supply. */
  scale(factor: Amount): void {
    const { capacity } = this.#graph;
    for (let a = 0; a < capacity.length; a++) this.#residual[a] = this.#full[a] = factor * capacity[a];
    this.#fed.fill(this.#zero);
    this.#supply.fill(this.#zero);
    this.#arcs.count = 0;
    this.#nodes.count = 0;
    this.#arcs.marks.fill(0);
    this.#nodes.marks.fill(0);
  }

  /** Lets the source supply a node with up to `amount`. There is no flow at the time. */
  feed(node: number, amount: Amount): void {
    this.#fed[node] = amount;
    this.#supply[node] = amount;
  }

  /** Gives an arc a capacity of its own until the next scale. There is no flow at the time. */
  widen(arc: number, amount: Amount): void {
    this.#full[arc] = amount;
    this.#residual[arc] = amount;
  }

  /** Returns the flow into the sink, at most `most`. */
  solve(sink: number, most: Amount): Amount {
    const own = this.#supply[sink] < most ? this.#supply[sink] : most;
    this.#left = most - own;
    this.#draw(sink, own);
    for (let enough = FIRST_ENOUGH; this.#left > 0; enough = enough > MOST_ENOUGH ? enough : 4 * enough) {
      if (!this.#layLevels(sink, enough)) break;
      this.#augment(sink);
    }
    return most - this.#left;
  }

  /** Takes the flow back. O(arcs that it touched). */
  undo(): void {
    const { mate } = this.#graph;
    for (let i = 0; i < this.#arcs.count; i++) {
      const a = this.#arcs.list[i];
      this.#arcs.marks[a] = 0;
      this.#residual[a] = this.#full[a];
      this.#residual[mate[a]] = this.#full[mate[a]];
    }
    this.#arcs.count = 0;
    for (let i = 0; i < this.#nodes.count; i++) {
      const v = this.#nodes.list[i];
      this.#nodes.marks[v] = 0;
      this.#supply[v] = this.#fed[v];
    }
    this.#nodes.count = 0;
  }

  /** Marks in `side` [nodes] what the source still reaches: the smallest source side of a minimum cut. O(nodes + arcs). */
  markSourceSide(side: Uint8Array): void {
    const { offset, tail, mate } = this.#graph;
    let count = 0;
    for (let v = 0; v < side.length; v++) {
      side[v] = this.#supply[v] > 0 ? 1 : 0;
      if (side[v] !== 0) this.#queue[count++] = v;
    }
    for (let i = 0; i < count; i++) {
      const v = this.#queue[i];
      for (let a = offset[v]; a < offset[v + 1]; a++) {
        const u = tail[a];
        if (side[u] !== 0 || !(this.#residual[mate[a]] > 0)) continue;
        side[u] = 1;
        this.#queue[count++] = u;
      }
    }
  }

  /** Marks in `side` [nodes] what still reaches the sink: the smallest sink side of a minimum cut. O(nodes + arcs into the side). */
  markSinkSide(sink: number, side: Uint8Array): void {
    const { offset, tail } = this.#graph;
    side.fill(0);
    side[sink] = 1;
    this.#queue[0] = sink;
    let count = 1;
    for (let i = 0; i < count; i++) {
      const v = this.#queue[i];
      for (let a = offset[v]; a < offset[v + 1]; a++) {
        const u = tail[a];
        if (side[u] !== 0 || !(this.#residual[a] > 0)) continue;
        side[u] = 1;
        this.#queue[count++] = u;
      }
    }
  }

  #draw(node: number, amount: Amount): void {
    this.#supply[node] -= amount;
    touch(this.#nodes, node);
  }

  /** Lays levels backwards from the sink; true when they reach a node that the source still supplies. */
  #layLevels(sink: number, enough: number): boolean {
    const { offset, tail } = this.#graph;
    const level = this.#level;
    const next = this.#next;
    const queue = this.#queue;
    const residual = this.#residual;
    const supply = this.#supply;
    queue[0] = sink;
    level[sink] = 1;
    next[sink] = offset[sink];
    let last = Number.POSITIVE_INFINITY;
    let queued = 1;
    for (let i = 0; i < queued; i++) {
      const v = queue[i];
      const laid = level[v] + 1;
      if (laid > last) break;
      let found = 0;
      for (let a = offset[v]; a < offset[v + 1]; a++) {
        const u = tail[a];
        if (level[u] !== 0 || !(residual[a] > 0)) continue;
        level[u] = laid;
        next[u] = offset[u];
        queue[queued++] = u;
        if (!(supply[u] > 0)) continue;
        last = laid;
        if (++found === enough) break;
      }
    }
    this.#queued = queued;
    this.#lastLevel = last;
    if (last < Number.POSITIVE_INFINITY) return true;
    this.#clearLevels();
    return false;
  }

  #clearLevels(): void {
    for (let i = 0; i < this.#queued; i++) this.#level[this.#queue[i]] = 0;
  }

  /** Sends flow along levels until no path is left, and clears the levels. */
  #augment(sink: number): void {
    const { tail } = this.#graph;
    const level = this.#level;
    const next = this.#next;
    const path = this.#path;
    const last = this.#lastLevel;
    let depth = 0; // path[0 .. depth) are arcs from v back to the sink
    let v = sink;
    while (this.#left > 0) {
      if (level[v] === last && this.#supply[v] > 0) {
        depth = this.#push(v, depth);
      } else if (level[v] < last && this.#extend(v)) {
        path[depth++] = next[v];
        v = tail[next[v]];
        continue;
      } else if (depth === 0) {
        break;
      } else {
        depth--;
      }
      // Back at the head of the arc that leads no further.
      v = depth === 0 ? sink : tail[path[depth - 1]];
      next[v]++;
    }
    this.#clearLevels();
  }

  /** Moves next[v] to an arc that leads on; false when there is none. */
  #extend(v: number): boolean {
    const { offset, tail } = this.#graph;
    const level = this.#level;
    const end = offset[v + 1];
    let a = this.#next[v];
    while (a < end && !(level[tail[a]] === level[v] + 1 && this.#residual[a] > 0)) a++;
    this.#next[v] = a;
    return a < end;
  }

  /**
   * Sends what fits along the path from node v; returns the place of the first arc, seen from the sink, that is full now, or
   * of the last when it is the supply that is used up.
   */
  #push(v: number, depth: number): number {
    const { mate } = this.#graph;
    const residual = this.#residual;
    const path = this.#path;
    let amount = this.#supply[v] < this.#left ? this.#supply[v] : this.#left;
    for (let i = 0; i < depth; i++) {
      const room = residual[path[i]];
      if (room < amount) amount = room;
    }
    let back = depth - 1;
    for (let i = depth - 1; i >= 0; i--) {
      const a = path[i];
      residual[a] -= amount;
      residual[mate[a]] += amount;
      touch(this.#arcs, a);
      if (!(residual[a] > 0)) back = i;
    }
    this.#draw(v, amount);
    this.#left -= amount;
    return back;
  }
}
