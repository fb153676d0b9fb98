import { nodeCount, type Topology } from "../topology/topology.ts";

/** The tier of each node: 0 for NPUs, t for switches t links away from the nearest; -1 where no links lead to one. */
export interface SwitchTiers {
  /** [nodes] */
  readonly tier: Int32Array;
  /** The highest tier. */
  readonly tiers: number;
  /** Switches by tier, then number. */
  readonly order: Int32Array;
}

/** Links at either end of each node: at[offset[v] .. offset[v + 1]], link l as 2l where it leaves v, 2l + 1 where it enters. */
interface LinkEnds {
  readonly offset: Int32Array;
  readonly at: Int32Array;
}

/** Returns the ends of links at each node. O(nodes + links). */
function linkEnds(topology: Topology): LinkEnds {
  const { linkSource, linkTarget } = topology;
  const offset = new Int32Array(nodeCount(topology) + 1);
  for (let link = 0; link < linkSource.length; link++) {
    offset[linkSource[link] + 1]++;
    offset[linkTarget[link] + 1]++;
  }
  for (let v = 0; v + 1 < offset.length; v++) offset[v + 1] += offset[v];
  const next = offset.slice();
  const at = new Int32Array(2 * linkSource.length);
  for (let link = 0; link < linkSource.length; link++) {
    at[next[linkSource[link]]++] = 2 * link;
    at[next[linkTarget[link]]++] = 2 * link + 1;
  }
  return { offset, at };
}

/** Returns the tier of each node, links taken both ways. O(nodes + links). */
export function switchTiers(topology: Topology, ends = linkEnds(topology)): SwitchTiers {
  const { npuCount, linkSource, linkTarget } = topology;
  const nodes = nodeCount(topology);
  const tier = new Int32Array(nodes).fill(-1).fill(0, 0, npuCount);
  const queue = Int32Array.from({ length: nodes }, (_, v) => v);
  let last = npuCount;
  for (let i = 0; i < last; i++) {
    const v = queue[i];
    for (let j = ends.offset[v]; j < ends.offset[v + 1]; j++) {
      const link = ends.at[j] >> 1;
      const u = (ends.at[j] & 1) === 0 ? linkTarget[link] : linkSource[link];
      if (tier[u] >= 0) continue;
      tier[u] = tier[v] + 1;
      queue[last++] = u;
    }
  }
  const order = queue.slice(npuCount, last).sort((a, b) => tier[a] - tier[b] || a - b);
  return { tier, tiers: order.length === 0 ? 0 : tier[order[order.length - 1]], order };
}

/** Extends maps of the NPUs to switches. */
export interface SwitchMatcher {
  /**
   * Completes `map` [nodes], which says where each NPU goes, tier by tier: a switch goes to one whose links to lower tiers are
   * those of its image; of several such switches the k-th to the k-th. Where these are the same switches again, `turn` says
   * where the k-th of m goes instead. Returns false when there is no such switch; that the result is a map of the network
   * onto itself is for the caller to check, for links are compared by a hash here. O(nodes + links).
   */
  extend(map: Int32Array, turn: (k: number, m: number) => number): boolean;
}

/** Two 32-bit hashes of the links of a node to lower tiers, in any order, as one number below 2^53. */
type Signature = (node: number, map: Int32Array | null) => number;

function mixed(neighbour: number, kind: number, salt: number): number {
  let x = Math.imul(neighbour + 1, 0x9e3779b1) ^ Math.imul(kind + salt, 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d);
  x = Math.imul(x ^ (x >>> 12), 0x297a2d39);
  return x ^ (x >>> 15);
}

/** Returns the matcher of a network whose links have these kinds: [links] equal where a map may take one to the other. */
export function switchMatcher(topology: Topology, kinds: Int32Array): SwitchMatcher {
  const { linkSource, linkTarget } = topology;
  const ends = linkEnds(topology);
  const { tier, order } = switchTiers(topology, ends);
  const nodes = nodeCount(topology);

  const signature: Signature = (node, map) => {
    let low = 0;
    let high = tier[node];
    for (let i = ends.offset[node]; i < ends.offset[node + 1]; i++) {
      const link = ends.at[i] >> 1;
      const leaves = 1 - (ends.at[i] & 1);
      const u = leaves === 1 ? linkTarget[link] : linkSource[link];
      if (tier[u] >= tier[node]) continue;
      const image = map === null ? u : map[u];
      low = (low + mixed(image, 2 * kinds[link] + leaves, 1)) | 0;
      high = (high + mixed(image, 2 * kinds[link] + leaves, 0x51ed)) | 0;
    }
    return (low >>> 0) * 0x200000 + (high & 0x1fffff);
  };

  // switches that look alike from below, ascending
  const alike = new Map<number, number[]>();
  const own: (readonly number[])[] = new Array(nodes);
  const place = new Int32Array(nodes);
  for (const w of order) {
    const key = signature(w, null);
    const list = alike.get(key) ?? [];
    alike.set(key, list);
    own[w] = list;
    place[w] = list.length;
    list.push(w);
  }

  const extend = (map: Int32Array, turn: (k: number, m: number) => number): boolean => {
    for (let v = topology.npuCount; v < nodes; v++) map[v] = v;
    for (const w of order) {
      const list = alike.get(signature(w, map));
      if (list === undefined || list.length !== own[w].length) return false;
      map[w] = list[list === own[w] ? turn(place[w], list.length) : place[w]];
    }
    return true;
  };
  return { extend };
}
