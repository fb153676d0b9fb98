import { formatBandwidth } from "../../../model/numbers/units.ts";
import {
  boardOf,
  CUBE_MESH_PAIRS,
  type GpuBoard,
  type GpuModel,
  gpuModel,
  pcieBytesPerSecond,
} from "../../../model/topology/gpu-models.ts";
import type { TopologyBuilder } from "../../../model/topology/topology-builder.ts";
import type { TopologyOptions } from "../topology-options.ts";
import type { FabricNode } from "./ibnetdiscover-text.ts";

/** A host adapter with the names of its host and of itself. */
export interface Adapter {
  readonly id: string;
  readonly name: string;
  /** Null where the file does not tell which host it is in. */
  readonly host: string | null;
}

/** PCIe of a host whose GPUs are not named. */
const USUAL_PCIE = 5;
const natural = new Intl.Collator("en", { numeric: true });
const inOrder = (a: string, b: string): number => natural.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);

/**
 * Returns the adapters in the order of their hosts and names (numbers by value), those of unknown hosts last. A description
 * of two words is a host and an adapter (`dgx-01 mlx5_3`); where two adapters of a host have one name, hosts share the
 * host's name, and none of its adapters is said to be in a host. O(n log n).
 */
export function adaptersInOrder(nodes: readonly FabricNode[]): Adapter[] {
  const words = nodes.map(({ description }) => /^(\S+)\s+(\S+)$/.exec(description));
  const uses = new Map<string, number>();
  for (const match of words) if (match !== null) uses.set(match[0], (uses.get(match[0]) ?? 0) + 1);
  const shared = new Set(words.flatMap((match) => (match !== null && uses.get(match[0]) !== 1 ? [match[1]] : [])));
  const adapters = nodes.map(({ id }, i): Adapter => {
    const [, host, device] = words[i] ?? [];
    if (host === undefined) return { id, name: id, host: null };
    return shared.has(host)
      ? { id, name: `${host}/${device}@${id}`, host: null }
      : { id, name: `${host}/${device}`, host };
  });
  return adapters.sort((a, b) => {
    if (a.host === null || b.host === null)
      return a.host === b.host ? inOrder(a.name, b.name) : a.host === null ? 1 : -1;
    return inOrder(a.host, b.host) || inOrder(a.name, b.name);
  });
}

/**
 * Joins the NPUs of each host that has several: as GPUs of the options' model are joined where such a board is known
 * (an NVSwitch, a mesh), else by a switch `host` at the rate of PCIe. Returns the notes for `sources`.
 */
export function joinHosts(
  builder: TopologyBuilder,
  hosts: ReadonlyMap<string, readonly number[]>,
  options: TopologyOptions,
  latencyPs: number,
): string[] {
  const model = options.gpu === undefined ? null : gpuModel(options.gpu);
  const notes = new Set<string>();
  for (const [host, npus] of hosts)
    if (npus.length > 1) notes.add(joinHost(builder, host, npus, model, options, latencyPs));
  return [...notes];
}

function joinHost(
  builder: TopologyBuilder,
  host: string,
  npus: readonly number[],
  model: GpuModel | null,
  options: TopologyOptions,
  latencyPs: number,
): string {
  const board = model === null ? null : boardIn(model, npus.length);
  const { nvlink, xgmi, pcie } = options.bandwidth ?? {};
  if (model !== null && board !== null) {
    const link = (model.link === "xgmi" ? xgmi : nvlink) ?? model.linkBytesPerSecond;
    if (board.wiring === "switch") {
      const able = model.inNetwork ? { multicast: true, aggregation: true } : {};
      const hub = builder.addSwitch(`${host}/nvsw`, { group: host, ...able });
      for (const npu of npus) builder.addDuplex(npu, hub, model.links * link, latencyPs);
      return `GPUs of a host on one NVSwitch, ${formatBandwidth(model.links * link)} each (${model.name})`;
    }
    for (const [a, b, links] of pairsOf(npus.length, board.wiring, board.linksPerPair ?? 1)) {
      builder.addDuplex(npus[a], npus[b], links * link, latencyPs);
    }
    return `${npus.length} GPUs of a host joined as a ${board.wiring} of ${model.name}, ${formatBandwidth(link)} a link`;
  }
  const rate = pcie ?? pcieBytesPerSecond(model?.pcie ?? USUAL_PCIE);
  const hub = builder.addSwitch(`${host}/pcie`, { group: host });
  for (const npu of npus) builder.addDuplex(npu, hub, rate, latencyPs);
  return `NPUs of a host meet at a switch, ${formatBandwidth(rate)} each, as over PCIe (${pcie === undefined ? "assumed" : "as given"})`;
}

/** Returns the wiring of a host: an NVSwitch where the model has boards of any size with one, for adapters may be missing. */
const boardIn = (model: GpuModel, npus: number): GpuBoard | null =>
  model.boards.find(({ gpus, wiring }) => gpus === "any" && wiring === "switch") ?? boardOf(model, npus);

function* pairsOf(
  gpus: number,
  wiring: "mesh" | "cube-mesh",
  links: number,
): Generator<readonly [number, number, number]> {
  if (wiring === "cube-mesh") yield* CUBE_MESH_PAIRS;
  else for (let a = 0; a < gpus; a++) for (let b = a + 1; b < gpus; b++) yield [a, b, links];
}
