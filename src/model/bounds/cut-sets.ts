import type { Collective } from "../collective/collective.ts";
import { type FlowNetwork, flowSolver } from "../graph/flow.ts";
import { commonValue, type Grouped } from "../graph/graph.ts";
import { commonDivisor } from "../numbers/integers.ts";
import { addTo, indicesBelow } from "../numbers/ordering.ts";
import { nodeCount, type Topology } from "../topology/topology.ts";
import { entering } from "./demand.ts";
import type { RouteView } from "./graph.ts";
import { crossingBandwidth, markSet, type Ports, portsOf, sidesOf } from "./sides.ts";

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
      addTo(members, root, v);
    }
    for (const set of members.values()) if (set.length > 1 && set.length < nodes) sets.push(set);
  }
  return sets;
}

function nodeGroups(topology: Topology): number[][] {
  const groups = new Map<string, number[]>();
  topology.nodeTraits.forEach((traits, node) => {
    if (traits.group === undefined) return;
    addTo(groups, traits.group, node);
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

/** One dimension of a shape: the coordinate of every NPU in it. */
export interface Dimension {
  readonly size: number;
  /** NPUs next to each other in the numbering that have the same coordinate. */
  readonly stride: number;
  /** [NPUs] */
  readonly coordinate: Int32Array;
}

/** What crosses the borders of all prefixes of a dimension: element p is for the NPUs with a coordinate below p. */
interface Borders {
  /** [size + 1] */
  readonly into: Float64Array;
  /** [size + 1] */
  readonly outOf: Float64Array;
}

/** Returns the coordinates of the k-th dimension of the shape, first dimension fastest. */
export function dimensionOf(shape: readonly number[], k: number, npuCount: number): Dimension {
  const size = shape[k];
  const stride = shape.slice(0, k).reduce((a, b) => a * b, 1);
  const coordinate = new Int32Array(npuCount);
  for (let npu = 0, x = 0; npu < npuCount; x = x + 1 === size ? 0 : x + 1) {
    for (const end = npu + stride; npu < end; npu++) coordinate[npu] = x;
  }
  return { size, stride, coordinate };
}

/** Returns how much of `amount` ([arcs], or of each arc) crosses the border of each prefix; exact while the sums are. O(arcs + size). */
export function bordersOf(
  { size, coordinate }: Dimension,
  tail: Int32Array,
  head: Int32Array,
  amount: Float64Array | number,
): Borders {
  const into = new Float64Array(size + 1);
  const outOf = new Float64Array(size + 1);
  // differences first: an arc from x to a larger y leaves the prefixes x + 1 .. y
  for (let arc = 0; arc < tail.length; arc++) {
    const from = coordinate[tail[arc]];
    const to = coordinate[head[arc]];
    if (from === to) continue;
    const sums = from < to ? outOf : into;
    const part = typeof amount === "number" ? amount : amount[arc];
    sums[Math.min(from, to) + 1] += part;
    const end = Math.max(from, to) + 1;
    if (end <= size) sums[end] -= part;
  }
  for (let p = 1; p <= size; p++) {
    into[p] += into[p - 1];
    outOf[p] += outOf[p - 1];
  }
  return { into, outOf };
}

/**
 * Returns bandwidths, bytes per second, that the borders of the prefixes have at least, wherever the switches are put: that
 * of the links between NPUs, and at each switch the lesser of what joins it to the NPUs on either side, less what rounding
 * of the sums may have added. O(links log links + size).
 */
export function leastBorders({ size, coordinate }: Dimension, topology: Topology, ports: Ports): Borders {
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond } = topology;
  const { entering, leaving } = ports;
  /** [nodes] switches stand at 0, and their links count for nothing among those between NPUs. */
  const layer = new Int32Array(entering.offset.length - 1);
  layer.set(coordinate);
  const isDirect = (link: number): boolean => linkSource[link] < npuCount && linkTarget[link] < npuCount;
  const direct = linkBytesPerSecond.map((bandwidth, link) => (isDirect(link) ? bandwidth : 0));
  const borders = bordersOf({ size, stride: 1, coordinate: layer }, linkSource, linkTarget, direct);

  /** [size] from the switch at hand to the NPUs of a layer, and from them to it. */
  const down = new Float64Array(size);
  const up = new Float64Array(size);
  /** [size + 1] how much more all switches add to the border of a prefix than to that before. */
  const more: Borders = { into: new Float64Array(size + 1), outOf: new Float64Array(size + 1) };
  for (let node = npuCount; node < layer.length; node++) {
    const layers: number[] = [];
    const collect = ({ offset, items }: Grouped, end: Int32Array, sums: Float64Array): number => {
      let all = 0;
      for (let i = offset[node]; i < offset[node + 1]; i++) {
        const npu = end[items[i]];
        if (npu >= npuCount) continue;
        if (down[layer[npu]] === 0 && up[layer[npu]] === 0) layers.push(layer[npu]);
        sums[layer[npu]] += linkBytesPerSecond[items[i]];
        all += linkBytesPerSecond[items[i]];
      }
      return all;
    };
    let downOutside = collect(leaving, linkTarget, down);
    let upOutside = collect(entering, linkSource, up);
    let downInside = 0;
    let upInside = 0;
    for (const x of Int32Array.from(layers).sort()) {
      more.into[x + 1] -= Math.min(downInside, upOutside);
      more.outOf[x + 1] -= Math.min(upInside, downOutside);
      downInside += down[x];
      downOutside -= down[x];
      upInside += up[x];
      upOutside -= up[x];
      more.into[x + 1] += Math.min(downInside, upOutside);
      more.outOf[x + 1] += Math.min(upInside, downOutside);
      down[x] = 0;
      up[x] = 0;
    }
  }
  const total = linkBytesPerSecond.reduce((a, b) => a + b, 0);
  const rounding = 16 * linkSource.length * total * 2 ** -53;
  for (const [least, parts] of [
    [borders.into, more.into],
    [borders.outOf, more.outOf],
  ]) {
    let atSwitches = 0;
    for (let p = 1; p <= size; p++) {
      atSwitches += parts[p];
      least[p] = Math.max(0, least[p] + atSwitches - rounding);
    }
  }
  return borders;
}

/** Returns the chunks of a collective with a name that must cross the border of each prefix. O(members log members + size). */
export function prefixDemands(collective: Collective, { size, coordinate }: Dimension): Borders {
  const { groupCount, groupSize, groupMembers, rootRank } = collective;
  const into = new Float64Array(size + 1);
  const outOf = new Float64Array(size + 1);
  // differences first: a group's demand changes where members come inside
  for (let first = 0; first < groupCount * groupSize; first += groupSize) {
    const members = groupMembers.subarray(first, first + groupSize);
    const layers = members.map((npu) => coordinate[npu]).sort();
    const rootLayer = coordinate[members[rootRank]];
    let wasInto = 0;
    let wasOutOf = 0;
    for (let inside = 1; inside <= groupSize; inside++) {
      const layer = layers[inside - 1];
      if (inside < groupSize && layers[inside] === layer) continue;
      const nowInto = entering(collective, groupSize, inside, rootLayer <= layer);
      const nowOutOf = entering(collective, groupSize, groupSize - inside, rootLayer > layer);
      into[layer + 1] += nowInto - wasInto;
      outOf[layer + 1] += nowOutOf - wasOutOf;
      wasInto = nowInto;
      wasOutOf = nowOutOf;
    }
  }
  for (let p = 1; p <= size; p++) {
    into[p] += into[p - 1];
    outOf[p] += outOf[p - 1];
  }
  return { into, outOf };
}

/**
 * Yields the prefixes whose cut `beats` what is known, one at a time, that with the most demand per border first. After each,
 * `borders` is asked again, for what is known may have changed.
 */
export function* steepest(
  demands: Borders,
  borders: () => Borders,
  beats: (demand: number, border: number) => boolean,
): Generator<number> {
  const size = demands.into.length - 1;
  const tried = new Uint8Array(size + 1);
  for (;;) {
    const { into, outOf } = borders();
    let best = 0;
    let ratio = 0;
    const weigh = (p: number, demand: number, border: number): void => {
      if (demand === 0 || demand / border <= ratio || !beats(demand, border)) return;
      ratio = demand / border;
      best = p;
    };
    for (let p = 1; p < size; p++) {
      if (tried[p] === 1) continue;
      weigh(p, demands.into[p], into[p]);
      weigh(p, demands.outOf[p], outOf[p]);
    }
    if (best === 0) return;
    tried[best] = 1;
    yield best;
  }
}

/** Above this many (flows x links) no flows are solved: about half a second. 400 NPUs of a torus are below it. */
const FLOW_WORK = 600_000;

/**
 * Returns node sets with the narrowest borders for a non-reducing collective or all-reduce, by maximum flow.
 *
 * broadcast: a minimum cut from the root to each NPU. all-reduce: from rank 0 to each and back. all-gather, scatter: the
 * set S that maximises (chunks into S) / (bandwidth into S), by Dinkelbach's method: the best ratio so far is turned into
 * capacities, and a minimum cut that the demand exceeds is a better set (for the all-gather of one group this is
 * ForestColl's 1/x*, ForestColl 2024, section 5.2). all-to-all and custom: none. O(NPUs) flows per step.
 */
export function worstCuts(topology: Topology, collective: Collective): Int32Array[] {
  const { kind, rootRank, groupMembers } = collective;
  // Limit, target and bound of one problem ask for the same sets; the columns stand for the network and its groups.
  let byGroups = remembered.get(topology.linkSource);
  if (byGroups === undefined) {
    byGroups = new WeakMap();
    remembered.set(topology.linkSource, byGroups);
  }
  let byKind = byGroups.get(groupMembers);
  if (byKind === undefined) {
    byKind = new Map();
    byGroups.set(groupMembers, byKind);
  }
  const key = `${kind}:${rootRank}`;
  const known = byKind.get(key);
  if (known?.topology.linkBytesPerSecond === topology.linkBytesPerSecond) return known.sets;
  const sets = findWorstCuts(topology, collective);
  byKind.set(key, { topology, sets });
  return sets;
}

type Found = { readonly topology: Topology; readonly sets: Int32Array[] };
const remembered = new WeakMap<Int32Array, WeakMap<Int32Array, Map<string, Found>>>();

function findWorstCuts(topology: Topology, collective: Collective): Int32Array[] {
  const { npuCount, linkSource, linkBytesPerSecond } = topology;
  const { groupSize, groupCount, groupMembers, kind, rootRank } = collective;
  const links = linkSource.length;
  const flows = kind === "scatter" ? groupCount : groupCount * groupSize;
  if (groupSize < 2 || flows * (links + npuCount) > FLOW_WORK) return [];
  if (kind !== "allgather" && kind !== "allreduce" && kind !== "broadcast" && kind !== "scatter") return [];

  // bandwidths as small integers
  const unit = commonDivisor(linkBytesPerSecond);
  const bandwidth = linkBytesPerSecond.map((b) => b / unit);
  const total = bandwidth.reduce((a, b) => a + b, 0);
  if (total * (groupSize + 1) > Number.MAX_SAFE_INTEGER) return [];

  const sets: Int32Array[] = [];
  for (let group = 0; group < groupCount; group++) {
    const members = groupMembers.subarray(group * groupSize, (group + 1) * groupSize);
    const root = members[rootRank];
    const set =
      kind === "broadcast" || kind === "allreduce"
        ? narrowestCut(topology, bandwidth, members, root, kind === "allreduce")
        : worstShardCut(topology, bandwidth, unit, members, root, kind === "scatter");
    if (set !== null) sets.push(set);
  }
  return sets;
}

/** Returns the sink's side of the narrowest cut between the root and another member, where asked for either way. */
function narrowestCut(
  topology: Topology,
  bandwidth: Float64Array,
  members: Int32Array,
  root: number,
  bothWays: boolean,
): Int32Array | null {
  const nodes = nodeCount(topology);
  const solve = flowSolver({ nodes, tail: topology.linkSource, head: topology.linkTarget });
  const others = [...members].filter((v) => v !== root);
  const pairs = others.map((v) => [root, v]);
  if (bothWays) pairs.push(...others.map((v) => [v, root]));
  let least = Number.POSITIVE_INFINITY;
  let best: Int32Array | null = null;
  for (const [from, to] of pairs) {
    const { value, sinkSide } = solve(bandwidth, from, to);
    if (value >= least) continue;
    least = value;
    best = nodesOf(sinkSide, nodes);
  }
  return best;
}

/** Returns the nodes below `nodes` that are marked. */
const nodesOf = (marked: Uint8Array, nodes: number): Int32Array =>
  Int32Array.from(marked.subarray(0, nodes).keys()).filter((v) => marked[v] === 1);

/**
 * Returns the set that most shards must cross for its bandwidth: those of an all-gather into it, from a node more that is the
 * source of them all, or those of a scatter, into a node more that is their sink.
 */
function worstShardCut(
  topology: Topology,
  bandwidth: Float64Array,
  unit: number,
  members: Int32Array,
  root: number,
  scatter: boolean,
): Int32Array | null {
  const { linkSource, linkTarget } = topology;
  const nodes = nodeCount(topology);
  const links = linkSource.length;
  const sides = sidesOf(topology);
  const ports = portsOf(topology);
  const network = withShards(linkSource, linkTarget, members, nodes, scatter, root);
  const solve = flowSolver(network);
  const shards = network.tail.length - links;
  const inGroup = new Uint8Array(nodes + 1);
  for (const v of members) inGroup[v] = 1;
  // ratio = need / enters, in chunks per unit of bandwidth
  let need = scatter ? 0 : members.length - 1;
  let enters = 0;
  let best: Int32Array | null = null;
  const improve = (set: Int32Array): boolean => {
    markSet(sides, set);
    const width = crossingBandwidth(topology, ports, sides, set).into / unit;
    let inside = 0;
    for (const v of set) inside += inGroup[v];
    const chunks = scatter ? inside : members.length - inside;
    if (chunks === 0 || (best !== null && chunks * enters <= need * width)) return false;
    [need, enters, best] = [chunks, width, set];
    return true;
  };
  // start from single NPUs
  for (const v of members) if (!scatter || v !== root) improve(Int32Array.of(v));
  const capacity = new Float64Array(network.tail.length);
  for (const sink of scatter ? [nodes] : members) {
    for (let tries = 0; tries < 50 && enters > 0; tries++) {
      // shard : link = 1 : ratio * bandwidth, times `enters`
      for (let l = 0; l < links; l++) capacity[l] = need * bandwidth[l];
      capacity.fill(enters, links);
      const { value, sinkSide } = solve(capacity, scatter ? root : nodes, sink);
      if (value >= enters * shards) break;
      if (!improve(nodesOf(sinkSide, nodes))) break;
    }
  }
  return best;
}

function withShards(
  tail: Int32Array,
  head: Int32Array,
  members: Int32Array,
  extra: number,
  scatter: boolean,
  root: number,
): FlowNetwork {
  const ends = Array.from(members).filter((v) => !scatter || v !== root);
  const shards = new Int32Array(ends.length).fill(extra);
  const join = (a: ArrayLike<number>, b: ArrayLike<number>): Int32Array => {
    const both = new Int32Array(a.length + b.length);
    both.set(a);
    both.set(b, a.length);
    return both;
  };
  return {
    nodes: extra + 1,
    tail: join(tail, scatter ? ends : shards),
    head: join(head, scatter ? shards : ends),
  };
}
