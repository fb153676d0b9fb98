import { InputError } from "../../base/errors.ts";
import { sketchToJson } from "../../export/networks/taccl-sketch.ts";
import { proposedSketches } from "../../model/sketch/sketch-proposals.ts";
import { count } from "../../report/amounts.ts";
import type { Exporter } from "./exporter.ts";

/** "automatic: one relay per NIC, uc-max" as part of a file's name. */
const slug = (name: string): string =>
  name
    .replace(/^automatic: /, "")
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

export const SKETCH_EXPORTER: Exporter = {
  name: "taccl-sketches",
  extension: "",
  folder: true,
  description: "a folder of the sketches that taccl tries on a network, best guess first, for --sketch or to change",
  fromNetwork(world, { topology }, path) {
    const sketches = proposedSketches(topology, "allgather");
    if (sketches.length === 0)
      throw new InputError(
        "the topology",
        "a network of fewer connections, for which sketches can be proposed,",
        topology.name,
      );
    const folder = world.folder(path);
    const files = sketches.map((sketch, i) => ({
      name: `${String(i + 1).padStart(2, "0")}-${slug(sketch.name)}.json`,
      parts: [new TextEncoder().encode(sketchToJson(sketch))],
    }));
    return {
      bytes: folder.write(files),
      what: count(files.length, "sketch", "sketches"),
      facts: { sketches: files.map(({ name }) => name) },
    };
  },
};
