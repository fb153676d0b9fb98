import type { Grouped } from "../../model/graph/graph.ts";
import { entering, leaving } from "./multitree-network.ts";
import type { PackingNetwork } from "./packing-network.ts";

/** So many senders more than twice those that were useful, and a list is sifted again. */
const SLACK = 16;

/**
 * Which NPUs each of many growing trees has, one from every NPU; and who may send in it: for each group of links (firstHops) the
 * NPUs that have such links, in the order in which they joined, but for those all of whose links lead to what the tree has.
 */
export class TreeReach {
  readonly #network: PackingNetwork;
  readonly #groups: readonly Grouped[];
  /** [trees * npus] 1 where tree t has NPU v: t * npus + v. */
  readonly reached: Uint8Array;
  /** [trees * forwarders] NPUs right behind a node that only forwards that the tree lacks. */
  readonly lacking: Int32Array;
  readonly #fromForwarders: Grouped;
  readonly #onward: Grouped;
  /** [groups + 1] the senders of tree t in group g stand from t * base[groups] + base[g] on. */
  readonly #base: Int32Array;
  readonly senders: Int32Array;
  /** [trees * groups] */
  readonly #joined: Int32Array;
  /** [trees * groups] those that were there when the step began. */
  readonly #early: Int32Array;
  readonly #siftAt: Int32Array;

  constructor(network: PackingNetwork, groups: readonly Grouped[]) {
    const { nodeCount, npuCount, linkTarget } = network;
    const forwarders = nodeCount - npuCount;
    const toNpus = leaving(network, (link) => linkTarget[link] < npuCount);
    this.#network = network;
    this.#groups = groups;
    this.#onward = leaving(network, (link) => linkTarget[link] >= npuCount);
    this.#fromForwarders = entering(network);
    this.reached = new Uint8Array(npuCount * npuCount);
    this.lacking = new Int32Array(npuCount * forwarders);
    this.#base = new Int32Array(groups.length + 1);
    groups.forEach(({ offset }, g) => {
      let having = 0;
      for (let v = 0; v < npuCount; v++) if (offset[v] < offset[v + 1]) having++;
      this.#base[g + 1] = this.#base[g] + having;
    });
    this.senders = new Int32Array(npuCount * this.#base[groups.length]);
    this.#joined = new Int32Array(npuCount * groups.length);
    this.#early = new Int32Array(npuCount * groups.length);
    this.#siftAt = new Int32Array(npuCount * groups.length).fill(SLACK);
    for (let t = 0; t < npuCount; t++) {
      for (let w = 0; w < forwarders; w++) {
        this.lacking[t * forwarders + w] = toNpus.offset[npuCount + w + 1] - toNpus.offset[npuCount + w];
      }
      this.join(t, t);
    }
  }

  /** Adds an NPU to a tree; it sends from the next step on. */
  join(t: number, npu: number): void {
    const { nodeCount, npuCount, linkSource } = this.#network;
    const { offset, items } = this.#fromForwarders;
    this.reached[t * npuCount + npu] = 1;
    for (let i = offset[npu]; i < offset[npu + 1]; i++) {
      this.lacking[t * (nodeCount - npuCount) + linkSource[items[i]] - npuCount]--;
    }
    const groups = this.#groups.length;
    for (let g = 0; g < groups; g++) {
      const links = this.#groups[g].offset;
      if (links[npu] < links[npu + 1]) this.senders[this.firstSender(t, g) + this.#joined[t * groups + g]++] = npu;
    }
  }

  /** Lets the NPUs that have joined send. Amortised O(1) for each NPU of the tree. */
  beginStep(t: number): void {
    const groups = this.#groups.length;
    for (let g = 0; g < groups; g++) {
      const list = t * groups + g;
      if (this.#joined[list] > this.#siftAt[list]) {
        this.#sift(t, g);
        this.#siftAt[list] = 2 * this.#joined[list] + SLACK;
      }
      this.#early[list] = this.#joined[list];
    }
  }

  firstSender(t: number, group: number): number {
    return t * this.#base[this.#groups.length] + this.#base[group];
  }

  /** Returns how many NPUs may send in this step. */
  senderCount(t: number, group: number): number {
    return this.#early[t * this.#groups.length + group];
  }

  #sift(t: number, group: number): void {
    const first = this.firstSender(t, group);
    const list = t * this.#groups.length + group;
    let kept = first;
    for (let i = first; i < first + this.#joined[list]; i++) {
      const v = this.senders[i];
      if (this.#isUseful(t, v, this.#groups[group])) this.senders[kept++] = v;
    }
    this.#joined[list] = kept - first;
  }

  #isUseful(t: number, npu: number, { offset, items }: Grouped): boolean {
    const { nodeCount, npuCount, linkTarget } = this.#network;
    for (let i = offset[npu]; i < offset[npu + 1]; i++) {
      const v = linkTarget[items[i]];
      if (v < npuCount ? this.reached[t * npuCount + v] === 0 : this.#onward.offset[v] < this.#onward.offset[v + 1])
        return true;
      if (v >= npuCount && this.lacking[t * (nodeCount - npuCount) + v - npuCount] > 0) return true;
    }
    return false;
  }
}
