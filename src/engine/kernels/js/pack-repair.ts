import { below, draw } from "../../../base/random.ts";
import { NONE } from "./lists.ts";
import type { PackSearch } from "./pack-search.ts";
import type { PackState } from "./pack-state.ts";
import { PackWorth } from "./pack-worth.ts";

/** Lower trees by ruin and recreate: the twin of native/kernels/pack_repair.h, function by function. */

const MOST_HIGH = 3;
const FEWEST_OTHERS = 1;
const MOST_OTHERS = 7;
const MOST_CHANCE = 2 ** 18 - 1; // a quarter of what an edge costs for depth at price 1000
const MOST_TAKEN = MOST_HIGH + MOST_OTHERS;

export class PackRepair {
  readonly #state: PackState;
  readonly #search: PackSearch;
  readonly #worth: PackWorth;
  readonly #seed: number;
  readonly #loadPrice: number;
  /** [trees] 1: listed. */
  readonly #taken: Uint8Array;
  /** Trees to take out. */
  readonly #list = new Int32Array(MOST_TAKEN);
  /** Their roots. */
  readonly #roots = new Int32Array(MOST_TAKEN);
  #listed = 0;

  /** Repairs a packing that is whole and has trees. */
  constructor(state: PackState, search: PackSearch, seed: number) {
    this.#state = state;
    this.#search = search;
    this.#worth = new PackWorth(state);
    this.#seed = seed;
    this.#loadPrice = search.grower.prices.loadPrice;
    this.#taken = new Uint8Array(state.out.root.length);
  }

  /** At most `repairs` repairs, until no tree is higher than `enough`. The packing is whole before and after. */
  run(repairs: number, enough: number): void {
    this.#search.worth = this.#worth;
    for (let i = 0; i < repairs && this.#highest() > enough; i++) {
      // One that finds no room for its trees ends before it has searched.
      if ((i & 63) === 63) this.#search.throwIfCancelled();
      this.#repair(i);
    }
  }

  #repair(number: number): void {
    const state = this.#state;
    const search = this.#search;
    if (state.pool.count > 1024 + 4 * state.net.nodes) state.pool.clear();
    this.#choose(number);
    const whole = state.treeCount;
    const before = this.#takeOut();
    search.first = whole;
    search.budget = before;
    search.grower.prices.chance = below(draw(this.#seed, number, 4), 4) === 0 ? 63 : MOST_CHANCE;
    search.grower.prices.loadPrice = this.#loadPriceOf(draw(this.#seed, number, 3));
    const end = search.run();
    if (end === "packed" && this.#worth.ofTrees(whole, state.treeCount) <= before) {
      this.#drop(whole);
      return;
    }
    while (state.treeCount > whole) state.dropTree();
    this.#putBack();
  }

  /** None, half, once, twice, four or eight times the price that was asked for. */
  #loadPriceOf(random: number): number {
    const choice = below(random, 6);
    return choice === 0 ? 0 : Math.floor((this.#loadPrice * (1 << choice)) / 4);
  }

  /** Lists the trees to take out and their roots, the high ones first. */
  #choose(number: number): void {
    const seed = this.#seed;
    const taken = this.#taken;
    const trees = this.#state.treeCount;
    this.#listed = 0;
    const high = 1 + below(draw(seed, number, 0), MOST_HIGH);
    for (let i = 0; i < high && this.#listed < trees; i++) {
      this.#take(this.#highestFrom(below(draw(seed, number, 16 + i), trees)));
    }
    const others = FEWEST_OTHERS + below(draw(seed, number, 1), MOST_OTHERS - FEWEST_OTHERS + 1);
    for (let i = 0; i < others && this.#listed < trees; i++) {
      let tree = below(draw(seed, number, 32 + i), trees);
      while (taken[tree] !== 0) tree = tree + 1 === trees ? 0 : tree + 1;
      this.#take(tree);
    }
    for (let i = 0; i < this.#listed; i++) this.#roots[i] = this.#state.out.root[this.#list[i]];
    this.#search.setRoots(this.#roots, this.#listed);
  }

  #take(tree: number): void {
    this.#taken[tree] = 1;
    this.#list[this.#listed++] = tree;
  }

  /** The height of the highest tree. */
  #highest(): number {
    const { heights, treeCount } = this.#state;
    let highest = 0;
    for (let tree = 0; tree < treeCount; tree++) if (heights[tree] > highest) highest = heights[tree];
    return highest;
  }

  /** The first of the highest trees not taken yet, looking from tree `from` on and around. */
  #highestFrom(from: number): number {
    const { heights, treeCount } = this.#state;
    let best = NONE;
    for (let i = 0, tree = from; i < treeCount; i++, tree = tree + 1 === treeCount ? 0 : tree + 1) {
      if (this.#taken[tree] !== 0) continue;
      if (best === NONE || heights[tree] > heights[best]) best = tree;
    }
    return best;
  }

  /** Makes room of the listed trees; returns what they cost. */
  #takeOut(): number {
    let cost = 0;
    for (let i = 0; i < this.#listed; i++) {
      cost += this.#worth.ofTree(this.#list[i]);
      this.#give(this.#list[i], 1);
    }
    return cost;
  }

  #putBack(): void {
    for (let i = 0; i < this.#listed; i++) {
      this.#give(this.#list[i], -1);
      this.#taken[this.#list[i]] = 0;
    }
  }

  #give(tree: number, sign: number): void {
    const state = this.#state;
    const copies = sign * state.out.copies[tree];
    state.draw(state.begin(tree, 0), state.begin(tree, state.edgesPerTree), -copies);
    state.giveBack(state.out.root[tree], copies);
  }

  /** Closes the gaps that the listed trees, all before tree `whole`, leave. */
  #drop(whole: number): void {
    const state = this.#state;
    const taken = this.#taken;
    let kept = 0;
    while (kept < whole && taken[kept] === 0) kept++;
    for (let tree = kept; tree < state.treeCount; tree++) {
      if (tree < whole && taken[tree] !== 0) taken[tree] = 0;
      else this.#move(tree, kept++);
    }
    state.treeCount = kept;
  }

  #move(from: number, to: number): void {
    const { out, heights, edgesPerTree } = this.#state;
    const { root, copies, linkOffset, links } = out;
    root[to] = root[from];
    copies[to] = copies[from];
    heights[to] = heights[from];
    const begin = linkOffset[from * edgesPerTree];
    const down = begin - linkOffset[to * edgesPerTree];
    links.copyWithin(begin - down, begin, linkOffset[(from + 1) * edgesPerTree]);
    for (let edge = 1; edge <= edgesPerTree; edge++) {
      linkOffset[to * edgesPerTree + edge] = linkOffset[from * edgesPerTree + edge] - down;
    }
  }
}
