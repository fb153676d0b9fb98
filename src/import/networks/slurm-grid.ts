import { InputError } from "../../base/errors.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { topologyBuilder } from "../../model/topology/topology-builder.ts";
import type { ClusterFigures } from "./slurm-network.ts";

/** Hosts on a ring or torus, first dimension fastest. */
export interface ListedGrid {
  readonly name: string;
  readonly sizes: readonly number[];
  readonly nodes: readonly string[];
  /** Where it stands in the file. */
  readonly place: string;
}

/**
 * Returns the network of rings or tori of hosts, an NPU for each host, a link each way between neighbours at the rate of a
 * host's port; grids are not joined. Throws InputError for a repeated host or a number of hosts that is not the product of
 * the sizes. O(hosts).
 */
export function gridNetwork(
  name: string,
  grids: readonly ListedGrid[],
  figures: ClusterFigures,
  sources: readonly string[],
): Topology {
  const builder = topologyBuilder(name);
  for (const { nodes, sizes, name: group, place } of grids) {
    const product = sizes.reduce((count, size) => count * size, 1);
    if (product !== nodes.length) throw new InputError(place, `${product} hosts`, `${nodes.length}`);
    const first = nodes.map((node) => {
      if (builder.indexOf(node) !== undefined) throw new InputError(place, "every host once", node);
      return builder.addNpu(node, { group });
    })[0] as number;
    let stride = 1;
    for (const size of sizes) {
      for (let host = 0; size > 1 && host < product; host++) {
        const x = Math.floor(host / stride) % size;
        if (size === 2 && x === 1) continue;
        const next = host + (((x + 1) % size) - x) * stride;
        builder.addDuplex(first + host, first + next, figures.leaf, figures.latencyPs);
      }
      stride *= size;
    }
  }
  return builder.build({ shape: grids.length === 1 ? grids[0].sizes : [], sources });
}
