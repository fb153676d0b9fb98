import type { PackProblem } from "../../contract/kernels.ts";
import type { TreeColumns } from "../outputs.ts";
import { reserve } from "./pack-columns.ts";
import { type PackNet, packNet } from "./pack-net.ts";

/** The cuts that packing has run into: the twin of native/kernels/pack_pool.h, function by function. */
class CutPool {
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

/** What is packed so far: the twin of native/kernels/pack_state.h, function by function. */
export class PackState {
  readonly net: PackNet;
  readonly pool: CutPool;
  readonly out: TreeColumns;
  /** The last of them may be in the making. */
  treeCount = 0;
  /** [links] copies that fit. */
  readonly full: Float64Array;
  /** [links] copies that still fit; net.graph.capacity has the same for arcs. */
  readonly left: Float64Array;
  /** [npus] copies still to start. */
  readonly unstarted: Float64Array;
  /** [trees] of whole trees. */
  readonly heights: Int32Array;
  /** Copies in all. */
  readonly total: number;
  /** Copies still to start. */
  waiting: number;
  /** Of the tree in the making. */
  copies = 0;
  readonly edgesPerTree: number;

  /** The tree in the making: [npus]. */
  readonly reached: Uint8Array;
  /** [npus] edges from the root, where reached. */
  readonly depth: Int32Array;
  /** [npus] as they were reached. */
  readonly member: Int32Array;
  root = 0;
  members = 0;
  height = 0;
  /** Whether there is one. */
  open = false;

  constructor(problem: PackProblem, out: TreeColumns) {
    const { npuCount } = problem;
    this.out = out;
    this.net = packNet(problem);
    this.pool = new CutPool(this.net);
    this.full = Float64Array.from(problem.capacity);
    this.left = Float64Array.from(problem.capacity);
    this.unstarted = Float64Array.from(problem.copies);
    this.heights = new Int32Array(out.root.length);
    this.reached = new Uint8Array(npuCount);
    this.depth = new Int32Array(npuCount);
    this.member = new Int32Array(npuCount);
    this.edgesPerTree = npuCount - 1;
    let total = 0;
    for (let v = 0; v < npuCount; v++) total += this.unstarted[v];
    this.total = total;
    this.waiting = total;
  }

  /** Copies that are not whole trees yet. */
  missing(): number {
    return this.waiting + (this.open ? this.copies : 0);
  }

  edges(tree: number): number {
    return this.open && tree === this.treeCount - 1 ? this.members - 1 : this.edgesPerTree;
  }

  /** The links of edge i of a tree are links[begin(tree, i) .. begin(tree, i + 1)]. */
  begin(tree: number, edge: number): number {
    return this.out.linkOffset[tree * this.edgesPerTree + edge];
  }

  /** Starts a tree with all copies of a root. False when there is no room for it. */
  startTree(at: number): boolean {
    if (this.treeCount === this.out.root.length) return false;
    const tree = this.treeCount++;
    this.copies = this.unstarted[at];
    this.out.root[tree] = at;
    this.out.copies[tree] = this.copies;
    this.unstarted[at] = 0;
    this.waiting -= this.copies;
    this.pool.start(at, this.copies);
    this.#openTree(tree, 0);
    return true;
  }

  /** Adds an edge over a path of links to NPU y, which is at links[begin(tree, edges) ..] already. */
  addEdge(from: number, y: number, pathLinks: number): void {
    const tree = this.treeCount - 1;
    const begin = this.begin(tree, this.members - 1);
    this.draw(begin, begin + pathLinks, this.copies);
    this.out.linkOffset[tree * this.edgesPerTree + this.members] = begin + pathLinks;
    this.#reach(y, this.depth[from] + 1);
    this.pool.touch(y);
    this.#closeWhole(tree);
  }

  /** Lets the tree in the making stand for fewer copies; the others are to be started again. */
  lowerTo(fewer: number): void {
    const tree = this.treeCount - 1;
    const less = this.copies - fewer;
    this.draw(this.begin(tree, 0), this.begin(tree, this.members - 1), -less);
    this.giveBack(this.root, less);
    this.copies = fewer;
    this.out.copies[tree] = fewer;
  }

  /** Undoes everything from before edge `edge` of a tree on. O(links of what is undone + cuts * (trees undone + members)). */
  rollBack(tree: number, edge: number): void {
    while (this.treeCount - 1 > tree) this.dropTree();
    this.draw(this.begin(tree, edge), this.begin(tree, this.edges(tree)), -this.out.copies[tree]);
    this.#openTree(tree, edge);
  }

  /** Undoes the last tree. */
  dropTree(): void {
    const tree = this.treeCount - 1;
    const dropped = this.out.copies[tree];
    this.draw(this.begin(tree, 0), this.begin(tree, this.edges(tree)), -dropped);
    this.giveBack(this.out.root[tree], dropped);
    this.open = false;
    this.treeCount--;
  }

  /** Takes from links[begin .. end) this many copies; they may be negative. */
  draw(begin: number, end: number, amount: number): void {
    const { left, pool } = this;
    const { arc, graph } = this.net;
    const { links } = this.out;
    for (let i = begin; i < end; i++) {
      const link = links[i];
      left[link] -= amount;
      graph.capacity[arc[link]] -= amount;
      pool.draw(arc[link], amount);
    }
  }

  /** So many copies (or, negative, that they are started) are to be started again. */
  giveBack(at: number, amount: number): void {
    this.unstarted[at] += amount;
    this.waiting += amount;
    this.pool.start(at, -amount);
  }

  /** Capacity left into the marked nodes, less the copies to start outside. O(nodes + arcs into the marked nodes). */
  slackOf(inside: Uint8Array): number {
    const { nodes, npus, graph, real } = this.net;
    const { offset, tail, capacity } = graph;
    let slack = 0;
    for (let v = 0; v < nodes; v++) {
      if (inside[v] === 0) {
        if (v < npus) slack -= this.unstarted[v];
        continue;
      }
      for (let a = offset[v]; a < offset[v + 1]; a++) {
        if (real[a] !== 0 && inside[tail[a]] === 0) slack += capacity[a];
      }
    }
    return slack;
  }

  /** Whether there is a tree in the making that has not reached a marked node. */
  isUntouched(inside: Uint8Array): boolean {
    if (!this.open) return false;
    for (let i = 0; i < this.members; i++) if (inside[this.member[i]] !== 0) return false;
    return true;
  }

  /** Makes the first `edges` edges of the last tree the tree in the making. */
  #openTree(tree: number, edges: number): void {
    const { source, target } = this.net;
    const { root, copies, links } = this.out;
    this.open = true;
    this.root = root[tree];
    this.copies = copies[tree];
    this.members = 0;
    this.height = 0;
    this.reached.fill(0);
    this.pool.touchNone();
    this.#reach(this.root, 0);
    this.pool.touch(this.root);
    for (let i = 0; i < edges; i++) {
      const y = target[links[this.begin(tree, i + 1) - 1]];
      this.#reach(y, this.depth[source[links[this.begin(tree, i)]]] + 1);
      this.pool.touch(y);
    }
    this.#closeWhole(tree);
  }

  #closeWhole(tree: number): void {
    if (this.members < this.net.npus) return;
    this.open = false;
    this.heights[tree] = this.height;
  }

  #reach(v: number, atDepth: number): void {
    this.reached[v] = 1;
    this.depth[v] = atDepth;
    this.member[this.members++] = v;
    if (atDepth > this.height) this.height = atDepth;
  }
}
