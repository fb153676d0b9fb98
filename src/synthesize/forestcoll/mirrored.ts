import { oppositeLinks } from "../../model/topology/opposite-links.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { Forest } from "../../model/trees/tree-flow.ts";

/**
 * Returns the trees of the reversed network that a forest gives when all its links are turned around; null where some usable
 * link has no opposite one. `usable` [links]: bytes per second. O(links log links + links of all edges).
 */
export function mirroredForest(topology: Topology, usable: Float64Array, forest: Forest): Forest | null {
  const opposite = oppositeLinks(topology.linkSource, topology.linkTarget, [usable, topology.linkLatencyPs]);
  if (opposite === null) return null;
  return {
    ...forest,
    direction: forest.direction === "out" ? "in" : "out",
    links: forest.links.map((link) => opposite[link]),
  };
}
