import { nodeCount, type Topology } from "../../src/model/topology/topology.ts";
import type { NetworkSymmetry } from "../../src/model/trees/tree-flow.ts";

/** Returns where each element of a group takes each node; element 0 is the identity. O(order * nodes). */
export function elementsOf(topology: Topology, { sizes, steps }: NetworkSymmetry): number[][] {
  let elements = [[...Array(nodeCount(topology)).keys()]];
  sizes.forEach((size, d) => {
    const all: number[][] = [];
    for (const element of elements) {
      let power = element;
      for (let i = 0; i < size; i++) {
        all.push(power);
        power = power.map((v) => (steps[d] as Int32Array)[v] as number);
      }
    }
    elements = all;
  });
  return elements;
}

/** Returns the network's links as sorted text, its nodes renamed by a map. */
export function linksAsText(topology: Topology, map: ArrayLike<number>): string[] {
  const { linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  return Array.from(
    linkSource,
    (source, link) =>
      `${map[source]} ${map[linkTarget[link] as number]} ${linkBytesPerSecond[link]} ${linkLatencyPs[link]}`,
  ).sort();
}
