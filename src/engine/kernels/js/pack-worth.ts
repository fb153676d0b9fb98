import { type Touched, touch, touched } from "./lists.ts";
import type { PackState } from "./pack-state.ts";

/** What trees cost in the eyes of repairs: the twin of native/kernels/pack_worth.h, function by function. */

const SHARES = 4096;
const PER_TREE = 4;
const MOST_EXCESS = 1024;

/**
 * A tree costs its share of all copies, in about 4096ths, times the cube of the edges by which it is higher than the least
 * height that its root allows; and something for being a tree of its own, the more so where trees stand for many copies, for
 * those split most.
 */
export class PackWorth {
  readonly #state: PackState;
  /** [npus] */
  readonly #least: Int32Array;
  /** Copies that weigh 1. */
  readonly #share: number;
  readonly #perTree: number;

  /** O(npus (nodes + links)). */
  constructor(state: PackState) {
    const { nodes, npus } = state.net;
    this.#state = state;
    this.#share = Math.max(1, Math.floor(state.total / SHARES));
    const average = Math.floor(Math.floor(state.total / state.treeCount) / this.#share);
    this.#perTree = (PER_TREE + average) * Math.max(1, average);
    this.#least = new Int32Array(npus);
    const seen = touched(nodes);
    const distance = new Int32Array(nodes);
    for (let v = 0; v < npus; v++) this.#least[v] = this.#eccentricity(v, seen, distance);
  }

  ofTree(tree: number): number {
    const { heights, out } = this.#state;
    return this.#perTree + this.#weight(out.copies[tree]) * cube(heights[tree] - this.#least[out.root[tree]]);
  }

  ofTrees(begin: number, end: number): number {
    let sum = 0;
    for (let tree = begin; tree < end; tree++) sum += this.ofTree(tree);
    return sum;
  }

  /** The greatest height for which a tree alone costs no more than `budget`. */
  mostHeight(root: number, copies: number, budget: number): number {
    const weight = this.#weight(copies);
    let excess = 0;
    while (excess < MOST_EXCESS && this.#perTree + weight * cube(excess + 1) <= budget) excess++;
    return excess < MOST_EXCESS ? this.#least[root] + excess : Number.POSITIVE_INFINITY;
  }

  #weight(copies: number): number {
    return Math.max(1, Math.floor(copies / this.#share));
  }

  /** Edges from an NPU to the farthest one; forwarding nodes are as far as what they are reached from. */
  #eccentricity(root: number, seen: Touched, distance: Int32Array): number {
    const { list, marks } = seen;
    const { npus } = this.#state.net;
    touch(seen, root);
    distance[root] = 0;
    // A wave takes its forwarding nodes before the next one's NPUs: two passes over what it has reached.
    let farthest = 0;
    for (let begin = 0; begin < seen.count; ) {
      for (let i = begin; i < seen.count; i++) this.#reachFrom(list[i], npus, this.#state.net.nodes, 0, seen, distance);
      const end = seen.count;
      for (let i = begin; i < end; i++) this.#reachFrom(list[i], 0, npus, 1, seen, distance);
      if (seen.count > end) farthest = distance[list[end]];
      begin = end;
    }
    for (let i = 0; i < seen.count; i++) marks[list[i]] = 0;
    seen.count = 0;
    return farthest;
  }

  /** Reaches the nodes from .. to - 1 that links lead to from node u, at `step` more than its distance. */
  #reachFrom(u: number, from: number, to: number, step: number, seen: Touched, distance: Int32Array): void {
    const { out, target } = this.#state.net;
    const { full } = this.#state;
    for (let j = out.offset[u]; j < out.offset[u + 1]; j++) {
      const link = out.items[j];
      const v = target[link];
      if (v < from || v >= to || seen.marks[v] !== 0 || full[link] === 0) continue;
      touch(seen, v);
      distance[v] = distance[u] + step;
    }
  }
}

function cube(excess: number): number {
  const x = Math.min(excess, MOST_EXCESS);
  return x * x * x;
}
