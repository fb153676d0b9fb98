import type { Topology } from "../../../model/topology/topology.ts";
import { baseName } from "../topology-json.ts";
import type { TopologyOptions } from "../topology-options.ts";
import { wireGpuBox } from "./gpu-box-wiring.ts";
import { pcieRate, socketRate } from "./gpu-figures.ts";
import { hostsOf } from "./nvidia-smi-hosts.ts";
import { linksOf } from "./nvidia-smi-links.ts";
import { looksLikeMatrix, readMatrix } from "./nvidia-smi-matrix.ts";

/** Returns true where a text holds the matrix of `nvidia-smi topo -m`, whatever stands around it. */
export const looksLikeNvidiaSmi = (text: string): boolean => looksLikeMatrix(text);

/**
 * Returns the network of a machine by its `nvidia-smi topo -m`. The matrix has no bandwidths and hides NVSwitches: `--gpu`
 * names the GPUs (without it, their NVLinks tell, where they can), `--assume` the rest, and `sources` say what was assumed.
 * PCIe takes part where NVLink does not connect all GPUs; several boxes (`nodes`) meet through the NICs of the matrix.
 * Throws InputError with the line. O(text + devices^2).
 */
export function readNvidiaSmi(text: string, fileName: string, options: TopologyOptions = {}): Topology {
  const matrix = readMatrix(text, fileName);
  const { model, pairs, hubs, notes } = linksOf(matrix, fileName, options);
  const pcie = pcieRate(model, options);
  const socket = socketRate(options);
  const hosts = hostsOf(matrix, pcie.bytesPerSecond, socket.bytesPerSecond);
  return wireGpuBox(
    {
      name: baseName(fileName),
      gpus: matrix.gpus,
      pairs,
      hubs,
      inNetwork: model?.inNetwork ?? false,
      ...hosts,
      machineOf: null,
      sources: [`nvidia-smi topo -m in ${fileName}`, ...notes],
      hostSources: [pcie.note, ...(hosts.hostLinks.length > 0 ? [socket.note] : [])],
    },
    options,
  );
}
