import { commonValue } from "../graph/graph.ts";
import { indicesBelow } from "../numbers/ordering.ts";
import { nodeCount, type Topology } from "../topology/topology.ts";
import type { RouteView } from "./graph.ts";
import { type Ports, portsOf } from "./sides.ts";
import { type Dimension, dimensionOf } from "./slabs.ts";

/** Work allowed to one bound, in array cells read; what is dropped when it runs out is said at each family. */
export interface Budget {
  left: number;
}

/** Array cells that one bound may read: about a second. */
export const BUDGET = 100_000_000;

/** What takes the sets. */
export interface Visitor {
  /**
   * Takes a set of nodes; `pocket` says that the set is joined by faster links than those around it, or is a box, and
   * `again` that it is one that came before: a box is often all of these at once.
   */
  visit(nodes: Int32Array, pocket: boolean, again: boolean): void;
  /** Returns whether the set of this NPU alone may raise the bound. */
  worthTrying(npu: number): boolean;
  /** Returns the prefixes of a dimension that may raise the bound, or null where that cannot be said of all at once, */
  prefixes(dimension: Dimension): Iterable<number> | null;
  /** and then, if given, whether one of them may, when its turn comes. */
  prefixFilter?(dimension: Dimension): (prefix: number) => boolean;
}

/**
 * Calls `visit` with the sets of nodes whose borders are likely to be narrow; the complement of each is the caller's to
 * try. In this order: every NPU worth trying; the components of the links (and of the routes, where given) strictly faster
 * than each class; the node groups; the NPUs on one switch; the prefix slabs of every dimension of the shape.
 *
 * Any set gives a valid bound, so what the budget drops only weakens it: at most 8 speed classes are tried, evenly
 * chosen, and, where the visitor cannot say which slabs are worth it, as many of them as an eighth of the budget pays for,
 * evenly spaced, the middle included.
 */
export function visitSets(topology: Topology, view: RouteView | null, budget: Budget, visitor: Visitor): void {
  const { npuCount } = topology;
  const ports = portsOf(topology);
  const placed = switchPlacement(topology, ports);
  const isRepeated = repetitions();
  const one = new Int32Array(1);
  for (let npu = 0; npu < npuCount && budget.left > 0; npu++) {
    if (!visitor.worthTrying(npu)) continue;
    one[0] = npu;
    visitor.visit(one, false, false);
  }
  const pocket = (npus: readonly number[], withSwitches: boolean): void => {
    if (npus.length < 2 || budget.left <= 0) return;
    const inside = npus.filter((v) => v < npuCount).length;
    if (inside === 0 || inside === npuCount) return;
    const set = withSwitches ? Int32Array.from(npus) : placed(npus);
    visitor.visit(set, true, isRepeated(set));
  };

  const { linkSource, linkTarget, linkBytesPerSecond } = topology;
  if (commonValue(linkBytesPerSecond) === null) {
    const speeds = linkBytesPerSecond.map((b) => -b);
    for (const set of classComponents(nodeCount(topology), linkSource, linkTarget, speeds)) pocket(set, true);
  }
  if (view !== null) {
    const { source, target } = view.routes;
    for (const set of classComponents(npuCount, source, target, view.slotPs)) pocket(set, false);
  }
  for (const set of nodeGroups(topology))
    pocket(
      set,
      set.some((v) => v >= npuCount),
    );
  for (const set of switchNeighbours(topology, ports)) pocket(set, false);
  const work = 1 + (2 * linkSource.length + (view === null ? 0 : 4 * view.slotPs.length)) / npuCount;
  visitSlabs(topology, placed, work, budget, visitor);
}

/** Returns a function that says whether it was given an equal set before; it keeps the sets. O(set) each. */
function repetitions(): (set: Int32Array) => boolean {
  const byHash = new Map<number, Int32Array[]>();
  return (set) => {
    let hash = set.length;
    for (let i = 0; i < set.length; i++) hash = Math.imul(hash ^ set[i], 0x01000193);
    const alike = byHash.get(hash);
    if (alike === undefined) byHash.set(hash, [set]);
    else if (alike.some((other) => other.length === set.length && other.every((node, i) => node === set[i])))
      return true;
    else alike.push(set);
    return false;
  };
}

