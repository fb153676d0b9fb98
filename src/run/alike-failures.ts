import { type Collective, hasRoot } from "../model/collective/collective.ts";
import { generatorMaps, orbitsOf } from "../model/symmetry/network-maps.ts";
import { networkSymmetry } from "../model/symmetry/network-symmetry.ts";
import type { Target } from "../model/topology/modify.ts";
import { linkCount, nodeCount, type Topology } from "../model/topology/topology.ts";

/**
 * Returns what tells failures apart: a key that two have where a symmetry of the network takes one to the other, so that what is left
 * is the same network; null for what nothing is known of: where several fail together, the network has no symmetry, or the
 * collective is not among all NPUs alike. O(generators * (nodes + links)).
 */
export function alikeFailures(
  topology: Topology,
  { kind, groupCount, groupSize }: Collective,
): (failed: readonly Target[]) => string | null {
  const isAmongAll = kind !== "custom" && !hasRoot(kind) && groupCount === 1 && groupSize === topology.npuCount;
  const symmetry = isAmongAll ? networkSymmetry(topology) : null;
  if (symmetry === null) return () => null;
  const maps = generatorMaps(topology, symmetry);
  const nodeMaps = maps.map(({ node }) => node);
  const linkMaps = maps.map(({ link }) => link);
  const nodes = orbitsOf(nodeCount(topology), nodeMaps).of;
  const links = orbitsOf(linkCount(topology), linkMaps).of;
  return ([first, ...others]) => {
    if (first === undefined || others.length > 0 || first.nodes.length > 1) return null;
    const [node] = first.nodes;
    if (node !== undefined) return `node ${nodes[node]}`;
    // both ways of a cable; parallel links as wide and as long stand for each other
    const orbits = first.links.map((link) => links[link] as number).sort((a, b) => a - b);
    return `links ${orbits.join()}`;
  };
}
