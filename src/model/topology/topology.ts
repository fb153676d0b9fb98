import { type Grouped, groupedOnce } from "../graph/graph.ts";

/** Data per node that few nodes have. */
export interface NodeTraits {
  /** The box, pod or rack the node belongs to; nodes of one group stand together. */
  readonly group?: string;
  /** The switch can duplicate a message. */
  readonly multicast?: boolean;
  /** The switch can reduce messages. */
  readonly aggregation?: boolean;
}

/** Returns whether a switch can do more than forward: duplicate messages, or reduce them. */
export const isActive = ({ multicast, aggregation }: NodeTraits): boolean => multicast === true || aggregation === true;

/** A grid of NPUs, some of whose places may be empty. */
export interface Grid {
  /** Sizes of the dimensions. */
  readonly shape: readonly number[];
  /** [NPUs] x0 + d0*(x1 + d1*(x2 ...)) */
  readonly place: Int32Array;
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
  /** Where the NPUs stand in a grid from which some were taken; absent where `shape` says it, or there is none. */
  readonly remnant?: Grid;
  /** Where the figures come from, for people. */
  readonly sources: readonly string[];
  /** The sizes of collectives that the figures were fitted to, where they were measured (`banyan calibrate`). */
  readonly measured?: SizeRange;
}

/** Sizes in bytes, both ends included. */
export interface SizeRange {
  readonly fromBytes: number;
  readonly toBytes: number;
}

export const nodeCount = (topology: Topology): number => topology.nodeNames.length;
export const linkCount = (topology: Topology): number => topology.linkSource.length;
export const switchCount = (topology: Topology): number => topology.nodeNames.length - topology.npuCount;
export const isNpu = (topology: Topology, node: number): boolean => node < topology.npuCount;

/** Returns where the NPUs stand in a grid, or null where the numbering tells of none. O(NPUs). */
export function placesOf({ shape, npuCount, remnant }: Topology): Grid | null {
  if (remnant !== undefined) return remnant;
  return shape.length === 0 ? null : { shape, place: Int32Array.from({ length: npuCount }, (_, npu) => npu) };
}

/** For each node the links that leave it (or enter it): `links[offset[v] .. offset[v + 1]]`, in link order. */
export interface Adjacency {
  /** [nodes + 1] */
  readonly offset: Int32Array;
  /** [links] */
  readonly links: Int32Array;
}

const adjacency = ({ offset, items }: Grouped): Adjacency => ({ offset, links: items });

/** Returns the links that leave each node; not to be written, for it is made once. O(nodes + links). */
export const outLinks = (topology: Topology): Adjacency =>
  adjacency(groupedOnce(topology.linkSource, nodeCount(topology)));

/** Returns the links that enter each node; not to be written, for it is made once. O(nodes + links). */
export const inLinks = (topology: Topology): Adjacency =>
  adjacency(groupedOnce(topology.linkTarget, nodeCount(topology)));

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

/** Returns "a -> b" for two nodes. */
export const pairName = ({ nodeNames }: Topology, from: number, to: number): string =>
  `${nodeNames[from]} -> ${nodeNames[to]}`;

/** Returns the network with every link turned around; link ids, bandwidths and latencies stay. Shares the columns. */
export function reversed(topology: Topology): Topology {
  return { ...topology, linkSource: topology.linkTarget, linkTarget: topology.linkSource };
}

const hashes = new WeakMap<Topology, string>();

/**
 * Returns 16 hexadecimal digits that identify the network: node kinds and order, links, bandwidths and latencies
 * (64-bit FNV-1a over them as little-endian 32-bit halves). Names, sources and what was measured do not count. O(nodes + links), once.
 */
export function topologyHash(topology: Topology): string {
  let hash = hashes.get(topology);
  if (hash === undefined) {
    hash = fnv1a(topology);
    hashes.set(topology, hash);
  }
  return hash;
}

function fnv1a(topology: Topology): string {
  const { linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  let low = 0x84222325 | 0;
  let high = 0xcbf29ce4 | 0;
  const feed = (value: number): void => {
    const word = value | 0;
    for (let shift = 0; shift < 32; shift += 8) {
      low ^= (word >>> shift) & 255;
      // times 2^40 + 0x1b3, modulo 2^64, in 16-bit halves
      const lower = (low & 0xffff) * 0x1b3;
      const upper = (low >>> 16) * 0x1b3 + (lower >>> 16);
      high = (Math.imul(high, 0x1b3) + (upper >>> 16) + (low << 8)) | 0;
      low = (upper << 16) | (lower & 0xffff);
    }
  };
  feed(topology.npuCount);
  feed(nodeCount(topology));
  for (let link = 0; link < linkSource.length; link++) {
    feed(linkSource[link]);
    feed(linkTarget[link]);
    const bandwidth = linkBytesPerSecond[link];
    feed(bandwidth >>> 0);
    feed(bandwidth / 4294967296);
    const latency = linkLatencyPs[link];
    feed(latency >>> 0);
    feed(latency / 4294967296);
  }
  const digits = (half: number): string => (half >>> 0).toString(16).padStart(8, "0");
  return digits(high) + digits(low);
}
