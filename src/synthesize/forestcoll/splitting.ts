import { InfeasibleError, InternalError } from "../../base/errors.ts";
import { BigFlow } from "../../model/graph/flow.ts";
import { bigSum } from "../../model/numbers/integers.ts";
import type { RatedNetwork } from "./optimum.ts";

export type ForestNetwork = Omit<RatedNetwork, "bandwidth">;

/** Capacity along one path of links. */
export interface Strand {
  readonly links: readonly number[];
  /** Greater than 0. */
  amount: bigint;
}

/** An arc between NPUs that stands for paths through switches, which make up its capacity. */
export interface LogicalArc {
  readonly source: number;
  readonly target: number;
  /** Copies that fit, the sum of the strands. */
  readonly capacity: bigint;
  /** Routing of Zhao 2026, algorithm 3, as whole paths: walks, which may pass a switch twice. */
  readonly strands: Strand[];
}

/**
 * Returns arcs between NPUs alone with the same capacity for trees: [links] `capacity` in copies, [npus] `copies` that start at
 * each NPU. Ascending by source, then target. Throws InfeasibleError where a set of nodes that lacks an NPU has more copies than
 * can leave it, and where a switch with more capacity out than in is in the way.
 *
 * Zhao 2026, 4.5.3 and B.5.2, algorithms 2 and 3: for every switch w, one unit after another of a link into w and one out of it
 * are replaced by a direct arc, as much at once as theorem 28 allows. Its gamma is found by one flow per NPU instead of two:
 * split as much as there is; every cut loses that amount or nothing, so what a cut then lacks is exactly what was too much.
 * Beyond theorem 27: a switch may have more in than out. The sum of two tight sets' ways in then has the surplus of their
 * common switches on the right side in the proof; what is left of the links into w is dropped. Strongly polynomial:
 * O(switches x degree^2 x NPUs) flows.
 */
export function splitSwitches(
  network: ForestNetwork,
  capacity: readonly bigint[],
  copies: readonly bigint[],
): LogicalArc[] {
  const { nodeCount, npuCount } = network;
  const graph = new SplitGraph(network, capacity, copies);
  const narrow = graph.narrowCut();
  if (narrow !== null) {
    const nodes = [...narrow.keys()].filter((node) => narrow[node] === 1);
    throw new InfeasibleError("more copies start in a set of nodes than can leave it", { nodes });
  }
  for (let w = npuCount; w < nodeCount; w++) graph.removeSwitch(w);
  return graph.arcs();
}

/** The network with a source that feeds every NPU with the copies that start there. */
class SplitGraph {
  readonly #nodeCount: number;
  readonly #copies: readonly bigint[];
  readonly #all: bigint;
  readonly #flow = new BigFlow();
  readonly #source: number;
  /** [npus] arc from the source. */
  readonly #feed: readonly number[];
  /** [nodes * nodes] arc from u to t at u * nodes + t, -1 where there is none yet. */
  readonly #arc: Int32Array;
  /** [nodes * nodes] */
  readonly #strands: Strand[][];

  constructor(
    { nodeCount, linkSource, linkTarget }: ForestNetwork,
    capacity: readonly bigint[],
    copies: readonly bigint[],
  ) {
    this.#nodeCount = nodeCount;
    this.#copies = copies;
    this.#all = bigSum(copies);
    this.#flow.addNodes(nodeCount);
    this.#source = this.#flow.addNodes(1);
    this.#feed = copies.map((amount, v) => this.#flow.addArc(this.#source, v, amount));
    this.#arc = new Int32Array(nodeCount * nodeCount).fill(-1);
    this.#strands = Array.from(this.#arc, () => []);
    for (const [link, amount] of capacity.entries()) {
      if (amount === 0n) continue;
      this.#change(linkSource[link], linkTarget[link], amount);
      this.#strands[linkSource[link] * nodeCount + linkTarget[link]].push({ links: [link], amount });
    }
  }

