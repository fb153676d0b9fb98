import { groupedBy } from "../../model/graph/graph.ts";
import { inLinks, outLinks, type Topology } from "../../model/topology/topology.ts";

/** k spanning trees of root 0 without switches, in which NPUs can move to other parents. Slot c * NPUs + v is v in tree c. */
export interface RootedTrees {
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
export function rootedTrees(
  topology: Topology,
  k: number,
  choose: (links: readonly number[]) => number,
): RootedTrees | null {
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
