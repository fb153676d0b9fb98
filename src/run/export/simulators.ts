import { InputError } from "../../base/errors.ts";
import { forestCapacity } from "../../export/networks/forest-capacity.ts";
import { ns3Topology, simaiTopology } from "../../export/networks/ns3.ts";
import { teCclTopology } from "../../export/networks/te-ccl.ts";
import { forestTrees } from "../../export/schedules/forest-trees.ts";
import { astraFiles, astraNetwork } from "../../export/simulators/astra.ts";
import { chakraFiles, chakraWorkload, type OutputFile } from "../../export/simulators/chakra.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";
import { isTreeFlow, listedTrees } from "../../model/trees/tree-flow.ts";
import { count } from "../../report/amounts.ts";
import { type Exporter, lacksMessages, type Written } from "./exporter.ts";
import { stepsFor } from "./steps.ts";
import type { World } from "./world.ts";

function writeFolder(world: World, path: string, files: () => Iterable<OutputFile>): Written {
  const folder = world.folder(path);
  let many = 0;
  function* counted(): Generator<{ readonly name: string; readonly parts: readonly Uint8Array[] }> {
    for (const { name, bytes } of files()) {
      many++;
      yield { name, parts: [bytes] };
    }
  }
  const bytes = folder.write(counted());
  return { bytes, what: count(many, "file"), facts: { files: many } };
}

/** A format that writes a network as one text; of a schedule, the network that it is for. */
function networkExporter(
  name: string,
  extension: string,
  description: string,
  text: (topology: Topology) => string,
): Exporter {
  const write = (world: World, topology: Topology, path: string): Written => {
    const bytes = world.file(path).write([text(topology)]);
    return { bytes, what: count(linkCount(topology), "link") };
  };
  return {
    name,
    extension,
    description,
    fromNetwork: (world, { topology }, path) => write(world, topology, path),
    fromSchedule: (world, { schedule }, path) => write(world, schedule.topology, path),
  };
}

export const SIMULATOR_EXPORTERS: readonly Exporter[] = [
  {
    name: "chakra",
    runs: true,
    extension: "",
    folder: true,
    description: "a folder of Chakra execution traces, one for each NPU, and the workload that starts them",
    lacks: lacksMessages,
    fromSchedule(world, subject, path) {
      const steps = stepsFor(subject, "chakra");
      return writeFolder(world, path, function* () {
        yield* chakraFiles(steps, "collective");
        yield* chakraWorkload(steps, "workload");
      });
    },
  },
  {
    name: "astra-sim",
    runs: true,
    extension: "",
    folder: true,
    description: "a folder of all that ASTRA-sim needs to run a schedule: traces, network, system, memory, command",
    lacks: lacksMessages,
    fromSchedule: (world, subject, path) =>
      writeFolder(world, path, () => astraFiles(stepsFor(subject, "astra-sim"), "collective")),
  },
  networkExporter(
    "astra-network",
    ".yml",
    "a network for ASTRA-sim's analytical back ends: rings, full meshes, switches",
    astraNetwork,
  ),
  networkExporter("ns3", ".txt", "a network for ASTRA-sim's ns-3 back end", ns3Topology),
  networkExporter("simai", ".txt", "a network for SimAI", (topology) => simaiTopology(topology)),
  networkExporter("te-ccl", ".json", "a network as TE-CCL's matrices", teCclTopology),
  networkExporter("forestcoll-json", ".json", "a network as ForestColl's graph of capacities", forestCapacity),
  {
    name: "forestcoll-xml",
    runs: true,
    extension: ".xml",
    description: "trees as ForestColl's XML",
    lacks: (schedule) => (isTreeFlow(schedule) ? null : "trees"),
    fromSchedule(world, { schedule }, path) {
      if (!isTreeFlow(schedule))
        throw new InputError("--to forestcoll-xml", "trees (--algorithm forestcoll)", "a schedule of transfers");
      const bytes = world.file(path).write(forestTrees(schedule));
      return { bytes, what: count(listedTrees(schedule), "tree") };
    },
  },
];
