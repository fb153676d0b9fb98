import { InputError, inWords } from "../../base/errors.ts";
import type { NetworkMap } from "../symmetry/network-maps.ts";
import { survivorsOf, type Target } from "../topology/modify.ts";
import { linkCount, nodeCount, type Topology } from "../topology/topology.ts";

/**
 * Returns what a map of a whole network, which takes one failure onto another, does to what is left: nodes and links as `without` numbers
 * them. Throws InputError where it takes something that is left to something that failed. O(nodes + links).
 */
export function mapOfParts(
  whole: Topology,
  { node, link }: NetworkMap,
  from: readonly Target[],
  to: readonly Target[],
): NetworkMap {
  const [here, there] = [survivorsOf(whole, from), survivorsOf(whole, to)];
  return {
    node: partOf(node, here.nodes, there.nodes),
    link: partOf(link, here.links, there.links),
  };
}

function partOf(map: Int32Array, here: readonly number[], there: readonly number[]): Int32Array {
  const position = new Int32Array(map.length).fill(-1);
  there.forEach((item, at) => {
    position[item] = at;
  });
  const part = Int32Array.from(here, (item) => position[map[item]] as number);
  if (here.length !== there.length || part.includes(-1))
    throw new InputError("a map of a network", "one that takes one failure onto the other", inWords("another one"));
  return part;
}

/** Returns whether items go to different items below `count`, all of them. */
function isOneToOne(map: Int32Array, count: number): boolean {
  const seen = new Uint8Array(count);
  for (const image of map) {
    if (!(image >= 0 && image < count) || seen[image] === 1) return false;
    seen[image] = 1;
  }
  return map.length === count;
}

/** Returns what is wrong with a map from one network to another, a phrase; null where it is one. O(nodes + links). */
function faultOf(from: Topology, to: Topology, { node, link }: NetworkMap): string | null {
  if (nodeCount(from) !== node.length || !isOneToOne(node, nodeCount(to))) return "nodes that do not go one to one";
  if (linkCount(from) !== link.length || !isOneToOne(link, linkCount(to))) return "links that do not go one to one";
  for (let v = 0; v < node.length; v++) {
    if (v < from.npuCount !== node[v] < to.npuCount) return "an NPU that goes to a switch, or a switch to an NPU";
    const [here, there] = [from.nodeTraits[v] ?? {}, to.nodeTraits[node[v]] ?? {}];
    if (here.multicast !== there.multicast || here.aggregation !== there.aggregation)
      return "a switch that sums or duplicates and one that does not";
  }
  for (let e = 0; e < link.length; e++) {
    const f = link[e];
    if (to.linkSource[f] !== node[from.linkSource[e]] || to.linkTarget[f] !== node[from.linkTarget[e]])
      return "a link that does not go where its ends go";
    if (to.linkBytesPerSecond[f] !== from.linkBytesPerSecond[e] || to.linkLatencyPs[f] !== from.linkLatencyPs[e])
      return "links that go to links of other figures";
  }
  return null;
}

/** Throws InputError for what is no map that takes one network to another: nodes and links one to one, of the same figures. O(nodes + links). */
export function demandMap(from: Topology, to: Topology, map: NetworkMap): void {
  const fault = faultOf(from, to, map);
  if (fault !== null)
    throw new InputError(
      `a map from ${from.name} to ${to.name}`,
      "one that takes a network to the other",
      inWords(fault),
    );
}
