import { nodeCount, type Topology } from "../topology.ts";
import type { RouteView } from "./graph.ts";
import { type Ports, portsOf } from "./sides.ts";

/** Work allowed to one bound, in array cells read; what is dropped when it runs out is said at each family. */
export interface Budget {
  left: number;
}

/** Array cells that one bound may read: about a second. */
export const BUDGET = 100_000_000;

/** Takes a set of nodes; `pocket` says that the set is joined by faster links than those around it, or is a box. */
export type Visit = (nodes: Int32Array, pocket: boolean) => void;

/**
 * Calls `visit` with the sets of nodes whose borders are likely to be narrow; the complement of each is the caller's to
 * try. In this order: every NPU; the components of the links (and of the routes, where given) strictly faster than each
 * class; the node groups; the NPUs on one switch; the prefix slabs of every dimension of the shape.
 *
 * Any set gives a valid bound, so what the budget drops only weakens it: at most 8 speed classes are tried, evenly
 * chosen, and of the slabs as many as an eighth of the budget pays for, evenly spaced, the middle included.
 */
export function visitSets(topology: Topology, view: RouteView | null, budget: Budget, visit: Visit): void {
  const { npuCount } = topology;
  const ports = portsOf(topology);
  const one = new Int32Array(1);
  for (let npu = 0; npu < npuCount && budget.left > 0; npu++) {
    one[0] = npu;
    visit(one, false);
  }
  const pocket = (npus: readonly number[], withSwitches: boolean): void => {
    if (npus.length < 2 || budget.left <= 0) return;
    const inside = npus.filter((v) => v < npuCount).length;
    if (inside === 0 || inside === npuCount) return;
    visit(withSwitches ? Int32Array.from(npus) : withPlacedSwitches(topology, ports, npus), true);
  };

  const { linkSource, linkTarget, linkBytesPerSecond } = topology;
  const speeds = linkBytesPerSecond.map((b) => -b);
  for (const set of classComponents(nodeCount(topology), linkSource, linkTarget, speeds)) pocket(set, true);
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
  visitSlabs(topology, ports, work, budget, visit);
}

/** Returns the components formed by the arcs with a cost below each class, fastest classes first. O(classes x arcs). */
function classComponents(nodes: number, tail: Int32Array, head: Int32Array, cost: Float64Array): number[][] {
  const distinct = [...new Set(cost)].sort((a, b) => a - b);
  const limits = distinct.slice(1);
  const chosen =
    limits.length <= 8 ? limits : Array.from({ length: 8 }, (_, i) => limits[Math.floor((i * limits.length) / 8)]);
  const sets: number[][] = [];
  for (const limit of chosen) {
    const parent = Int32Array.from({ length: nodes }, (_, v) => v);
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

/**
 * Returns the NPUs and, after them, the switches that are better inside with them: those with at least as much bandwidth
 * to the set as to the rest, in three passes over the switches that touch the set. Any choice is valid.
 */
export function withPlacedSwitches(topology: Topology, ports: Ports, npus: ArrayLike<number>): Int32Array {
  if (topology.npuCount === nodeCount(topology)) return Int32Array.from(npus);
  const inside = new Set<number>(Array.from(npus));
  const chosen = new Set<number>();
  const { linkSource, linkTarget, linkBytesPerSecond } = topology;
  for (let pass = 0; pass < 3; pass++) {
    const near = new Set<number>(chosen);
    for (const v of inside) {
      for (let i = ports.leaving.offset[v]; i < ports.leaving.offset[v + 1]; i++) {
        const u = linkTarget[ports.leaving.items[i]];
        if (u >= topology.npuCount) near.add(u);
      }
    }
    for (const w of [...near].sort((a, b) => a - b)) {
      let toSet = 0;
      let toRest = 0;
      const weigh = (neighbour: number, link: number): void => {
        if (inside.has(neighbour)) toSet += linkBytesPerSecond[link];
        else toRest += linkBytesPerSecond[link];
      };
      for (let i = ports.entering.offset[w]; i < ports.entering.offset[w + 1]; i++) {
        weigh(linkSource[ports.entering.items[i]], ports.entering.items[i]);
      }
      for (let i = ports.leaving.offset[w]; i < ports.leaving.offset[w + 1]; i++) {
        weigh(linkTarget[ports.leaving.items[i]], ports.leaving.items[i]);
      }
      if (toSet >= toRest) {
        inside.add(w);
        chosen.add(w);
      } else {
        inside.delete(w);
        chosen.delete(w);
      }
    }
  }
  return Int32Array.from([...Array.from(npus), ...[...chosen].sort((a, b) => a - b)]);
}

/** `work`: array cells read per NPU of a slab. */
function visitSlabs(topology: Topology, ports: Ports, work: number, budget: Budget, visit: Visit): void {
  const { shape, npuCount } = topology;
  if (shape.length === 0 || shape.reduce((a, b) => a * b, 1) !== npuCount) return;
  const share = budget.left / (8 * shape.length);
  let stride = 1;
  for (const size of shape) {
    const affordable = Math.max(1, Math.floor(share / ((work * npuCount) / 4)));
    const step = Math.max(1, Math.ceil((size - 1) / affordable));
    const middle = size >> 1;
    for (let p = middle - Math.floor((middle - 1) / step) * step; p < size && budget.left > 0; p += step) {
      if (p < 1) continue;
      // of prefix and suffix the smaller; its complement is the other
      const low = p <= size - p;
      const nodes: number[] = [];
      for (let npu = 0; npu < npuCount; npu++) {
        const x = Math.floor(npu / stride) % size;
        if (low ? x < p : x >= p) nodes.push(npu);
      }
      if (nodes.length > 1) visit(withPlacedSwitches(topology, ports, nodes), false);
    }
    stride *= size;
  }
}
