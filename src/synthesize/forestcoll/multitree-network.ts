import { type Grouped, groupedBy } from "../../model/graph/graph.ts";
import type { PackingNetwork } from "./packing-network.ts";

/** Returns the bandwidth of the slowest link, and how many times each link has it, rounded down. */
export function commonUnits(bandwidth: Float64Array): { readonly unit: number; readonly units: Float64Array } {
  const unit = bandwidth.reduce((least, b) => Math.min(least, b), Number.POSITIVE_INFINITY);
  return { unit, units: bandwidth.map((b) => Math.floor(b / unit)) };
}

/**
 * Returns the most links on a shortest path between two NPUs through nodes that only forward, over all pairs that have one; at
 * least 1. O(NPUs x links of nodes that only forward).
 */
export function longestHop({ nodeCount, npuCount, linkSource, linkTarget }: PackingNetwork): number {
  const { offset, items } = groupedBy(linkSource, nodeCount);
  const seen = new Int32Array(nodeCount).fill(-1);
  const depth = new Int32Array(nodeCount);
  const queue = new Int32Array(nodeCount);
  let longest = 1;
  for (let start = 0; start < npuCount; start++) {
    let queued = 0;
    const visit = (v: number, links: number): void => {
      if (seen[v] === start) return;
      seen[v] = start;
      depth[v] = links;
      if (v >= npuCount || links === 0) queue[queued++] = v;
      else if (links > longest) longest = links;
    };
    visit(start, 0);
    for (let i = 0; i < queued; i++) {
      const v = queue[i];
      for (let k = offset[v]; k < offset[v + 1]; k++) visit(linkTarget[items[k]], depth[v] + 1);
    }
  }
  return longest;
}

/** What a tree tries: paths of so many links whose first link is of one group. */
export interface Hop {
  readonly length: number;
  readonly group: number;
}

export interface FirstHops {
  /** Links of NPUs of one bandwidth, either to NPUs or to nodes that only forward. */
  readonly groups: readonly Grouped[];
  readonly hops: readonly Hop[];
}

/** Returns the hops of up to `longest` links, short ones first, then those that begin fast. O(links) for each bandwidth. */
export function firstHops(network: PackingNetwork, longest: number): FirstHops {
  const { npuCount, linkTarget, linkSource, bandwidth } = network;
  const ofBandwidth = (wanted: number, toNpus: boolean): Grouped =>
    leaving(network, (e) => bandwidth[e] === wanted && linkSource[e] < npuCount && linkTarget[e] < npuCount === toNpus);
  const widths = [...new Set(bandwidth)].sort((a, b) => b - a);
  const some = ({ items }: Grouped): boolean => items.length > 0;
  const direct = widths.map((width) => ofBandwidth(width, true)).filter(some);
  const onward = widths.map((width) => ofBandwidth(width, false)).filter(some);
  const hops: Hop[] = direct.map((_, group) => ({ length: 1, group }));
  for (let length = 2; length <= longest; length++) {
    hops.push(...onward.map((_, i) => ({ length, group: direct.length + i })));
  }
  return { groups: [...direct, ...onward], hops };
}

/** Returns the wanted ones of the links that leave each node, in link order. O(links). */
export function leaving({ nodeCount, linkSource }: PackingNetwork, wanted: (link: number) => boolean): Grouped {
  const kept = Int32Array.from(linkSource.keys()).filter(wanted);
  const { offset, items } = groupedBy(
    kept.map((link) => linkSource[link]),
    nodeCount,
  );
  return { offset, items: items.map((i) => kept[i]) };
}

/** Returns the links that enter each NPU from a node that only forwards. O(links). */
export function entering({ npuCount, linkSource, linkTarget }: PackingNetwork): Grouped {
  const kept = Int32Array.from(linkSource.keys()).filter((e) => linkSource[e] >= npuCount && linkTarget[e] < npuCount);
  const { offset, items } = groupedBy(
    kept.map((link) => linkTarget[link]),
    npuCount,
  );
  return { offset, items: items.map((i) => kept[i]) };
}
