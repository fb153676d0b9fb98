import { composed } from "../../src/model/numbers/ordering.ts";
import { generatorMaps, type NetworkMap } from "../../src/model/symmetry/network-maps.ts";
import { linkCount, nodeCount, type Topology } from "../../src/model/topology/topology.ts";
import type { NetworkSymmetry } from "../../src/model/trees/tree-flow.ts";

/** Yields what each element of the group does, the identity first, the first dimension fastest. O(nodes + links) each. */
export function* groupElements(topology: Topology, symmetry: NetworkSymmetry): Generator<NetworkMap> {
  const generators = generatorMaps(topology, symmetry);
  const identity = (length: number): Int32Array => Int32Array.from({ length }, (_, i) => i);
  let element: NetworkMap = { node: identity(nodeCount(topology)), link: identity(linkCount(topology)) };
  const power = new Int32Array(generators.length);
  /** [dimensions] the element with the powers of this dimension and those above it, and none of those below. */
  const above = generators.map(() => element);
  for (;;) {
    yield element;
    let d = 0;
    while (d < power.length && power[d] === symmetry.sizes[d] - 1) power[d++] = 0;
    if (d === power.length) return;
    power[d]++;
    const { node, link } = generators[d];
    element = { node: composed(node, above[d].node), link: composed(link, above[d].link) };
    above.fill(element, 0, d + 1);
  }
}
