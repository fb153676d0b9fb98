import { linkCount, nodeCount, type Topology } from "../../model/topology/topology.ts";
import { type Wire, wiresOf } from "../../picture/scene/wires.ts";

/** A network's wires, and the wire that each link is part of. */
export interface LinkWires {
  readonly wires: readonly Wire[];
  /** [links] */
  readonly ofLink: Int32Array;
}

const known = new WeakMap<Topology, LinkWires>();

/** Returns the wires of a network in the order in which all views number them. O(nodes + links), once for each network. */
export function linkWires(topology: Topology): LinkWires {
  const before = known.get(topology);
  if (before !== undefined) return before;
  const { linkSource, linkTarget } = topology;
  const nodes = nodeCount(topology);
  const wires = wiresOf(topology);
  const wireOf = new Map(wires.map(({ a, b }, wire) => [a * nodes + b, wire]));
  const ofLink = new Int32Array(linkCount(topology));
  for (let link = 0; link < ofLink.length; link++) {
    const [from, to] = [linkSource[link], linkTarget[link]];
    ofLink[link] = wireOf.get(from < to ? from * nodes + to : to * nodes + from) as number;
  }
  const found = { wires, ofLink };
  known.set(topology, found);
  return found;
}