/** Returns the components formed by the arcs with a cost below each class, fastest classes first. O(classes x arcs). */
function classComponents(nodes: number, tail: Int32Array, head: Int32Array, cost: Float64Array): number[][] {
  if (commonValue(cost) !== null) return [];
  const found = new Set<number>();
  for (let a = 0; a < cost.length; a++) if (a === 0 || cost[a] !== cost[a - 1]) found.add(cost[a]);
  const limits = [...found].sort((a, b) => a - b).slice(1);
  const chosen =
    limits.length <= 8 ? limits : Array.from({ length: 8 }, (_, i) => limits[Math.floor((i * limits.length) / 8)]);
  const sets: number[][] = [];
  for (const limit of chosen) {
    const parent = indicesBelow(nodes);
    const find = (v: number): number => {
      let root = v;
      while (parent[root] !== root) root = parent[root];
      for (let u = v; parent[u] !== root; ) {
        const up = parent[u];
        parent[u] = root;
        u = up;
      }
      return root;
    };
    for (let a = 0; a < tail.length; a++) {
      if (cost[a] >= limit) continue;
      const x = find(tail[a]);
      const y = find(head[a]);
      if (x !== y) parent[Math.max(x, y)] = Math.min(x, y);
    }
    const members = new Map<number, number[]>();
    for (let v = 0; v < nodes; v++) {
      const root = find(v);
      const set = members.get(root);
      if (set === undefined) members.set(root, [v]);
      else set.push(v);
    }
    for (const set of members.values()) if (set.length > 1 && set.length < nodes) sets.push(set);
  }
  return sets;
}

function nodeGroups(topology: Topology): number[][] {
  const groups = new Map<string, number[]>();
  topology.nodeTraits.forEach((traits, node) => {
    if (traits.group === undefined) return;
    const set = groups.get(traits.group);
    if (set === undefined) groups.set(traits.group, [node]);
    else set.push(node);
  });
  return [...groups.values()];
}

function switchNeighbours(topology: Topology, ports: Ports): number[][] {
  const sets: number[][] = [];
  for (let node = topology.npuCount; node < nodeCount(topology); node++) {
    const near = new Set<number>();
    for (let i = ports.entering.offset[node]; i < ports.entering.offset[node + 1]; i++) {
      const source = topology.linkSource[ports.entering.items[i]];
      if (source < topology.npuCount) near.add(source);
    }
    sets.push([...near].sort((a, b) => a - b));
  }
  return sets;
}

/** `work`: array cells read per NPU of a slab. */
function visitSlabs(topology: Topology, placed: Placement, work: number, budget: Budget, visitor: Visitor): void {
  const { shape, npuCount } = topology;
  if (shape.length === 0 || shape.reduce((a, b) => a * b, 1) !== npuCount) return;
  const share = budget.left / (8 * shape.length);
  shape.forEach((size, k) => {
    if (size === 1) return;
    const dimension = dimensionOf(shape, k, npuCount);
    const affordable = Math.max(1, Math.floor(share / ((work * npuCount) / 4)));
    const chosen = visitor.prefixes(dimension);
    const mayRaise = (chosen === null && visitor.prefixFilter?.(dimension)) || null;
    for (const p of chosen ?? evenlySpaced(size, affordable)) {
      if (budget.left <= 0) return;
      if (mayRaise !== null && !mayRaise(p)) continue;
      const nodes = smallerSide(dimension, p);
      if (nodes.length > 1) visitor.visit(placed(nodes), false, false);
    }
  });
}

/** Returns about `affordable` of the prefixes 1 .. size - 1, the middle one included. */
function evenlySpaced(size: number, affordable: number): number[] {
  const step = Math.max(1, Math.ceil((size - 1) / affordable));
  const middle = size >> 1;
  const chosen: number[] = [];
  for (let p = middle - Math.floor((middle - 1) / step) * step; p < size; p += step) if (p >= 1) chosen.push(p);
  return chosen;
}

/** Returns the NPUs with a coordinate below p, or the others where they are fewer: each is the other's complement. */
function smallerSide({ size, stride, coordinate }: Dimension, p: number): Int32Array {
  const [from, to] = p <= size - p ? [0, p] : [p, size];
  const nodes = new Int32Array((coordinate.length / size) * (to - from));
  let count = 0;
  for (let first = 0; first < coordinate.length; first += size * stride) {
    const end = first + to * stride;
    for (let npu = first + from * stride; npu < end; npu++) nodes[count++] = npu;
  }
  return nodes;
}

/** Passes over the switches near a set: their places depend on each other. */
const PASSES = 3;

/** Returns a set of NPUs and, after them, the switches that are better inside with them. */
type Placement = (npus: ArrayLike<number>) => Int32Array;

/**
 * Returns the function that adds to a set of NPUs the switches, ascending, with at least as much bandwidth to the set as to
 * the rest, in three passes over the switches that the set's links lead to. Any choice is valid.
 *
 * What each switch has in common with the set is summed up as nodes come inside, so a set costs O(links of its nodes) and
 * a few steps for each switch it touches, however many ports that has: one switch under all boxes is touched by every box.
 */
