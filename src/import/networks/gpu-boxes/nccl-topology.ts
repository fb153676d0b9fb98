import { InputError } from "../../../base/errors.ts";
import type { Topology } from "../../../model/topology/topology.ts";
import { readXml, xmlPlace } from "../../text/xml.ts";
import { baseName } from "../topology-json.ts";
import type { TopologyOptions } from "../topology-options.ts";
import type { GpuHost } from "./gpu-box.ts";
import { wireGpuBox } from "./gpu-box-wiring.ts";
import { givenModel } from "./gpu-figures.ts";
import { devicesOf, type GpuElement } from "./nccl-topology-devices.ts";
import { boardLinks, listedLinks, type XmlLinks } from "./nccl-topology-links.ts";

/** Many times what machines of thousands of GPUs take. */
const LIMITS = { characters: 64e6, elements: 5e5, depth: 64 };

/** Returns true where an XML text's first element is <system>: a topology of NCCL or RCCL. O(text before it). */
export function looksLikeNcclTopology(text: string): boolean {
  let at = text.startsWith("\ufeff") ? 1 : 0;
  for (;;) {
    while (/\s/.test(text.charAt(at))) at++;
    const end = text.startsWith("<!--", at) ? "-->" : text.startsWith("<?", at) ? "?>" : null;
    if (end === null) return /^<system[\s/>]/.test(text.slice(at, at + 8));
    const stop = text.indexOf(end, at + 2);
    if (stop < 0) return false;
    at = stop + end.length;
  }
}

/**
 * Returns the network of a NCCL or RCCL topology file (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE; version 1 and 2). GPUs are
 * numbered by rank, else by dev, else by bus id. NVLinks and xGMI have the maker's bandwidths, PCIe and sockets those that
 * NCCL counts, NICs those of the file. Files of clouds list no NVLinks: `--gpu` says which board it is (`none`: PCIe alone).
 * PCIe takes part where direct links do not connect all GPUs; several boxes (`nodes`) meet through the file's NICs.
 * Throws InputError with the line. O(text + CPUs^2 of a host).
 */
export function readNcclTopology(text: string, fileName: string, options: TopologyOptions = {}): Topology {
  const system = readXml(text, fileName, LIMITS);
  if (system.name !== "system") throw new InputError(xmlPlace(fileName, system), "<system>", `<${system.name}>`);
  const devices = devicesOf(system, fileName, options);
  const gpus = inOrder(devices.gpus);
  const model = givenModel(options);
  const listed = gpus[0].gpu !== null;
  const links: XmlLinks =
    model === "none"
      ? { pairs: [], hubs: [], toCpu: [], inNetwork: false, notes: ["PCIe alone, as --gpu none says"] }
      : (listed ? listedLinks : boardLinks)(gpus, model, fileName, options);
  const overPcie = gpus.map(({ host, bytesPerSecond }, gpu): GpuHost => ({ gpu, host, bytesPerSecond, kind: "pcie" }));
  const version = system.attributes.get("version");
  return wireGpuBox(
    {
      name: baseName(fileName),
      gpus: gpus.length,
      pairs: links.pairs,
      hubs: links.hubs,
      inNetwork: links.inNetwork,
      hosts: devices.hosts,
      hostLinks: devices.hostLinks,
      gpuHosts: [...overPcie, ...links.toCpu],
      nics: devices.nics,
      machineOf: devices.machines > 1 ? Int32Array.from(gpus, ({ machine }) => machine) : null,
      sources: [`NCCL topology${version === undefined ? "" : ` version ${version}`} in ${fileName}`, ...links.notes],
      hostSources: devices.notes,
    },
    options,
  );
}

/** Returns the GPUs by rank where all have one of their own, else by dev, else by machine and bus id. */
function inOrder(gpus: readonly GpuElement[]): GpuElement[] {
  for (const key of ["rank", "dev"]) {
    const numbers = gpus.map(({ gpu }) => Number(gpu?.attributes.get(key) || Number.NaN));
    if (!numbers.every((value) => Number.isInteger(value) && value >= 0)) continue;
    if (new Set(numbers).size < gpus.length) continue;
    const order = [...gpus.keys()].sort((a, b) => numbers[a] - numbers[b]);
    return order.map((g) => gpus[g]);
  }
  const text = ({ busid }: GpuElement): string => busid;
  return [...gpus].sort((a, b) => a.machine - b.machine || (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0));
}
