import { CancelledError } from "../../../base/errors.ts";
import type { CancelFlag, PackProblem } from "../../contract/kernels.ts";
import { NONE } from "./lists.ts";
import { OfferHeap } from "./pack-heap.ts";
import { DEAD, LIVE, PackLabels } from "./pack-labels.ts";
import { EntryCounts, PathLimit } from "./pack-limit.ts";
import { PackPrices } from "./pack-prices.ts";
import type { PackState } from "./pack-state.ts";

/** Growth of the tree in the making, the cheapest path first: the twin of native/kernels/pack_grow.h, function by function. */

/** whole: the tree reaches all NPUs; stuck: no path is allowed; tooHigh: than it may be; tooSmall: no room for its links. */
export type Growth = "whole" | "stuck" | "tooHigh" | "tooSmall";

const LITTLE = 8;
const POLL_EVERY = 4096;

export class TreeGrower {
  readonly prices: PackPrices;
  mostHeight = Number.POSITIVE_INFINITY;
  readonly #state: PackState;
  readonly #labels: PackLabels;
  readonly #limit: PathLimit;
  readonly #offers = new OfferHeap();
  readonly #mine = new EntryCounts();
  readonly #cancel: CancelFlag | undefined;
  /** The most copies for which a refused path, or the beginning of one, had room. */
  #mostRefused = 0;
  #queue = NONE;
  #queueEnd = NONE;
  #little = LITTLE;
  #pops = 0;

  constructor(state: PackState, problem: PackProblem, cancel?: CancelFlag) {
    this.prices = new PackPrices(state, problem);
    this.#state = state;
    this.#labels = new PackLabels(state.net.nodes);
    this.#limit = new PathLimit(state, this.#labels);
    this.#cancel = cancel;
  }

