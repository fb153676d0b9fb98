import { reserve } from "./pack-columns.ts";
import type { PackNet } from "./pack-net.ts";

/** The cuts that packing has run into: the twin of native/kernels/pack_pool.h, function by function. */
export class CutPool {
  count = 0;
  /** [cuts] */
  slack: Float64Array = new Float64Array(0);
  /** [cuts] 1: the tree in the making has not touched the cut. */
  untouched: Uint8Array = new Uint8Array(0);
  /** The cuts that an arc enters are entered[begin[arc]], `size[arc]` of them, the oldest first. */
  entered: Int32Array = new Int32Array(0);
  readonly begin: Int32Array;
  readonly size: Int32Array;
  readonly #room: Int32Array;
  #used = 0;
  readonly #words: number;
  /** [cuts * words] bit v: node v is inside. */
  #member: Int32Array = new Int32Array(0);
  /** Cuts that the tree in the making has not touched, ascending. */
  #open: Int32Array = new Int32Array(0);
  #openCount = 0;

  constructor({ nodes, graph }: PackNet) {
    this.#words = (nodes + 31) >>> 5;
    this.begin = new Int32Array(graph.tail.length);
    this.size = new Int32Array(graph.tail.length);
    this.#room = new Int32Array(graph.tail.length);
  }

  has(cut: number, node: number): boolean {
    return ((this.#member[cut * this.#words + (node >>> 5)] >>> (node & 31)) & 1) !== 0;
  }

  /** Adds the set of the nodes marked in `inside`. O(nodes + arcs). */
  add({ nodes, graph, real }: PackNet, inside: Uint8Array, slack: number, untouched: boolean): void {
    const { offset, tail } = graph;
    const cut = this.count;
    const row = cut * this.#words;
    this.slack = reserve(this.slack, cut + 1);
    this.untouched = reserve(this.untouched, cut + 1);
    this.#open = reserve(this.#open, cut + 1);
    this.#member = reserve(this.#member, row + this.#words);
    this.#member.fill(0, row, row + this.#words);
    for (let v = 0; v < nodes; v++) {
      if (inside[v] === 0) continue;
      this.#member[row + (v >>> 5)] |= 1 << (v & 31);
      for (let a = offset[v]; a < offset[v + 1]; a++) {
        if (real[a] !== 0 && inside[tail[a]] === 0) this.#enter(a, cut);
      }
    }
    this.slack[cut] = slack;
    this.untouched[cut] = untouched ? 1 : 0;
    if (untouched) this.#open[this.#openCount++] = cut;
    this.count++;
  }

  /** Forgets all cuts. */
  clear(): void {
    this.count = 0;
    this.#openCount = 0;
    this.#used = 0;
    this.size.fill(0);
    this.#room.fill(0);
  }

  /** Takes `amount` of the capacity of an arc; it may be negative. */
  draw(arc: number, amount: number): void {
    const { entered, slack } = this;
    const begin = this.begin[arc];
    const end = begin + this.size[arc];
    for (let i = begin; i < end; i++) slack[entered[i]] -= amount;
  }

  /** So many copies more (or, negative, fewer) have started at a root. */
  start(root: number, copies: number): void {
    for (let cut = 0; cut < this.count; cut++) if (!this.has(cut, root)) this.slack[cut] += copies;
  }

  /** A new tree touches no cut yet. */
  touchNone(): void {
    for (let cut = 0; cut < this.count; cut++) {
      this.untouched[cut] = 1;
      this.#open[cut] = cut;
    }
    this.#openCount = this.count;
  }

  /** The tree in the making has reached a node. O(cuts that it had not touched). */
  touch(node: number): void {
    const open = this.#open;
    let kept = 0;
    for (let i = 0; i < this.#openCount; i++) {
      const cut = open[i];
      if (this.has(cut, node)) this.untouched[cut] = 0;
      else open[kept++] = cut;
    }
    this.#openCount = kept;
  }

  /** Lists lie in one array; one that is full moves to its end with twice the room. */
  #enter(arc: number, cut: number): void {
    const size = this.size[arc];
    if (size === this.#room[arc]) {
      const larger = size === 0 ? 4 : 2 * size;
      this.entered = reserve(this.entered, this.#used + larger);
      this.entered.copyWithin(this.#used, this.begin[arc], this.begin[arc] + size);
      this.begin[arc] = this.#used;
      this.#room[arc] = larger;
      this.#used += larger;
    }
    this.entered[this.begin[arc] + this.size[arc]++] = cut;
  }
}
