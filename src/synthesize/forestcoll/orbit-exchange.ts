import { groupedBy } from "../../model/graph/graph.ts";
import { inLinks, nodeCount, outLinks, type Topology } from "../../model/topology/topology.ts";
import { extended, type OrbitBudgets, type OrbitTree, type Paths } from "./orbit-shares.ts";

/** Networks with more links into NPUs, times trees, are left alone: every exchange looks at all of them. */
const MOST_CHOICES = 100_000;
const MOST_ORBITS = 128;

/** The exchange that costs least among those that take an NPU's copy from one orbit to another. */
interface Exchanges {
  /** [orbits * orbits] how much higher than the least height the changed tree reaches there; Infinity: no exchange. */
  readonly cost: Float64Array;
  /** [orbits * orbits] copy * NPUs + NPU. */
  readonly slot: Float64Array;
  /** [orbits * orbits] its new link. */
  readonly link: Int32Array;
}

/**
 * Returns k trees of root 0 within the budgets on a network without switches, or null where the search ends without. Starts
 * from shortest-path trees that ignore budgets; as long as an orbit is used too often, an NPU moves to a parent over another
 * orbit, which may need a further exchange there, and so on to an orbit with room: the cheapest such chain, where cost is
 * what trees grow in height, then its length. Not exact: chains are applied from their ends, and end where one link of them
 * spoils the next. O(links * k * height) per chain.
 */
export function exchangedTrees(
  topology: Topology,
  paths: Paths,
  { orbit, budget }: OrbitBudgets,
  k: number,
): readonly OrbitTree[] | null {
  const orbits = budget.length;
  const { npuCount } = topology;
  if (nodeCount(topology) > npuCount || orbits > MOST_ORBITS || orbit.length * k > MOST_CHOICES) return null;
  const left = budget.slice();
  const trees = rootedTrees(topology, k, (links) => {
    let best = links[0];
    for (const link of links) if (left[orbit[link]] > left[orbit[best]]) best = link;
    left[orbit[best]]--;
    return best;
  });
  if (trees === null) return null;

  for (let chains = 2 * k * npuCount; left.some((uses) => uses < 0); chains--) {
    if (chains === 0) return null;
    const exchanges = cheapestExchanges(topology, trees, orbit, orbits);
    const chain = cheapestChain(exchanges.cost, left);
    if (chain === null) return null;
    for (let i = chain.length - 1; i > 0; i--) {
      const [from, to] = [chain[i - 1], chain[i]];
      const slot = exchanges.slot[from * orbits + to];
      const link = exchanges.link[from * orbits + to];
      if (orbit[trees.link[slot]] !== from || !trees.mayMove(slot, link)) break;
      trees.move(slot, link);
      left[from]++;
      left[to]--;
    }
  }
  return merged(trees, paths, npuCount, k);
}

function cheapestExchanges(topology: Topology, trees: RootedTrees, orbit: Int32Array, orbits: number): Exchanges {
  const { npuCount, linkSource } = topology;
  const { offset, links } = inLinks(topology);
  const cost = new Float64Array(orbits * orbits).fill(Number.POSITIVE_INFINITY);
  const best = { cost, slot: new Float64Array(orbits * orbits), link: new Int32Array(orbits * orbits) };
  for (let slot = 0; slot < trees.link.length; slot++) {
    const v = slot % npuCount;
    if (v === 0) continue;
    const row = orbit[trees.link[slot]] * orbits;
    for (let i = offset[v]; i < offset[v + 1]; i++) {
      const at = row + orbit[links[i]];
      const reach = trees.depth[slot - v + linkSource[links[i]]] + 1 + trees.below[slot];
      const higher = Math.max(0, reach - trees.leastHeight);
      if (links[i] === trees.link[slot] || higher >= cost[at] || !trees.mayMove(slot, links[i])) continue;
      cost[at] = higher;
      best.slot[at] = slot;
      best.link[at] = links[i];
    }
  }
  return best;
}

/** Returns the orbits of the cheapest chain from one used too often to one with room; null where none leads there. Dijkstra 1959. */
function cheapestChain(cost: Float64Array, left: Float64Array): number[] | null {
  const orbits = left.length;
  const distance = Float64Array.from(left, (uses) => (uses < 0 ? 0 : Number.POSITIVE_INFINITY));
  const before = new Int32Array(orbits).fill(-1);
  const done = new Uint8Array(orbits);
  for (;;) {
    let next = -1;
    for (let o = 0; o < orbits; o++) {
      if (done[o] === 0 && distance[o] < (next < 0 ? Number.POSITIVE_INFINITY : distance[next])) next = o;
    }
    if (next < 0) return null;
    if (left[next] > 0) {
      const chain = [next];
      while (before[chain[0]] >= 0) chain.unshift(before[chain[0]]);
      return chain;
    }
    done[next] = 1;
    for (let o = 0; o < orbits; o++) {
      const reach = distance[next] + cost[next * orbits + o] * orbits + 1;
      if (reach >= distance[o]) continue;
      distance[o] = reach;
      before[o] = next;
    }
  }
}