  /** Grows the tree in the making, for fewer copies where it has to. */
  grow(thorough: boolean): Growth {
    const state = this.#state;
    const forwarders = state.net.nodes - state.net.npus;
    this.#little = thorough && forwarders + 2 > LITTLE ? forwarders + 2 : LITTLE;
    while (state.open) {
      const members = state.members;
      if (!this.#pass()) return "tooSmall";
      if (state.height > this.mostHeight) return "tooHigh";
      if (state.members > members) continue;
      if (this.#mostRefused === 0) return "stuck";
      state.lowerTo(this.#mostRefused);
    }
    return "whole";
  }

  /** One search with fresh labels; false when there is no room for its links. */
  #pass(): boolean {
    const state = this.#state;
    const { npus, target } = state.net;
    const offers = this.#offers;
    this.#labels.clear();
    offers.clear();
    this.#mostRefused = 0;
    this.#limit.fit();
    this.#mine.fit(state.pool.count);
    for (let i = 0; i < state.members; i++) this.#addStart(state.member[i]);
    while (!offers.isEmpty() && state.open && state.height <= this.mostHeight) {
      if (++this.#pops === POLL_EVERY) {
        this.#pops = 0;
        if (this.#cancel !== undefined && Atomics.load(this.#cancel, 0) !== 0) throw new CancelledError();
      }
      offers.pop();
      const { price, label, link } = offers;
      if (this.#labels.state[label] !== LIVE) continue;
      const head = target[link];
      if (head >= npus) this.#tryPass(price, label, link, head);
      else if (!this.#tryJoin(label, link, head)) return false;
    }
    return true;
  }

  #addStart(npu: number): void {
    this.#addOffers(this.#labels.add(npu, NONE, NONE, this.prices.ofStart(npu)));
  }

  /** Offers the links out of a label's node. */
  #addOffers(l: number): void {
    const { left, reached, net } = this.#state;
    const { npus, target, out } = net;
    const copies = this.#state.copies;
    const at = this.#labels.node[l];
    const price = this.#labels.price[l];
    for (let i = out.offset[at]; i < out.offset[at + 1]; i++) {
      const link = out.items[i];
      const head = target[link];
      if (head < npus && reached[head] !== 0) continue;
      if (left[link] < copies) this.#refuse(left[link]);
      else this.#offers.push(price + this.prices.ofLink(link), l, link);
    }
  }

  #refuse(limit: number): void {
    if (limit > this.#mostRefused) this.#mostRefused = limit;
  }

  /** False when there is no room for the links. */
  #tryJoin(label: number, link: number, npu: number): boolean {
    if (this.#state.reached[npu] !== 0) return true;
    const limit = this.#limit.of(label, link, npu);
    if (limit < this.#state.copies) {
      this.#refuse(limit);
      this.#buryIfDead(label);
      return true;
    }
    if (!this.#join(label, link, npu)) return false;
    this.#addStart(npu);
    return true;
  }

  /** Adds an edge to the tree; false when there is no room for its links. */
  #join(label: number, link: number, npu: number): boolean {
    const labels = this.#labels;
    const state = this.#state;
    const { links } = state.out;
    const pathLinks = labels.length[label] + 1;
    const begin = state.begin(state.treeCount - 1, state.members - 1);
    if (begin + pathLinks > links.length) return false;
    let at = begin + pathLinks - 1;
    links[at] = link;
    let l = label;
    for (; labels.parent[l] !== NONE; l = labels.parent[l]) links[--at] = labels.link[l];
    state.addEdge(labels.node[l], npu, pathLinks);
    return true;
  }

  #tryPass(price: number, label: number, link: number, node: number): void {
    const labels = this.#labels;
    if (labels.visits(label, node)) return;
    const limit = this.#limit.of(label, link, NONE);
    if (limit < this.#state.copies) {
      this.#refuse(limit);
      this.#buryIfDead(label);
      return;
    }
    const l = labels.add(node, link, label, price);
    labels.seen[l] = this.#state.members;
    this.#enqueue(l);
    this.#settle();
  }

  /** Whether the path of a label has room for the copies. */
  #hasRoom(l: number): boolean {
    const { parent, seen } = this.#labels;
    const { members } = this.#state;
    if (parent[l] === NONE || seen[l] === members) return true;
    if (this.#limit.of(l, NONE, NONE) < this.#state.copies) return false;
    seen[l] = members;
    return true;
  }

  #buryIfDead(label: number): void {
    const { parent, state } = this.#labels;
    for (let l = label; l !== NONE && !this.#hasRoom(l); l = parent[l]) if (state[l] === LIVE) this.#kill(l);
    this.#settle();
  }

  #kill(l: number): void {
    const labels = this.#labels;
    labels.kill(l);
    let next = NONE;
    for (let other = labels.shelf[l]; other !== NONE; other = next) {
      next = labels.next[other];
      this.#enqueue(other);
    }
  }

  #enqueue(l: number): void {
    const { next } = this.#labels;
    next[l] = NONE;
    if (this.#queue === NONE) this.#queue = l;
    else next[this.#queueEnd] = l;
    this.#queueEnd = l;
  }

  /** Finds their places for the labels in the queue. */
  #settle(): void {
    const labels = this.#labels;
    const mine = this.#mine;
    while (this.#queue !== NONE) {
      const l = this.#queue;
      this.#queue = labels.next[l];
      if (!this.#hasRoom(l)) {
        labels.state[l] = DEAD;
        continue;
      }
      this.#countEntries(l);
      const other = this.#dominator(l);
      if (other !== NONE) {
        labels.shelve(l, other);
        mine.clear();
        continue;
      }
      labels.entryBegin[l] = labels.entries;
      for (let i = 0; i < mine.count; i++) labels.addEntry(l, mine.cut[i], mine.times[mine.cut[i]]);
      mine.clear();
      labels.goLive(l);
      this.#addOffers(l);
    }
  }

  /** Counts how often a path enters the cuts with little slack. */
  #countEntries(label: number): void {
    const { parent, link } = this.#labels;
    const { pool, net } = this.#state;
    const { entered, slack } = pool;
    const most = this.#state.copies * this.#little;
    for (let l = label; parent[l] !== NONE; l = parent[l]) {
      const arc = net.arc[link[l]];
      const begin = pool.begin[arc];
      const end = begin + pool.size[arc];
      for (let i = begin; i < end; i++) if (slack[entered[i]] < most) this.#mine.enter(entered[i]);
    }
  }

  /** A live label at the same node that enters no cut more often than has been counted; kills the dead ones it meets. */
  #dominator(l: number): number {
    const labels = this.#labels;
    let next = NONE;
    for (let other = labels.live[labels.node[l]]; other !== NONE; other = next) {
      next = labels.next[other];
      if (!this.#hasRoom(other)) this.#kill(other);
      else if (this.#dominates(other)) return other;
    }
    return NONE;
  }

  #dominates(other: number): boolean {
    const { entryCut, entryTimes, entryBegin, entryEnd } = this.#labels;
    const { times } = this.#mine;
    for (let i = entryBegin[other]; i < entryEnd[other]; i++) if (entryTimes[i] > times[entryCut[i]]) return false;
    return true;
  }
}
