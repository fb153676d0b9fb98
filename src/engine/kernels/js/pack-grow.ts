import { CancelledError } from "../../../base/errors.ts";
import { draw, mix } from "../../../base/random.ts";
import type { CancelFlag, PackProblem } from "../../contract/kernels.ts";
import { NONE } from "./lists.ts";
import { reserve } from "./pack-columns.ts";
import { DEAD, LIVE, PackLabels } from "./pack-labels.ts";
import type { PackState } from "./pack-state.ts";

/** The links that labels offer to go on by: the twin of native/kernels/pack_heap.h, a binary heap in the total order (price, label, link). */
class OfferHeap {
  /** The offer that was taken last. */
  price = 0;
  label = 0;
  link = 0;
  #count = 0;
  #prices = new Float64Array(64);
  #labels = new Int32Array(64);
  #links = new Int32Array(64);

  isEmpty(): boolean {
    return this.#count === 0;
  }

  clear(): void {
    this.#count = 0;
  }

  push(price: number, label: number, link: number): void {
    if (this.#count === this.#prices.length) this.#grow();
    const prices = this.#prices;
    const labels = this.#labels;
    const links = this.#links;
    let i = this.#count++;
    while (i > 0) {
      const above = (i - 1) >> 1;
      if (!before(price, label, link, prices[above], labels[above], links[above])) break;
      prices[i] = prices[above];
      labels[i] = labels[above];
      links[i] = links[above];
      i = above;
    }
    prices[i] = price;
    labels[i] = label;
    links[i] = link;
  }

  /** Takes the first offer into price, label and link. */
  pop(): void {
    const prices = this.#prices;
    const labels = this.#labels;
    const links = this.#links;
    this.price = prices[0];
    this.label = labels[0];
    this.link = links[0];
    const count = --this.#count;
    const price = prices[count];
    const label = labels[count];
    const link = links[count];
    let i = 0;
    for (;;) {
      let below = 2 * i + 1;
      if (below >= count) break;
      const next = below + 1;
      if (next < count && before(prices[next], labels[next], links[next], prices[below], labels[below], links[below])) {
        below = next;
      }
      if (!before(prices[below], labels[below], links[below], price, label, link)) break;
      prices[i] = prices[below];
      labels[i] = labels[below];
      links[i] = links[below];
      i = below;
    }
    prices[i] = price;
    labels[i] = label;
    links[i] = link;
  }

  #grow(): void {
    const size = this.#count + 1;
    this.#prices = reserve(this.#prices, size);
    this.#labels = reserve(this.#labels, size);
    this.#links = reserve(this.#links, size);
  }
}

function before(price: number, label: number, link: number, price2: number, label2: number, link2: number): boolean {
  if (price !== price2) return price < price2;
  return label !== label2 ? label < label2 : link < link2;
}

/** How many copies of a path the links and cuts allow: the twin of native/kernels/pack_limit.h, function by function. */

/** Counts of entries into cuts, back at zero after each use. */
class EntryCounts {
  /** [cuts] */
  times: Int32Array = new Int32Array(0);
  /** Those that are entered. */
  cut: Int32Array = new Int32Array(0);
  count = 0;

  fit(cuts: number): void {
    this.times = reserve(this.times, cuts);
    this.cut = reserve(this.cut, cuts);
  }

  enter(at: number): void {
    if (this.times[at]++ === 0) this.cut[this.count++] = at;
  }

  clear(): void {
    for (let i = 0; i < this.count; i++) this.times[this.cut[i]] = 0;
    this.count = 0;
  }
}

class PathLimit {
  readonly #state: PackState;
  readonly #labels: PackLabels;
  readonly #counts = new EntryCounts();

  constructor(state: PackState, labels: PackLabels) {
    this.#state = state;
    this.#labels = labels;
  }

  /** Makes room for the cuts of the pool. */
  fit(): void {
    this.#counts.fit(this.#state.pool.count);
  }

  /**
   * Returns how many copies of a label's path and one more link (or NONE) fit, at most those of the tree in the making.
   * `y`: the NPU that the path would take into the tree, or NONE when it shall go on. A cut that the path enters d times
   * allows slack / d copies, slack / (d + 1) when the tree has not touched it and will not have then.
   */
  of(label: number, link: number, y: number): number {
    const { parent, link: links } = this.#labels;
    const { pool } = this.#state;
    const counts = this.#counts;
    const most = this.#labels.length[label] + 2;
    let limit = this.#state.copies;
    if (link !== NONE) limit = this.#over(link, most, limit);
    for (let l = label; parent[l] !== NONE; l = parent[l]) limit = this.#over(links[l], most, limit);
    for (let i = 0; i < counts.count; i++) {
      const cut = counts.cut[i];
      const slack = pool.slack[cut];
      const untouched = y !== NONE && pool.untouched[cut] !== 0 && !pool.has(cut, y);
      const need = counts.times[cut] + (untouched ? 1 : 0);
      // A product beyond 2^53 is rounded, and still greater than any slack.
      if (slack < limit * need) limit = Math.floor(slack / need);
    }
    counts.clear();
    return limit;
  }

  /** Counts the cuts that a link enters, but for those with slack for more entries than any path of `most` - 1 links needs. */
  #over(link: number, most: number, limit: number): number {
    const { pool, left, net, copies } = this.#state;
    const { entered, slack } = pool;
    const arc = net.arc[link];
    const begin = pool.begin[arc];
    const end = begin + pool.size[arc];
    for (let i = begin; i < end; i++) if (slack[entered[i]] < copies * most) this.#counts.enter(entered[i]);
    return left[link] < limit ? left[link] : limit;
  }
}

/** What it costs to grow a tree over a link: the twin of native/kernels/pack_prices.h, function by function. */

const UNIT = 1024;
const HOP = 64; // any link costs so much

/** Prices are whole: 1024 of them are 1 of PackProblem's. */
class PackPrices {
  readonly #depthPrice: number;
  /** Of a link at full load. */
  loadPrice: number;
  /** The most that chance adds to a link, 2^n - 1. */
  chance = 63;
  readonly #scheduled: boolean;
  readonly #seed: number;
  readonly #state: PackState;
  #progress = 0;
  #noise = 0;

  constructor(state: PackState, prices: { depthPrice: number; loadPrice: number; scheduled: boolean; seed: number }) {
    this.#state = state;
    this.#depthPrice = prices.depthPrice;
    this.loadPrice = prices.loadPrice;
    this.#scheduled = prices.scheduled;
    this.#seed = prices.seed;
  }

  /** Sets what the links of the next tree cost; `number` varies its noise. */
  nextTree(number: number): void {
    const { total } = this.#state;
    this.#noise = draw(this.#seed, number, 0x7061636b);
    this.#progress = this.#scheduled ? share(total - this.#state.missing(), total) : 0;
  }

  ofStart(member: number): number {
    return UNIT * this.#depthPrice * this.#state.depth[member];
  }

  ofLink(link: number): number {
    const full = this.#state.full[link];
    const load = share(full - this.#state.left[link], full) - this.#progress;
    const noise = mix(this.#noise ^ link) & this.chance;
    return (load > 0 ? load * this.loadPrice : 0) + HOP + noise;
  }
}

/** part / whole in 1024ths, about right where the product would leave 2^53. */
function share(part: number, whole: number): number {
  if (whole < 2 ** 43) return Math.floor((part * UNIT) / whole);
  const inUnits = Math.floor(part / Math.floor(whole / UNIT));
  return inUnits < UNIT ? inUnits : UNIT;
}

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
