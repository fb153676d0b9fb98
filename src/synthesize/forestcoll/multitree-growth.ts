import { InternalError } from "../../base/errors.ts";
import type { PackedTrees } from "../../engine/contract/kernels.ts";
import { type Grouped, groupedBy } from "../../model/graph/graph.ts";
import { commonUnits, type FirstHops, firstHops, leaving, longestHop } from "./multitree-network.ts";
import { TreeReach } from "./multitree-reach.ts";
import type { PackingNetwork } from "./packing-network.ts";

/** One tree from every NPU, grown in time steps. */
export interface SteppedTrees {
  /** One copy each; edges in the order in which they were added. */
  readonly trees: PackedTrees;
  /** [edges] the step in which the edge was added, from 0. */
  readonly step: Int32Array;
  readonly steps: number;
  /** Bytes per second that one tree uses of a link in a step: the bandwidth of the slowest link. */
  readonly unit: number;
}

/**
 * Grows a tree from every NPU, all at the same time, level by level (MultiTree, Huang et al., ISCA 2021, algorithm 1). In each
 * time step every link has as many places as it is times faster than the slowest (Zhao 2026, 4.6.5); trees take turns, smallest
 * first, and add one edge at a turn: from an NPU that was in the tree before this step, over links with a place left, to one that
 * is not, until no tree can add any. The fastest links are tried first, then NPUs in the order in which they joined.
 *
 * Deviation: the papers do not say how a tree passes switches. Here an edge is a shortest path through nodes that only forward,
 * among those that have a place on every link, and takes one place of each.
 *
 * Within a step places only vanish and NPUs are only reached, so what was in vain once is not tried again in it: each tree scans
 * each link at most once a step and length of path. O(steps x NPUs x (NPUs + links of switches)); a tree's NPUs without
 * unreached neighbours are not looked at. The network's NPUs must all be reachable from each other.
 */
export function growTrees(network: PackingNetwork): SteppedTrees {
  const { unit, units } = commonUnits(network.bandwidth);
  const growth = new Growth(network, units);
  let steps = 0;
  while (growth.grow(steps)) steps++;
  return { ...growth.result(), steps, unit };
}

class Growth {
  readonly #network: PackingNetwork;
  readonly #units: Float64Array;
  readonly #longest: number;
  /** What a tree tries in a step, in order. */
  readonly #first: FirstHops;
  readonly #reach: TreeReach;
  readonly #toNpus: Grouped;
  readonly #onward: Grouped;
  /** [links] places left in this step. */
  readonly #free: Float64Array;
  /** [trees] NPUs in the tree. */
  readonly #size: Int32Array;
  /** [trees] which of the hops is being tried, */
  readonly #hop: Int32Array;
  /** from which sender on, */
  readonly #sender: Int32Array;
  /** from which of its links on. */
  readonly #link: Int32Array;
  /** [trees * forwarders * lengths] links of a switch that were in vain this step, on top of #base. */
  readonly #cursor: Float64Array;
  /** The cursors of this step start here: larger than any of the last. */
  #base = 0;
  readonly #mostLinks: number;

  /** [links of the path] from its end backwards. */
  readonly #path: number[] = [];
  /** [edges of all trees] where its links begin in #links, how many, and the step. */
  readonly #begin: Float64Array;
  readonly #count: Uint16Array;
  readonly #step: Int32Array;
  #links = new Int32Array(1 << 16);
  #linkCount = 0;

  constructor(network: PackingNetwork, units: Float64Array) {
    const { nodeCount, npuCount } = network;
    this.#network = network;
    this.#units = units;
    this.#longest = longestHop(network);
    this.#first = firstHops(network, this.#longest);
    this.#reach = new TreeReach(network, this.#first.groups);
    this.#toNpus = leaving(network, (link) => network.linkTarget[link] < npuCount);
    this.#onward = leaving(network, (link) => network.linkTarget[link] >= npuCount);
    this.#free = units.slice();
    this.#size = new Int32Array(npuCount).fill(1);
    this.#hop = new Int32Array(npuCount);
    this.#sender = new Int32Array(npuCount);
    this.#link = new Int32Array(npuCount);
    this.#cursor = new Float64Array(npuCount * (nodeCount - npuCount) * (this.#longest - 1));
    this.#mostLinks = network.linkSource.length + 1;
    const edges = npuCount * (npuCount - 1);
    this.#begin = new Float64Array(edges);
    this.#count = new Uint16Array(edges);
    this.#step = new Int32Array(edges);
  }

