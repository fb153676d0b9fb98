import { groupedBy } from "./graph.ts";

/** Data per node that few nodes have. */
export interface NodeTraits {
  /** The box, pod or rack the node belongs to; nodes of one group stand together. */
  readonly group?: string;
  /** The switch can duplicate a message. */
  readonly multicast?: boolean;
  /** The switch can reduce messages. */
  readonly aggregation?: boolean;
}

/**
 * A network: NPUs, switches and directed links. Plain columns; nodes 0 .. npuCount - 1 are the NPUs (node index = NPU id),
 * switches follow. Links keep the order in which they were declared; parallel links are allowed, self-loops are not.
 */
export interface Topology {
  readonly name: string;
  readonly npuCount: number;
  /** [nodes] unique names, NPUs first. */
  readonly nodeNames: readonly string[];
  /** [nodes] */
  readonly nodeTraits: readonly NodeTraits[];
  /** [links] node the link leaves. */
  readonly linkSource: Int32Array;
  /** [links] node the link enters. */
  readonly linkTarget: Int32Array;
  /** [links] bytes per second, exact integers in 1 .. 2^53 - 1. */
  readonly linkBytesPerSecond: Float64Array;
  /** [links] picoseconds, exact integers, 0 or more. */
  readonly linkLatencyPs: Float64Array;
  /** Sizes of the dimensions where the NPU numbering is x0 + d0*(x1 + d1*(x2 ...)); empty where there is no such grid. */
  readonly shape: readonly number[];
  /** Where the figures come from, for people. */
  readonly sources: readonly string[];
}

export const nodeCount = (topology: Topology): number => topology.nodeNames.length;
export const linkCount = (topology: Topology): number => topology.linkSource.length;
export const switchCount = (topology: Topology): number => topology.nodeNames.length - topology.npuCount;
export const isNpu = (topology: Topology, node: number): boolean => node < topology.npuCount;

/** For each node the links that leave it (or enter it): `links[offset[v] .. offset[v + 1]]`, in link order. */
export interface Adjacency {
  /** [nodes + 1] */
  readonly offset: Int32Array;
  /** [links] */
  readonly links: Int32Array;
}

function adjacency(keys: Int32Array, nodes: number): Adjacency {
  const { offset, items } = groupedBy(keys, nodes);
  return { offset, links: items };
}

/** Returns the links that leave each node. O(nodes + links). */
export const outLinks = (topology: Topology): Adjacency => adjacency(topology.linkSource, nodeCount(topology));

/** Returns the links that enter each node. O(nodes + links). */
export const inLinks = (topology: Topology): Adjacency => adjacency(topology.linkTarget, nodeCount(topology));

/** Returns every link's name: `a>b`, and `a>b#2` for the second of parallel links. O(links). */
export function linkNames(topology: Topology): string[] {
  const seen = new Map<string, number>();
  const names: string[] = [];
  for (let link = 0; link < topology.linkSource.length; link++) {
    const name = `${topology.nodeNames[topology.linkSource[link]]}>${topology.nodeNames[topology.linkTarget[link]]}`;
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    names.push(count === 1 ? name : `${name}#${count}`);
  }
  return names;
}

/** Returns the network with every link turned around; link ids, bandwidths and latencies stay. Shares the columns. */
export function reversed(topology: Topology): Topology {
  return { ...topology, linkSource: topology.linkTarget, linkTarget: topology.linkSource };
}

/**
 * Returns 16 hexadecimal digits that identify the network: node kinds and order, links, bandwidths and latencies
 * (64-bit FNV-1a over them as little-endian 32-bit halves). Names and sources do not count. O(nodes + links).
 */
export function topologyHash(topology: Topology): string {
  let low = 0x84222325;
  let high = 0xcbf29ce4;
  const feed = (word: number): void => {
    for (let shift = 0; shift < 32; shift += 8) {
      low = (low ^ ((word >>> shift) & 255)) >>> 0;
      // times 2^40 + 0x1b3, modulo 2^64
      const product = low * 0x1b3;
      const carry = Math.floor(product / 4294967296);
      high = (Math.imul(high, 0x1b3) + carry + (low << 8)) >>> 0;
      low = product >>> 0;
    }
  };
  const feedInteger = (value: number): void => {
    feed(value >>> 0);
    feed(Math.floor(value / 4294967296));
  };
  feed(topology.npuCount);
  feed(nodeCount(topology));
  for (let link = 0; link < topology.linkSource.length; link++) {
    feed(topology.linkSource[link]);
    feed(topology.linkTarget[link]);
    feedInteger(topology.linkBytesPerSecond[link]);
    feedInteger(topology.linkLatencyPs[link]);
  }
  return high.toString(16).padStart(8, "0") + low.toString(16).padStart(8, "0");
}
