import { InputError, InternalError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { PackedTrees } from "../../engine/contract/kernels.ts";
import { type Grouped, groupedBy } from "../../model/graph/graph.ts";
import { formatBandwidth } from "../../model/numbers/units.ts";
import type { Forest } from "../../model/trees/tree-flow.ts";
import { copiesOnLinks, fittingBandwidth } from "../../model/trees/tree-multicast.ts";
import { TREE_OPTIONS, type TreeMaker, type TreeRequest } from "../tree-maker.ts";
import { optimumOf } from "./optimum.ts";
import { forestFrom, type PackingNetwork, packingNetwork } from "./packing.ts";
import { mirroredForest, reduceAndBroadcast, refuseSeveralGroups } from "./requests.ts";

/** Trees of this many take a minute and a gigabyte. */
const MOST_NPUS = 4096;

/**
 * MultiTree (Huang et al., ISCA 2021, as Zhao 2026 describes it in 4.2 and 4.6.5): one tree from every NPU, all grown at the same
 * time over links that are free in a time step. The trees are taken as a flow with the greatest bandwidth that fits, which is at
 * least that of the time steps: in them no link carries more than its share.
 *
 * Reduce-scatter and all-reduce by trees of the reversed network, mirrored where every link has an opposite one. The certificate
 * is the bottleneck cut, so results say how far from the optimum the greedy choice stays.
 */
export const multitree: TreeMaker = {
  name: "multitree",
  makes: "trees",
  description: "one tree from every NPU, grown greedily step by step (MultiTree)",
  collectives: ["allgather", "reducescatter", "allreduce"],
  policies: [],
  options: TREE_OPTIONS,
  async make(request, { kernels }) {
    const { topology, collective, usable } = request;
    refuse(request);
    const direction = collective.kind === "reducescatter" ? "in" : "out";
    const network = packingNetwork(topology, collective.groupMembers, usable, direction);
    const optimum = await optimumOf(network, new Float64Array(collective.groupSize).fill(1), kernels.rate);
    const [forest, grown] = forestOf(request, direction);
    const nodes = network.node.filter((_, i) => optimum.cut[i] === 1).sort();
    const frame = {
      kind: "trees" as const,
      topology,
      collective,
      symmetry: null,
      certificate: { kind: "cut" as const, nodes, direction } as const,
    };
    const found = { policy: `${grown.steps} steps`, trials: 1, repaired: null, notes: [steppedRate(grown)] };
    if (collective.kind !== "allreduce") {
      return { flow: { ...frame, forests: [forest], concurrent: false }, ...found };
    }
    const into = mirroredForest(topology, usable, forest) ?? forestOf(request, "in")[0];
    const both = reduceAndBroadcast(into, forest, collective.groupSize, usable);
    return { flow: { ...frame, ...both }, ...found };
  },
};

function refuse({ collective, copiesPerRoot, policy, repair }: TreeRequest): void {
  const { groupSize } = collective;
  refuseSeveralGroups(collective, "multitree grows the trees of one");
  if (groupSize > MOST_NPUS) {
    throw new InputError(
      optionName("group"),
      `at most ${MOST_NPUS} NPUs (multitree lists every edge of a tree from each)`,
      groupSize,
    ).as("out-of-range");
  }
  if (typeof copiesPerRoot === "number" && copiesPerRoot !== 1) {
    throw new InputError(optionName("k"), "1 (multitree grows one tree from every NPU)", copiesPerRoot);
  }
  if (policy !== null) throw new InputError(optionName("policy"), "none (multitree has no policies)", policy);
  if (repair !== null)
    throw new InputError(optionName("repair"), "none (multitree cannot repair trees)", inWords("a schedule"));
}

/** What the time steps alone carry, the figure of the papers: each NPU's share at the bandwidth of the slowest link for all steps. */
function steppedRate({ trees, steps, unit }: SteppedTrees): string {
  const rate = formatBandwidth((trees.root.length * unit) / steps);
  return `in ${steps} time steps, as published, a gather would carry ${rate}`;
}

/** Returns the trees of one direction with the greatest bandwidth that fits. */
function forestOf(request: TreeRequest, direction: Forest["direction"]): [Forest, SteppedTrees] {
  const { topology, collective, usable } = request;
  const network = packingNetwork(topology, collective.groupMembers, usable, direction);
  const grown = growTrees(network);
  const { bandwidth } = network;
  const y = fittingBandwidth(copiesOnLinks(grown.trees, collective.groupSize - 1, bandwidth.length), bandwidth);
  if (y === null) throw new InternalError("trees without links");
  return [forestFrom(network, grown.trees, direction, y, collective.groupMembers), grown];
}

/** Returns the bandwidth of the slowest link, and how many times each link has it, rounded down. */
export function commonUnits(bandwidth: Float64Array): { readonly unit: number; readonly units: Float64Array } {
  const unit = bandwidth.reduce((least, b) => Math.min(least, b), Number.POSITIVE_INFINITY);
  return { unit, units: bandwidth.map((b) => Math.floor(b / unit)) };
}

/**
 * Returns the most links on a shortest path between two NPUs through nodes that only forward, over all pairs that have one; at
 * least 1. O(NPUs x links of nodes that only forward).
 */
export function longestHop({ nodeCount, npuCount, linkSource, linkTarget }: PackingNetwork): number {
  const { offset, items } = groupedBy(linkSource, nodeCount);
  const seen = new Int32Array(nodeCount).fill(-1);
  const depth = new Int32Array(nodeCount);
  const queue = new Int32Array(nodeCount);
  let longest = 1;
  for (let start = 0; start < npuCount; start++) {
    let queued = 0;
    const visit = (v: number, links: number): void => {
      if (seen[v] === start) return;
      seen[v] = start;
      depth[v] = links;
      if (v >= npuCount || links === 0) queue[queued++] = v;
      else if (links > longest) longest = links;
    };
    visit(start, 0);
    for (let i = 0; i < queued; i++) {
      const v = queue[i];
      for (let k = offset[v]; k < offset[v + 1]; k++) visit(linkTarget[items[k]], depth[v] + 1);
    }
  }
  return longest;
}

/** What a tree tries: paths of this many links whose first link is of one group. */
interface Hop {
  readonly length: number;
  readonly group: number;
}

interface FirstHops {
  /** Links of NPUs of one bandwidth, either to NPUs or to nodes that only forward. */
  readonly groups: readonly Grouped[];
  readonly hops: readonly Hop[];
}

/** Returns the hops of up to `longest` links, short ones first, then those that begin fast. O(links) for each bandwidth. */
function firstHops(network: PackingNetwork, longest: number): FirstHops {
  const { npuCount, linkTarget, linkSource, bandwidth } = network;
  const ofBandwidth = (wanted: number, toNpus: boolean): Grouped =>
    leaving(network, (e) => bandwidth[e] === wanted && linkSource[e] < npuCount && linkTarget[e] < npuCount === toNpus);
  const widths = [...new Set(bandwidth)].sort((a, b) => b - a);
  const some = ({ items }: Grouped): boolean => items.length > 0;
  const direct = widths.map((width) => ofBandwidth(width, true)).filter(some);
  const onward = widths.map((width) => ofBandwidth(width, false)).filter(some);
  const hops: Hop[] = direct.map((_, group) => ({ length: 1, group }));
  for (let length = 2; length <= longest; length++) {
    hops.push(...onward.map((_, i) => ({ length, group: direct.length + i })));
  }
  return { groups: [...direct, ...onward], hops };
}

/** Returns the wanted ones of the links that leave each node, in link order. O(links). */
function leaving({ nodeCount, linkSource }: PackingNetwork, wanted: (link: number) => boolean): Grouped {
  const kept = Int32Array.from(linkSource.keys()).filter(wanted);
  const { offset, items } = groupedBy(
    kept.map((link) => linkSource[link]),
    nodeCount,
  );
  return { offset, items: items.map((i) => kept[i]) };
}

/** Returns the links that enter each NPU from a node that only forwards. O(links). */
function entering({ npuCount, linkSource, linkTarget }: PackingNetwork): Grouped {
  const kept = Int32Array.from(linkSource.keys()).filter((e) => linkSource[e] >= npuCount && linkTarget[e] < npuCount);
  const { offset, items } = groupedBy(
    kept.map((link) => linkTarget[link]),
    npuCount,
  );
  return { offset, items: items.map((i) => kept[i]) };
}

/** So many senders more than twice those that were useful, and a list is sifted again. */
const SLACK = 16;

/**
 * Which NPUs each of many growing trees has, one from every NPU; and who may send in it: for each group of links (firstHops) the
 * NPUs that have such links, in the order in which they joined, but for those all of whose links lead to what the tree has.
 */
class TreeReach {
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
   * Tries the links of a node from the `first` on as the beginning of a path of this many links; returns the place of the link that
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