export function switchPlacement(topology: Topology, ports: Ports): Placement {
  const { npuCount } = topology;
  const nodes = nodeCount(topology);
  if (nodes === npuCount) return (npus) => Int32Array.from(npus);
  const { offset, neighbour, bandwidth, leads, total } = switchesBeside(topology, ports);

  /** Number of the set at hand. Columns below that hold an earlier number hold nothing. */
  let current = 0;
  /** [nodes] the last set with the node inside. */
  const inside = new Int32Array(nodes);
  /** [nodes] the last set whose links lead to the node. */
  const seen = new Int32Array(nodes);
  /** [nodes] the last set that has bandwidth in common with the node, */
  const shares = new Int32Array(nodes);
  /** [nodes] and how much. */
  const common = new Float64Array(nodes);
  /** The switches seen. */
  const near = new Int32Array(nodes - npuCount);
  let nearCount = 0;

  /** Puts a node inside (1) or outside (-1). */
  const put = (node: number, sign: 1 | -1): void => {
    inside[node] = sign === 1 ? current : 0;
    for (let i = offset[node]; i < offset[node + 1]; i++) {
      const next = neighbour[i];
      const known = shares[next] === current ? common[next] : 0;
      shares[next] = current;
      common[next] = known + sign * bandwidth[i];
    }
  };
  const seeFrom = (node: number): void => {
    for (let i = offset[node]; i < offset[node + 1]; i++) {
      if (leads[i] === 0 || seen[neighbour[i]] === current) continue;
      seen[neighbour[i]] = current;
      near[nearCount++] = neighbour[i];
    }
  };
  const belongs = (node: number): boolean => (shares[node] === current ? 2 * common[node] : 0) >= total[node];

  return (npus) => {
    current++;
    nearCount = 0;
    for (let i = 0; i < npus.length; i++) put(npus[i], 1);
    for (let i = 0; i < npus.length; i++) seeFrom(npus[i]);
    for (let pass = 0, changed = true; pass < PASSES && changed; pass++) {
      changed = false;
      const known = nearCount;
      for (let i = 0; pass > 0 && i < known; i++) if (inside[near[i]] === current) seeFrom(near[i]);
      if (pass === 0 || nearCount > known) near.subarray(0, nearCount).sort();
      for (let i = 0; i < nearCount; i++) {
        const node = near[i];
        const better = belongs(node);
        if (better === (inside[node] === current)) continue;
        put(node, better ? 1 : -1);
        changed = true;
      }
    }
    let count = npus.length;
    const set = new Int32Array(npus.length + nearCount);
    set.set(npus);
    for (let i = 0; i < nearCount; i++) if (inside[near[i]] === current) set[count++] = near[i];
    return set.slice(0, count);
  };
}

/** For each node the switches beside it: elements `offset[v] .. offset[v + 1]`. */
interface SwitchesBeside {
  readonly offset: Int32Array;
  readonly neighbour: Int32Array;
  /** Of all links between the two, both ways. */
  readonly bandwidth: Float64Array;
  /** 1 where a link leads there. */
  readonly leads: Uint8Array;
  /** [nodes] bandwidth of all links at the node. */
  readonly total: Float64Array;
}

function switchesBeside(topology: Topology, { entering, leaving }: Ports): SwitchesBeside {
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond } = topology;
  const nodes = nodeCount(topology);
  const offset = new Int32Array(nodes + 1);
  const neighbour = new Int32Array(2 * linkSource.length);
  const bandwidth = new Float64Array(neighbour.length);
  const leads = new Uint8Array(neighbour.length);
  const total = new Float64Array(nodes);
  /** [nodes] 1 + the last element of the node, which is of an earlier one's unless it is above the offset. */
  const last = new Int32Array(nodes);
  let count = 0;
  const add = (node: number, other: number, link: number, leadsThere: 0 | 1): void => {
    total[node] += linkBytesPerSecond[link];
    if (other < npuCount) return;
    if (last[other] <= offset[node]) {
      neighbour[count++] = other;
      last[other] = count;
    }
    bandwidth[last[other] - 1] += linkBytesPerSecond[link];
    leads[last[other] - 1] |= leadsThere;
  };
  for (let node = 0; node < nodes; node++) {
    for (let i = leaving.offset[node]; i < leaving.offset[node + 1]; i++) {
      add(node, linkTarget[leaving.items[i]], leaving.items[i], 1);
    }
    for (let i = entering.offset[node]; i < entering.offset[node + 1]; i++) {
      add(node, linkSource[entering.items[i]], entering.items[i], 0);
    }
    offset[node + 1] = count;
  }
  return { offset, neighbour, bandwidth, leads, total };
}