/** Returns the trees as paths of one link, equal ones once. */
function merged(trees: RootedTrees, paths: Paths, npuCount: number, k: number): OrbitTree[] {
  const pathOf = new Map<number, number>();
  const copies = new Map<string, number>();
  for (let c = 0; c < k; c++) {
    const key = trees.link.subarray(c * npuCount, (c + 1) * npuCount).join();
    copies.set(key, (copies.get(key) ?? 0) + 1);
  }
  return [...copies].map(([key, count]) => {
    const into = Int32Array.from(key.split(","), (text) => {
      const link = Number(text);
      if (link < 0) return -1;
      const path = pathOf.get(link) ?? extended(paths, -1, link);
      pathOf.set(link, path);
      return path;
    });
    return { copies: count, into };
  });
}

/** k spanning trees of root 0 without switches, in which NPUs can move to other parents. Slot c * NPUs + v is v in tree c. */
interface RootedTrees {
  /** [slots] the link into each NPU; -1 for the root. */
  readonly link: Int32Array;
  /** [slots] edges from the root. */
  readonly depth: Int32Array;
  /** [slots] edges to the farthest NPU below. */
  readonly below: Int32Array;
  /** Hops to the farthest NPU: no tree is lower. */
  readonly leastHeight: number;
  /** Returns whether a link into the slot's NPU leads from one that is not below it. O(height). */
  mayMove(slot: number, link: number): boolean;
  /** Hangs the slot's NPU, with all below it, on another link. O(NPUs). */
  move(slot: number, link: number): void;
}

/** Returns k shortest-path trees: `choose` picks a link into an NPU from those one hop nearer to the root. Null: one is out of reach. */
function rootedTrees(topology: Topology, k: number, choose: (links: readonly number[]) => number): RootedTrees | null {
  const { npuCount, linkSource } = topology;
  const order = hopsFrom0(topology);
  if (order.npus.length < npuCount) return null;
  const incoming = inLinks(topology);
  const nearer = Array.from({ length: npuCount }, (_, v) =>
    [...incoming.links.subarray(incoming.offset[v], incoming.offset[v + 1])].filter(
      (link) => order.hops[linkSource[link]] === order.hops[v] - 1,
    ),
  );
  const link = new Int32Array(k * npuCount).fill(-1);
  const depth = new Int32Array(k * npuCount);
  const below = new Int32Array(k * npuCount);
  const queue = new Int32Array(npuCount);

  const measure = (base: number): void => {
    const parents = Int32Array.from({ length: npuCount }, (_, v) => (v === 0 ? 0 : linkSource[link[base + v]]));
    const { offset, items } = groupedBy(parents, npuCount);
    let last = 1;
    for (let first = 0; first < last; first++) {
      const v = queue[first];
      below[base + v] = 0;
      for (let i = offset[v]; i < offset[v + 1]; i++) {
        if (items[i] === 0) continue;
        depth[base + items[i]] = depth[base + v] + 1;
        queue[last++] = items[i];
      }
    }
    for (let i = last - 1; i > 0; i--) {
      const at = base + parents[queue[i]];
      below[at] = Math.max(below[at], below[base + queue[i]] + 1);
    }
  };
  const mayMove = (slot: number, other: number): boolean => {
    const v = slot % npuCount;
    for (let u = linkSource[other]; u !== 0; u = linkSource[link[slot - v + u]]) if (u === v) return false;
    return true;
  };
  const move = (slot: number, other: number): void => {
    link[slot] = other;
    measure(slot - (slot % npuCount));
  };

  for (let base = 0; base < link.length; base += npuCount) {
    for (const v of order.npus) if (v !== 0) link[base + v] = choose(nearer[v]);
    measure(base);
  }
  const leastHeight = order.hops[order.npus[npuCount - 1]];
  return { link, depth, below, leastHeight, mayMove, move };
}

/** Returns NPUs by their hops from NPU 0, only those within reach. */
function hopsFrom0(topology: Topology): { readonly npus: readonly number[]; readonly hops: Int32Array } {
  const { offset, links } = outLinks(topology);
  const hops = new Int32Array(topology.npuCount).fill(-1);
  const npus = [0];
  hops[0] = 0;
  for (const v of npus) {
    for (let i = offset[v]; i < offset[v + 1]; i++) {
      const u = topology.linkTarget[links[i]];
      if (hops[u] >= 0) continue;
      hops[u] = hops[v] + 1;
      npus.push(u);
    }
  }
  return { npus, hops };
}