  /** Adds all edges of a time step; returns false when all trees are complete. */
  grow(step: number): boolean {
    let turn = this.#incomplete();
    if (turn.length === 0) return false;
    this.#free.set(this.#units);
    this.#base += this.#mostLinks;
    for (const t of turn) this.#beginStep(t);
    let added = 0;
    while (turn.length > 0) {
      turn = turn.filter((t) => this.#addEdge(t, step));
      added += turn.length;
    }
    if (added === 0) throw new InternalError("trees that cannot grow, although all NPUs can be reached");
    return true;
  }

  /** Trees that lack an NPU, by size, then root. */
  #incomplete(): Int32Array {
    const { npuCount } = this.#network;
    const order = groupedBy(this.#size, npuCount + 1);
    return order.items.subarray(0, order.offset[npuCount]);
  }

  #beginStep(t: number): void {
    this.#reach.beginStep(t);
    this.#hop[t] = 0;
    this.#sender[t] = 0;
    this.#link[t] = 0;
  }

  /** Adds one edge to a tree; false when it can have no more in this step. */
  #addEdge(t: number, step: number): boolean {
    const { npuCount, linkTarget } = this.#network;
    if (this.#size[t] === npuCount || !this.#findPath(t)) return false;
    const edge = t * (npuCount - 1) + this.#size[t] - 1;
    const path = this.#path;
    this.#begin[edge] = this.#linkCount;
    this.#count[edge] = path.length;
    this.#step[edge] = step;
    this.#reserve(path.length);
    const end = linkTarget[path[0]];
    while (path.length > 0) {
      const link = path.pop() as number;
      this.#free[link]--;
      this.#links[this.#linkCount++] = link;
    }
    this.#reach.join(t, end);
    this.#size[t]++;
    return true;
  }

  /** Finds a shortest path with a place on every link from a sender of the tree to an NPU that it lacks. */
  #findPath(t: number): boolean {
    const reach = this.#reach;
    const { groups, hops } = this.#first;
    for (; this.#hop[t] < hops.length; this.#hop[t]++) {
      const { length, group } = hops[this.#hop[t]];
      const first = reach.firstSender(t, group);
      const senders = reach.senderCount(t, group);
      for (let s = this.#sender[t]; s < senders; s++) {
        const found = this.#tryLinks(t, reach.senders[first + s], groups[group], length, this.#link[t]);
        this.#link[t] = found < 0 ? 0 : found;
        if (found < 0) continue;
        this.#sender[t] = s;
        return true;
      }
      this.#sender[t] = 0;
    }
    return false;
  }

  /**
   * Tries the links of a node from the `first` on as the beginning of a path of so many links; returns the place of the link that
   * is one, the path being written from its end backwards, or -1.
   */
  #tryLinks(t: number, node: number, { offset, items }: Grouped, length: number, first: number): number {
    const { npuCount, linkTarget } = this.#network;
    const begin = offset[node];
    const end = offset[node + 1];
    const { reached } = this.#reach;
    const row = t * npuCount;
    for (let i = begin + first; i < end; i++) {
      const link = items[i];
      if (this.#free[link] < 1) continue;
      const v = linkTarget[link];
      const leads = length === 1 ? reached[row + v] === 0 : this.#passes(t, v, length - 1);
      if (!leads) continue;
      this.#path.push(link);
      return i - begin;
    }
    return -1;
  }

  /** The same from a node that only forwards: goes on where the last search in this step stopped. */
  #passes(t: number, node: number, length: number): boolean {
    const { nodeCount, npuCount } = this.#network;
    const forwarder = t * (nodeCount - npuCount) + node - npuCount;
    if (length === 1 && this.#reach.lacking[forwarder] === 0) return false;
    const links = length === 1 ? this.#toNpus : this.#onward;
    const slot = forwarder * (this.#longest - 1) + length - 1;
    const first = Math.max(0, this.#cursor[slot] - this.#base);
    if (first >= links.offset[node + 1] - links.offset[node]) return false;
    const found = this.#tryLinks(t, node, links, length, first);
    this.#cursor[slot] = this.#base + (found < 0 ? this.#mostLinks - 1 : found);
    return found >= 0;
  }

  #reserve(more: number): void {
    if (this.#linkCount + more <= this.#links.length) return;
    const larger = new Int32Array(2 * this.#links.length);
    larger.set(this.#links);
    this.#links = larger;
  }

  /** Puts the edges of each tree together. */
  result(): { readonly trees: PackedTrees; readonly step: Int32Array } {
    const { npuCount } = this.#network;
    const linkOffset = new Float64Array(this.#begin.length + 1);
    const links = new Int32Array(this.#linkCount);
    let at = 0;
    this.#begin.forEach((begin, edge) => {
      links.set(this.#links.subarray(begin, begin + this.#count[edge]), at);
      at += this.#count[edge];
      linkOffset[edge + 1] = at;
    });
    const root = Int32Array.from({ length: npuCount }, (_, t) => t);
    const copies = new Float64Array(npuCount).fill(1);
    return { trees: { root, copies, linkOffset, links }, step: this.#step };
  }
}
