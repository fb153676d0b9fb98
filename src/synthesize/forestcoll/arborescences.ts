import { InternalError } from "../../base/errors.ts";
import { BigFlow } from "../../model/graph/big-flow.ts";
import { bigSum } from "../../model/numbers/integers.ts";

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
