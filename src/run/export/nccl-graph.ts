import { ringGraphXml } from "../../export/networks/graph-file.ts";
import { ringDecomposition } from "../../model/routes/ring-decomposition.ts";
import { count } from "../../report/amounts.ts";
import type { Exporter } from "./exporter.ts";

export const NCCL_GRAPH_EXPORTER: Exporter = {
  name: "nccl-graph",
  extension: ".xml",
  description: "rings through a box that share no link, for NCCL_GRAPH_FILE of unmodified NCCL",
  fromNetwork(world, { topology }, path) {
    const output = world.file(path);
    world.progress({ what: "looking for rings" });
    const found = ringDecomposition(topology);
    const rings = found.rings.length;
    return {
      bytes: output.write([ringGraphXml(topology, found)]),
      what:
        rings === found.bound
          ? `${count(rings, "ring")}, the most there can be`
          : `${count(rings, "ring")} of at most ${found.bound}`,
      facts: { rings, bound: found.bound },
    };
  },
};
