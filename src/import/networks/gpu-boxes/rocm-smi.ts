import { InputError } from "../../../base/errors.ts";
import { boardOf, type GpuModel } from "../../../model/topology/gpu-models.ts";
import type { Topology } from "../../../model/topology/topology.ts";
import { baseName } from "../topology-json.ts";
import type { TopologyOptions } from "../topology-options.ts";
import type { DirectPair, GpuHost, HostLink, HostNode } from "./gpu-box.ts";
import { wireGpuBox } from "./gpu-box-wiring.ts";
import { counted, directRate, givenModel, pcieRate, socketRate } from "./gpu-figures.ts";
import { looksLikeRocmTables, type RocmTables, readRocmTables } from "./rocm-smi-tables.ts";

/** A hop over xGMI weighs 15, so a way of two weighs 30 (KFD's io links). */
const TWO_HOPS = 30;

/** Returns true where a text holds what `rocm-smi --showtopo` prints. */
export const looksLikeRocmSmi = (text: string): boolean => looksLikeRocmTables(text);

/**
 * Returns the network of a machine by its `rocm-smi --showtopo`. Pairs of type XGMI with a weight below 30 are joined by
 * direct links; the hops are not used, for they are 1 for any xGMI pair. The number of links of a pair and all bandwidths
 * are absent: `--gpu` names the GPUs, `--assume` the rest, and `sources` say what was assumed. GPUs that xGMI does not
 * connect meet over PCIe and the CPUs of their NUMA nodes. Throws InputError with the line. O(text + GPUs^2).
 */
export function readRocmSmi(text: string, fileName: string, options: TopologyOptions = {}): Topology {
  const tables = readRocmTables(text, fileName);
  const given = givenModel(options);
  const model = given === "none" ? null : given;
  const { pairs, notes } = given === "none" ? { pairs: [], notes: [] } : pairsOf(tables, model, fileName, options);
  const pcie = pcieRate(model, options);
  const socket = socketRate(options);
  const { hosts, hostLinks, gpuHosts } = hostsOf(tables, pcie.bytesPerSecond, socket.bytesPerSecond);
  return wireGpuBox(
    {
      name: baseName(fileName),
      gpus: tables.gpus,
      pairs,
      hubs: [],
      inNetwork: false,
      hosts,
      hostLinks,
      gpuHosts,
      nics: [],
      machineOf: null,
      sources: [`rocm-smi --showtopo in ${fileName}`, ...notes],
      hostSources: [pcie.note, ...(hostLinks.length > 0 ? [socket.note] : [])],
    },
    options,
  );
}

function pairsOf(
  { gpus, weight, isXgmi }: RocmTables,
  model: GpuModel | null,
  fileName: string,
  options: TopologyOptions,
): { readonly pairs: readonly DirectPair[]; readonly notes: readonly string[] } {
  const joined: (readonly [number, number])[] = [];
  let indirect = 0;
  for (let a = 0; a < gpus; a++) {
    for (let b = a + 1; b < gpus; b++) {
      if (!isXgmi(a, b)) continue;
      if (weight(a, b) < TWO_HOPS) joined.push([a, b]);
      else indirect++;
    }
  }
  if (joined.length === 0) return { pairs: [], notes: [] };
  const rate = directRate(model, "xgmi", options);
  if (rate === null) {
    if (model !== null) throw new InputError("--gpu", `a GPU with xGMI, as ${fileName} shows some,`, model.name);
    throw new InputError(`the GPUs of ${fileName}`, "their model by --gpu, such as mi300x, mi250 or mi100,");
  }
  const board = model === null ? null : boardOf(model, gpus);
  const complete = joined.length === (gpus * (gpus - 1)) / 2;
  const each = (complete ? board?.linksPerPair : undefined) ?? 1;
  const why = each > 1 ? `${each} links a pair, as boards of ${gpus} ${model?.name} have` : "1 link a pair";
  const notes = [rate.note, `${why}: rocm-smi does not tell their number, topologies that RCCL dumps do`];
  if (indirect > 0)
    notes.push(`${counted(indirect, "pair")} of a weight of ${TWO_HOPS} or more, without a link of their own`);
  const bytesPerSecond = each * rate.bytesPerSecond;
  return { pairs: joined.map(([a, b]) => ({ a, b, bytesPerSecond, kind: "xgmi" })), notes };
}

/** Returns a CPU for each NUMA node (all on one where none is told), joined pairwise. */
function hostsOf(
  { gpus, numa }: RocmTables,
  pcie: number,
  socket: number,
): { readonly hosts: HostNode[]; readonly hostLinks: HostLink[]; readonly gpuHosts: GpuHost[] } {
  const hosts: HostNode[] = [];
  const cpus = new Map<number, number>();
  const gpuHosts = Array.from({ length: gpus }, (_, gpu): GpuHost => {
    const node = Math.max(0, numa[gpu]);
    const host = cpus.get(node) ?? hosts.push({ name: `cpu${node}`, parent: -1, bytesPerSecond: pcie }) - 1;
    cpus.set(node, host);
    return { gpu, host, bytesPerSecond: pcie, kind: "pcie" };
  });
  const hostLinks: HostLink[] = [];
  for (let a = 0; a < hosts.length; a++) {
    for (let b = a + 1; b < hosts.length; b++) hostLinks.push({ a, b, bytesPerSecond: socket });
  }
  return { hosts, hostLinks, gpuHosts };
}
