import { ringGraphXml } from "../../export/graph-file.ts";
import { ringDecomposition } from "../../model/ring-decomposition.ts";
import { outputFile } from "../output-file.ts";
import { count } from "../text.ts";
import type { Exporter } from "./exporter.ts";

export const NCCL_GRAPH_EXPORTER: Exporter = {
  name: "nccl-graph",
  description: "rings through a box that share no link, for NCCL_GRAPH_FILE of unmodified NCCL",
  fromNetwork(context, { topology }, path) {
    const output = outputFile(context, path, "-o");
    context.progress({ what: "looking for rings" });
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
