import { CancelledError } from "../../../base/errors.ts";
import type { CancelFlag, PackProblem } from "../../contract/kernels.ts";
import { DOUBLES, Flow } from "./flow.ts";
import { range, touch, touched } from "./lists.ts";
import { type Growth, TreeGrower } from "./pack-grow.ts";
import type { PackNet } from "./pack-net.ts";
import type { PackState } from "./pack-state.ts";
import type { PackWorth } from "./pack-worth.ts";

/** Are there violated cuts? One maximum flow per NPU: the twin of native/kernels/pack_sweep.h, function by function. */
class PackSweep {
  readonly #state: PackState;
  readonly #flow: Flow;
  /** [npus] sinks. */
  readonly #order: Int32Array;
  /** [npus] 1: in a violated set. */
  readonly #passed: Uint8Array;
  /** [npus] 1: all can flow into it. */
  readonly #enough: Uint8Array;
  /** [nodes + 1] */
  readonly #side: Uint8Array;

  constructor(state: PackState) {
    const { nodes, npus, graph } = state.net;
    this.#state = state;
    this.#flow = new Flow(graph, DOUBLES);
    this.#order = orderSinks(state.net);
    this.#passed = new Uint8Array(npus);
    this.#enough = new Uint8Array(npus);
    this.#side = new Uint8Array(nodes + 1);
  }

  /**
   * Calls found(inside, largest) for every violated set, marked in `inside` [nodes + 1]; with `tight` also for sets that have
   * nothing to spare, the smallest around their NPUs. The state may change meanwhile; the sets are of what it was.
   * `again`: since the last sweep trees have only been undone, so NPUs that could get all then still can.
   */
  run(
    tight: boolean,
    again: boolean,
    cancel: CancelFlag | undefined,
    found: (inside: Uint8Array, largest: boolean) => void,
  ): void {
    const flow = this.#flow;
    const order = this.#order;
    const side = this.#side;
    const all = this.#state.missing();
    const enough = this.#enough;
    this.#feed(all);
    if (!again) enough.fill(0);
    for (let v = 0; v < enough.length; v++) if (enough[v] !== 0) flow.feed(v, all);
    if (!tight) this.#screen(all, cancel);
    this.#passed.fill(0);
    for (let i = 0; i < order.length; i++) {
      const sink = order[i];
      if (this.#passed[sink] !== 0 || enough[sink] !== 0) continue;
      if (cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
      const into = flow.solve(sink, tight ? all + 1 : all);
      if (into < all || (tight && into === all)) {
        flow.markSinkSide(sink, side);
        if (this.#hasOutsider()) {
          if (into < all) this.#passOver();
          found(side, false);
        }
      }
      if (into < all) {
        this.#markLargest();
        this.#passOver();
        found(side, true);
      }
      flow.undo();
      if (into >= all) flow.feed(sink, all);
    }
  }

  /** Finds the NPUs that all can flow into. */
  #screen(all: number, cancel: CancelFlag | undefined): void {
    const flow = this.#flow;
    this.#passed.fill(0);
    for (let sink = 0; sink < this.#passed.length; sink++) {
      if (this.#passed[sink] !== 0 || this.#enough[sink] !== 0) continue;
      if (cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
      const enough = flow.solve(sink, all) >= all;
      if (!enough) {
        this.#markLargest();
        this.#passOver();
      }
      flow.undo();
      if (!enough) continue;
      flow.feed(sink, all);
      this.#enough[sink] = 1;
    }
  }

  /** Marks the largest violated set after a flow that fell short. */
  #markLargest(): void {
    const side = this.#side;
    this.#flow.markSourceSide(side);
    for (let v = 0; v < side.length; v++) side[v] = side[v] === 0 ? 1 : 0;
  }

  #feed(all: number): void {
    const { net, open, reached, unstarted, copies } = this.#state;
    const { nodes, npus, gate, graph } = net;
    for (let v = 0; v < npus; v++) graph.capacity[gate[v]] = open && reached[v] !== 0 ? all : 0;
    this.#flow.scale(1);
    for (let v = 0; v < npus; v++) this.#flow.feed(v, unstarted[v]);
    this.#flow.feed(nodes, open ? copies : 0);
  }

  #hasOutsider(): boolean {
    const { npus } = this.#state.net;
    for (let v = 0; v < npus; v++) if (this.#side[v] === 0) return true;
    return false;
  }

  #passOver(): void {
    const passed = this.#passed;
    for (let v = 0; v < passed.length; v++) if (this.#side[v] !== 0) passed[v] = 1;
  }
}

/** NPUs breadth-first over links in both directions, from the least that has not been reached. */
function orderSinks({ nodes, npus, graph }: PackNet): Int32Array {
  const { offset, tail } = graph;
  const seen = touched(nodes + 1);
  const order = new Int32Array(npus);
  seen.marks[nodes] = 1;
  let ordered = 0;
  let taken = 0;
  for (let start = 0; start < npus; start++) {
    touch(seen, start);
    for (; taken < seen.count; taken++) {
      const v = seen.list[taken];
      if (v < npus) order[ordered++] = v;
      for (let a = offset[v]; a < offset[v + 1]; a++) touch(seen, tail[a]);
    }
  }
  return order;
}

/** Packs what is still to start: the twin of native/kernels/pack_search.h, function by function. */

/** stuck: no path is allowed, and no cut is violated; tooDear: than the trees may be; tooSmall: no room for them. */
export type PackEnd = "packed" | "stuck" | "tooDear" | "tooSmall";

const MOST_BATCH = 64;

export class PackSearch {
  readonly grower: TreeGrower;
  /** Where there is one, trees from `first` on may cost so much. */
  worth: PackWorth | null = null;
  budget = 0;
  first = 0;
  sweeps = 0;
  rollbacks = 0;
  readonly #state: PackState;
  readonly #sweep: PackSweep;
  readonly #cancel: CancelFlag | undefined;
  /** [rootCount] in the order of their turns. */
  #roots: Int32Array;
  #rootCount: number;
  #turn = 0;
  #treeNumber = 0;

