import type { NetworkView } from "../protocol.ts";
import { groupBy } from "./columns.ts";

/** What is looked up in a network again and again. */
interface NetworkIndex {
  /** Wires of each node, CSR [nodes + 1]. */
  readonly wireOffset: Int32Array;
  readonly wiresOfNode: Int32Array;
  /** Links of each wire, CSR [wires + 1], ascending. */
  readonly linkOffset: Int32Array;
  readonly linksOfWire: Int32Array;
  readonly nodeOf: ReadonlyMap<string, number>;
}

const known = new WeakMap<NetworkView, NetworkIndex>();

/** Returns the index of a network, made at the first call. O(nodes + links) then, O(1) later. */
export function networkIndex(network: NetworkView): NetworkIndex {
  const found = known.get(network) ?? indexOf(network);
  known.set(network, found);
  return found;
}

function indexOf({ nodeNames, wires }: NetworkView): NetworkIndex {
  const ends = new Int32Array(2 * wires.a.length);
  const both = new Int32Array(ends.length);
  for (let wire = 0; wire < wires.a.length; wire++) {
    ends[2 * wire] = wires.a[wire];
    ends[2 * wire + 1] = wires.b[wire];
    both[2 * wire] = both[2 * wire + 1] = wire;
  }
  const ofNode = groupBy(ends, nodeNames.length);
  const ofWire = groupBy(wires.ofLink, wires.a.length);
  return {
    wireOffset: ofNode.offset,
    wiresOfNode: ofNode.items.map((i) => both[i]),
    linkOffset: ofWire.offset,
    linksOfWire: ofWire.items,
    nodeOf: new Map(nodeNames.map((name, node) => [name, node])),
  };
}

/** Returns the wires of a node. */
export function wiresAt(network: NetworkView, node: number): Int32Array {
  const { wireOffset, wiresOfNode } = networkIndex(network);
  return wiresOfNode.subarray(wireOffset[node], wireOffset[node + 1]);
}

/** Returns the links of a wire. */
export function linksAt(network: NetworkView, wire: number): Int32Array {
  const { linkOffset, linksOfWire } = networkIndex(network);
  return linksOfWire.subarray(linkOffset[wire], linkOffset[wire + 1]);
}

/** Returns the wire between two nodes; -1 where there is none. O(degree). */
export function wireBetween(network: NetworkView, one: number, other: number): number {
  const { a, b } = network.wires;
  return wiresAt(network, one).find((wire) => (a[wire] === one ? b[wire] : a[wire]) === other) ?? -1;
}