  /** Returns a set of nodes that lacks an NPU and that fewer copies can leave than start in it; null where there is none. */
  narrowCut(): Uint8Array | null {
    let cut: Uint8Array | null = null;
    this.#sweep(() => {
      cut = this.#flow.sourceSide(this.#source).subarray(0, this.#nodeCount);
      return false;
    });
    return cut;
  }

  /** Algorithm 3 for one switch. Ways back to where they come from are tried last: they only lose capacity. */
  removeSwitch(w: number): void {
    const nodes = Array.from({ length: this.#nodeCount }, (_, v) => v);
    for (const t of nodes) {
      for (let step = 1; step <= this.#nodeCount && this.#between(w, t) > 0n; step++) {
        const u = (t + step) % this.#nodeCount;
        if (this.#between(u, w) > 0n) this.#split(u, w, t);
      }
    }
    if (nodes.some((v) => this.#between(w, v) > 0n) && nodes.some((v) => this.#between(v, w) > 0n)) {
      throw new InfeasibleError("a switch with more capacity out than in is in the way of the trees", { nodes: [w] });
    }
    for (const v of nodes) {
      this.#change(v, w, -this.#between(v, w));
      this.#change(w, v, -this.#between(w, v));
    }
  }

  arcs(): LogicalArc[] {
    const arcs: LogicalArc[] = [];
    for (const [place, strands] of this.#strands.entries()) {
      const source = Math.floor(place / this.#nodeCount);
      const target = place % this.#nodeCount;
      const capacity = this.#between(source, target);
      if (capacity > 0n) arcs.push({ source, target, capacity, strands });
    }
    return arcs;
  }

  /** Replaces as much of u -> w -> t by u -> t as theorem 28 allows. */
  #split(u: number, w: number, t: number): void {
    const [into, out] = [this.#between(u, w), this.#between(w, t)];
    let gamma = into < out ? into : out;
    this.#shift(u, w, t, gamma);
    this.#sweep((lacking) => {
      this.#shift(u, w, t, -lacking);
      gamma -= lacking;
      return gamma > 0n;
    });
    const heads = taken(this.#strands[u * this.#nodeCount + w], gamma);
    const tails = taken(this.#strands[w * this.#nodeCount + t], gamma);
    if (u !== t) this.#strands[u * this.#nodeCount + t].push(...spliced(heads, tails));
  }

  /**
   * Calls `narrow` for every NPU that not all copies reach with how many do not, until it returns false. NPUs that have had
   * their turn supply any amount: that shortens later flows and changes no answer, for a cut that is too narrow then has them
   * all on the source's side.
   */
  #sweep(narrow: (lacking: bigint) => boolean): void {
    for (const [v, arc] of this.#feed.entries()) this.#flow.setCapacity(arc, this.#copies[v]);
    for (const [v, arc] of this.#feed.entries()) {
      const lacking = this.#all - this.#flow.solve(this.#source, v, this.#all);
      if (lacking > 0n && !narrow(lacking)) return;
      this.#flow.setCapacity(arc, this.#all);
    }
  }

  #shift(u: number, w: number, t: number, amount: bigint): void {
    this.#change(u, w, -amount);
    this.#change(w, t, -amount);
    if (u !== t) this.#change(u, t, amount);
  }

  #between(u: number, t: number): bigint {
    const arc = this.#arc[u * this.#nodeCount + t];
    return arc < 0 ? 0n : this.#flow.capacity(arc);
  }

  #change(u: number, t: number, amount: bigint): void {
    const place = u * this.#nodeCount + t;
    if (amount === 0n) return;
    if (this.#arc[place] < 0) this.#arc[place] = this.#flow.addArc(u, t, 0n);
    this.#flow.setCapacity(this.#arc[place], this.#flow.capacity(this.#arc[place]) + amount);
  }
}

/** Takes `amount` from the front of the strands. */
export function taken(strands: Strand[], amount: bigint): Strand[] {
  const found: Strand[] = [];
  let left = amount;
  while (left > 0n) {
    const [first] = strands;
    if (first.amount > left) {
      first.amount -= left;
      found.push({ links: first.links, amount: left });
      break;
    }
    left -= first.amount;
    found.push(first);
    strands.shift();
  }
  return found;
}

/** Returns heads and tails, equal in sum, joined in their order. */
function spliced(heads: readonly Strand[], tails: readonly Strand[]): Strand[] {
  const joined: Strand[] = [];
  const rest = [...tails];
  for (const { links, amount } of heads) {
    for (const tail of taken(rest, amount)) joined.push({ links: [...links, ...tail.links], amount: tail.amount });
  }
  return joined;
}

/** An arc between NPUs and the copies that fit on it. */
export interface CapacityArc {
  readonly source: number;
  readonly target: number;
  readonly capacity: bigint;
}

/** Equal trees that span all NPUs. */
export interface SpanningTrees {
  readonly root: number;
  readonly copies: bigint;
  /** Arcs in the order in which they were added, so parents first. */
  readonly arcs: readonly number[];
}

/** A root-set R with its edges E(R) and the number m(R) of equal trees that it stands for. */
interface RootSet {
  readonly root: number;
  /** In the order in which the tree reached them. */
  readonly nodes: number[];
  readonly arcs: number[];
  copies: bigint;
}

/** Where a root-set that waits stands in the network of flows: s_i, the arc to it and the arcs from it. */
interface Demand {
  readonly feed: number;
  /** [npus], none for a set of one NPU, which is fed at once. */
  readonly into: readonly number[];
}

interface Waiting {
  readonly set: RootSet;
  readonly demand: Demand;
}

/**
 * Returns trees over NPUs 0 .. `copies.length` - 1, copies[v] of them rooted at v, no more than fit on any arc. There must be no
 * set of NPUs, other than all, that more copies start in than can leave it: `splitSwitches` sees to that.
 *
 * Zhao 2026, B.5.3, algorithm 4 (Berczi and Frank 2010; Edmonds 1973): grow one root-set after another by an arc that leaves it,
 * for as many copies as (B.3) leaves free; the others wait as a set of their own, the next to be grown, so that few wait. mu
 * comes from the one flow of theorem 32. Arcs are tried from the NPUs in the order in which the tree reached them, each once:
 * the sets that forbid one go on doing so while the tree grows, and they forbid all other arcs that leave them too.
 * O(arcs x NPUs^2) flows at most.
 */
export function spanningTrees(arcs: readonly CapacityArc[], copies: readonly bigint[]): SpanningTrees[] {
  const free = new FreeCapacity(arcs, copies.length, bigSum(copies));
  const leaving = copies.map((_, v) => [...arcs.keys()].filter((arc) => arcs[arc].source === v));
  const waiting: Waiting[] = [];
  for (const [root, count] of copies.entries()) {
    if (count > 0n) waiting.push(free.require({ root, nodes: [root], arcs: [], copies: count }));
  }
  const trees: SpanningTrees[] = [];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { set } = next;
    free.release(next);
    const reached = new Uint8Array(copies.length);
    for (const v of set.nodes) reached[v] = 1;
    const forbidden = new Uint8Array(arcs.length);
    for (const x of set.nodes) {
      for (const arc of leaving[x]) {
        const y = arcs[arc].target;
        if (reached[y] === 1 || forbidden[arc] === 1) continue;
        const { mu, side } = free.along(arc, set.copies);
        if (mu === 0n) {
          for (const [other, { source, target }] of arcs.entries())
            if (side[source] > side[target]) forbidden[other] = 1;
          continue;
        }
        if (mu < set.copies) {
          const { root, nodes, arcs: used } = set;
          waiting.push(free.require({ root, nodes: [...nodes], arcs: [...used], copies: set.copies - mu }));
          set.copies = mu;
        }
        free.take(arc, mu);
        set.nodes.push(y);
        set.arcs.push(arc);
        reached[y] = 1;
      }
    }
    if (set.nodes.length < copies.length) throw new InternalError("a tree that no arc may be added to");
    trees.push({ root: set.root, copies: set.copies, arcs: set.arcs });
  }
  return trees;
}

const NOTHING = new Uint8Array(0);

/** What root-sets that wait leave of the arcs: the network D-bar of theorem 32, with one source for all x. */
class FreeCapacity {
  readonly #arcs: readonly CapacityArc[];
  readonly #flow = new BigFlow();
  readonly #source: number;
  readonly #all: bigint;
  /** [npus] arc from the source, of no capacity but for the x of the arc that is tried. */
  readonly #start: readonly number[];
  /** [arcs] */
  readonly #place: readonly number[];
  /** [npus] for sets of one NPU. */
  readonly #alone: readonly Demand[];
  /** Of sets that wait no more. */
  readonly #spare: Demand[] = [];
  #waiting = 0n;

  constructor(arcs: readonly CapacityArc[], npuCount: number, all: bigint) {
    this.#arcs = arcs;
    this.#all = all;
    this.#flow.addNodes(npuCount);
    this.#source = this.#flow.addNodes(1);
    this.#start = Array.from({ length: npuCount }, (_, v) => this.#flow.addArc(this.#source, v, 0n));
    this.#alone = this.#start.map((_, v) => ({ feed: this.#flow.addArc(this.#source, v, 0n), into: [] }));
    this.#place = arcs.map(({ source, target, capacity }) => this.#flow.addArc(source, target, capacity));
  }

  /** Reserves capacity for one more root-set. */
  require(set: RootSet): Waiting {
    const { nodes, copies } = set;
    const demand = nodes.length === 1 ? this.#alone[nodes[0]] : (this.#spare.pop() ?? this.#newDemand());
    this.#flow.setCapacity(demand.feed, copies);
    for (const [v, arc] of demand.into.entries()) this.#flow.setCapacity(arc, nodes.includes(v) ? this.#all : 0n);
    this.#waiting += copies;
    return { set, demand };
  }

  /** Reserves nothing for a root-set any more. */
  release({ set, demand }: Waiting): void {
    this.#flow.setCapacity(demand.feed, 0n);
    if (demand.into.length > 0) this.#spare.push(demand);
    this.#waiting -= set.copies;
  }

  #newDemand(): Demand {
    const node = this.#flow.addNodes(1);
    const feed = this.#flow.addArc(this.#source, node, 0n);
    return { feed, into: this.#start.map((_, v) => this.#flow.addArc(node, v, 0n)) };
  }

  /**
   * Returns mu of (B.4) for an arc that is to get at most `most` copies, and where it is 0 [nodes] 1 in a set that has nothing
   * free, or none where the arc itself is full.
   */
  along(arc: number, most: bigint): { readonly mu: bigint; readonly side: Uint8Array } {
    const { source, target } = this.#arcs[arc];
    const fits = this.#flow.capacity(this.#place[arc]);
    const limit = fits < most ? fits : most;
    if (limit === 0n) return { mu: 0n, side: NOTHING };
    this.#flow.setCapacity(this.#start[source], this.#all);
    const mu = this.#flow.solve(this.#source, target, this.#waiting + limit) - this.#waiting;
    const side = mu === 0n ? this.#flow.sourceSide(this.#source) : NOTHING;
    this.#flow.setCapacity(this.#start[source], 0n);
    return { mu, side };
  }

  take(arc: number, copies: bigint): void {
    this.#flow.setCapacity(this.#place[arc], this.#flow.capacity(this.#place[arc]) - copies);
  }
}