  constructor(state: PackState, problem: PackProblem, cancel?: CancelFlag) {
    this.grower = new TreeGrower(state, problem, cancel);
    this.#state = state;
    this.#sweep = new PackSweep(state);
    this.#cancel = cancel;
    this.#roots = range(state.net.npus);
    this.#rootCount = state.net.npus;
  }

  throwIfCancelled(): void {
    if (this.#cancel !== undefined && Atomics.load(this.#cancel, 0) !== 0) throw new CancelledError();
  }

  /** Lets the copies of roots [count] start in this order, in turn; the caller keeps the array. */
  setRoots(roots: Int32Array, count: number): void {
    this.#roots = roots;
    this.#rootCount = count;
  }

  /**
   * Looks for sets that forbid the trees before any is made; sets with nothing to spare join the pool. Marks in `cut` [nodes]
   * the outside of the largest violated one; returns whether there is one.
   */
  begin(cut: Uint8Array): boolean {
    const state = this.#state;
    const { nodes } = state.net;
    let fewest = Number.POSITIVE_INFINITY;
    this.#runSweep(true, false, (inside) => {
      const slack = state.slackOf(inside);
      if (slack >= 0) {
        if (fewest === Number.POSITIVE_INFINITY) state.pool.add(state.net, inside, slack, false);
        return;
      }
      let outside = 0;
      for (let v = 0; v < nodes; v++) outside += inside[v] === 0 ? 1 : 0;
      if (outside >= fewest) return;
      fewest = outside;
      for (let v = 0; v < nodes; v++) cut[v] = inside[v] === 0 ? 1 : 0;
    });
    return fewest < Number.POSITIVE_INFINITY;
  }

