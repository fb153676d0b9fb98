import { NONE } from "./lists.ts";
import { reserve } from "./pack-columns.ts";

/** Paths from the tree in the making as labels: the twin of native/kernels/pack_labels.h, function by function. */

export const SHELVED = 0; // a live one at its node can do all that it can
export const LIVE = 1;
export const DEAD = 2; // its path has no room for another edge of the tree

const FIRST_ROOM = 64;
const column = (): Int32Array => new Int32Array(FIRST_ROOM);

/** Label l is the path of label parent[l] and link[l], ending at node[l]; a path begins at a member of the tree, with neither. */
export class PackLabels {
  price: Float64Array = new Float64Array(FIRST_ROOM);
  node: Int32Array = column();
  link: Int32Array = column();
  parent: Int32Array = column();
  /** Links of the path. */
  length: Int32Array = column();
  /** Edges that the tree had when the path was last found to have room. */
  seen: Int32Array = column();
  state: Uint8Array = new Uint8Array(FIRST_ROOM);
  /** [nodes] the first live label at a node, or NONE. */
  readonly live: Int32Array;
  /** The next one there; or in the shelf or queue that it stands in. */
  next: Int32Array = column();
  /** The first label shelved because of this one, or NONE. */
  shelf: Int32Array = column();
  /** The last one. */
  shelfEnd: Int32Array = column();
  /** Cuts with little slack that a live path enters: entryCut[entryBegin .. entryEnd). */
  entryBegin: Int32Array = column();
  entryEnd: Int32Array = column();
  entryCut: Int32Array = column();
  entryTimes: Int32Array = column();
  count = 0;
  entries = 0;

  constructor(nodes: number) {
    this.live = new Int32Array(nodes);
  }

  clear(): void {
    this.live.fill(NONE);
    this.count = 0;
    this.entries = 0;
  }

  /** Returns a new label on no list. */
  add(at: number, over: number, on: number, price: number): number {
    const l = this.count++;
    if (l === this.node.length) this.#grow(l + 1);
    this.price[l] = price;
    this.node[l] = at;
    this.link[l] = over;
    this.parent[l] = on;
    this.length[l] = on === NONE ? 0 : this.length[on] + 1;
    this.seen[l] = NONE;
    this.state[l] = LIVE;
    this.next[l] = NONE;
    this.shelf[l] = NONE;
    this.entryBegin[l] = this.entries;
    this.entryEnd[l] = this.entries;
    return l;
  }

  addEntry(l: number, cut: number, times: number): void {
    if (this.entries === this.entryCut.length) {
      this.entryCut = reserve(this.entryCut, this.entries + 1);
      this.entryTimes = reserve(this.entryTimes, this.entries + 1);
    }
    this.entryCut[this.entries] = cut;
    this.entryTimes[this.entries] = times;
    this.entryEnd[l] = ++this.entries;
  }

  shelve(l: number, becauseOf: number): void {
    this.state[l] = SHELVED;
    this.next[l] = NONE;
    if (this.shelf[becauseOf] === NONE) this.shelf[becauseOf] = l;
    else this.next[this.shelfEnd[becauseOf]] = l;
    this.shelfEnd[becauseOf] = l;
  }

  goLive(l: number): void {
    this.state[l] = LIVE;
    this.next[l] = this.live[this.node[l]];
    this.live[this.node[l]] = l;
  }

  /** Takes a label from the live ones at its node. */
  kill(l: number): void {
    const { next, live } = this;
    this.state[l] = DEAD;
    const at = this.node[l];
    if (live[at] === l) {
      live[at] = next[l];
      return;
    }
    let before = live[at];
    while (next[before] !== l) before = next[before];
    next[before] = next[l];
  }

  /** Whether the path of a label visits a node. */
  visits(label: number, at: number): boolean {
    for (let l = label; l !== NONE; l = this.parent[l]) if (this.node[l] === at) return true;
    return false;
  }

  #grow(size: number): void {
    this.price = reserve(this.price, size);
    this.node = reserve(this.node, size);
    this.link = reserve(this.link, size);
    this.parent = reserve(this.parent, size);
    this.length = reserve(this.length, size);
    this.seen = reserve(this.seen, size);
    this.state = reserve(this.state, size);
    this.next = reserve(this.next, size);
    this.shelf = reserve(this.shelf, size);
    this.shelfEnd = reserve(this.shelfEnd, size);
    this.entryBegin = reserve(this.entryBegin, size);
    this.entryEnd = reserve(this.entryEnd, size);
  }
}