  /** Packs all copies that are still to start. */
  run(): PackEnd {
    const state = this.#state;
    this.#turn = 0;
    let batch = MOST_BATCH;
    let thorough = false;
    for (;;) {
      const growth = this.#growBatch(batch, thorough);
      if (growth === "tooSmall") return "tooSmall";
      if (growth === "tooHigh" || this.#isTooDear()) return "tooDear";
      if (state.missing() === 0) return "packed";
      const before = this.rollbacks;
      this.#verify();
      if (this.rollbacks > before) {
        batch = batch > 1 ? batch >> 1 : 1;
        thorough = false;
        continue;
      }
      if (batch < MOST_BATCH) batch *= 2;
      if (growth === "whole") thorough = false;
      else if (state.copies > 1) state.lowerTo(Math.floor(state.copies / 2));
      else if (!thorough) thorough = true;
      else return "stuck";
    }
  }

  /** Up to `batch` trees; "whole" when they are finished. */
  #growBatch(batch: number, thorough: boolean): Growth {
    const state = this.#state;
    for (let i = 0; i < batch && state.missing() > 0; i++) {
      if (!state.open && !state.startTree(this.#nextRoot())) return "tooSmall";
      this.grower.prices.nextTree(this.#treeNumber++);
      if (this.worth !== null) {
        this.grower.mostHeight = this.worth.mostHeight(state.root, state.copies, this.budget);
      }
      const growth = this.grower.grow(thorough && i === 0);
      if (growth !== "whole" || this.#isTooDear()) return growth;
    }
    return "whole";
  }

  #isTooDear(): boolean {
    if (this.worth === null) return false;
    const { treeCount, open } = this.#state;
    return this.worth.ofTrees(this.first, treeCount - (open ? 1 : 0)) > this.budget;
  }

  /** The next root in turn that has copies to start. */
  #nextRoot(): number {
    const roots = this.#roots;
    while (this.#state.unstarted[roots[this.#turn]] === 0) this.#takeTurn();
    const root = roots[this.#turn];
    this.#takeTurn();
    return root;
  }

  #takeTurn(): void {
    this.#turn = this.#turn + 1 === this.#rootCount ? 0 : this.#turn + 1;
  }

  #runSweep(tight: boolean, again: boolean, found: (inside: Uint8Array, largest: boolean) => void): void {
    this.sweeps++;
    this.#sweep.run(tight, again, this.#cancel, found);
  }

  /** Sweeps, and rolls back before what broke the cuts found, until there are none. */
  #verify(): void {
    const state = this.#state;
    let clean = false;
    const found = (inside: Uint8Array, largest: boolean): void => {
      const slack = state.slackOf(inside);
      const untouched = state.isUntouched(inside);
      const violated = slack < (untouched ? state.copies : 0);
      clean = false;
      if (largest && !violated) return;
      state.pool.add(state.net, inside, slack, untouched);
      if (!violated) return;
      this.#undoBreach(inside, slack);
      this.rollbacks++;
    };
    for (let again = false; !clean; again = true) {
      clean = true;
      this.#runSweep(false, again, found);
    }
  }

  /**
   * Undoes everything from the first edge on that broke a cut whose slack is `slack` now. Slack never grows along the trees,
   * so it is looked for from the end. O(links of the trees passed over).
   */
  #undoBreach(inside: Uint8Array, slack: number): void {
    let tree = this.#state.treeCount - 1;
    let before = this.#slackBefore(inside, tree, slack);
    while (tree > 0 && before < 0) before = this.#slackBefore(inside, --tree, before);
    this.#state.rollBack(tree, this.#breachIn(inside, tree, before));
  }

  /** The slack before a tree from that after it. */
  #slackBefore(inside: Uint8Array, tree: number, after: number): number {
    const state = this.#state;
    const { root, copies } = state.out;
    const entries = this.#entries(inside, state.begin(tree, 0), state.begin(tree, state.edges(tree)));
    return after + copies[tree] * (entries - (inside[root[tree]] === 0 ? 1 : 0));
  }

  /** The first edge of a tree that broke a cut whose slack before the tree was `before`. */
  #breachIn(inside: Uint8Array, tree: number, before: number): number {
    const state = this.#state;
    const { root, links } = state.out;
    const copies = state.out.copies[tree];
    let untouched = inside[root[tree]] === 0;
    let slack = untouched ? before + copies : before;
    let edge = 0;
    for (; edge < state.edges(tree); edge++) {
      const end = state.begin(tree, edge + 1);
      slack -= copies * this.#entries(inside, state.begin(tree, edge), end);
      if (inside[state.net.target[links[end - 1]]] !== 0) untouched = false;
      if (slack < (untouched ? copies : 0)) break;
    }
    return edge;
  }

  /** How often links[begin .. end) enter a set. */
  #entries(inside: Uint8Array, begin: number, end: number): number {
    const { source, target } = this.#state.net;
    const { links } = this.#state.out;
    let entries = 0;
    for (let i = begin; i < end; i++) {
      if (inside[source[links[i]]] === 0 && inside[target[links[i]]] !== 0) entries++;
    }
    return entries;
  }
}
