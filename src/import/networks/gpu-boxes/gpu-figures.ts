import { InputError } from "../../../base/errors.ts";
import { formatBandwidth, formatTime, PS_PER_US } from "../../../model/numbers/units.ts";
import { type GpuModel, gpuModel, pcieBytesPerSecond } from "../../../model/topology/gpu-models.ts";
import type { TopologyOptions } from "../topology-options.ts";

/** A figure with the sentence that says where it comes from. */
export interface Figure {
  readonly bytesPerSecond: number;
  readonly note: string;
}

/** Links of a box of GPUs by what they are, for their latencies. */
export type BoxLink = "nvlink" | "nvswitch" | "xgmi" | "pcie" | "socket" | "nic";

/** Model figures, not measured: as those of the presets, PCIe and sockets per link of a way of two to five. */
const LATENCY_US: Readonly<Record<BoxLink, number>> = {
  nvlink: 0.7,
  nvswitch: 0.5,
  xgmi: 1,
  pcie: 0.5,
  socket: 0.5,
  nic: 2.5,
};

/** What NCCL counts between AMD CPUs; between others 6 to 40 GB/s. */
const SOCKET_BYTES_PER_SECOND = 16e9;
const USUAL_PCIE = 4;

/** Returns the model that `--gpu` names; "none" for PCIe alone, null where the option is absent. Throws InputError. */
export function givenModel({ gpu }: TopologyOptions): GpuModel | "none" | null {
  if (gpu === undefined) return null;
  return gpu.trim().toLowerCase() === "none" ? "none" : gpuModel(gpu);
}

const assumed = (kind: string, bytesPerSecond: number): string =>
  `${kind} at ${formatBandwidth(bytesPerSecond)}, as --assume says`;

/** Returns the rate of one NVLink or xGMI link: what --assume says, else the model's. */
export function directRate(model: GpuModel | null, kind: "nvlink" | "xgmi", options: TopologyOptions): Figure | null {
  const word = kind === "nvlink" ? "NVLink" : "xGMI link";
  const given = options.bandwidth?.[kind];
  if (given !== undefined) return { bytesPerSecond: given, note: assumed(`each ${word}`, given) };
  if (model === null || model.link !== kind) return null;
  const { linkBytesPerSecond, countedBytesPerSecond, name } = model;
  const library = kind === "nvlink" ? "NCCL" : "RCCL";
  const counted = formatBandwidth(countedBytesPerSecond);
  return {
    bytesPerSecond: linkBytesPerSecond,
    note:
      `each ${word} at the maker's ${formatBandwidth(linkBytesPerSecond)} of ${name}, each way ` +
      `(${library} counts ${counted}: --assume ${kind}=${counted.replace(" ", "")})`,
  };
}

/** Returns the rate of 16 lanes of PCIe where the file does not tell: what --assume says, else by the model, else 4.0. */
export function pcieRate(model: GpuModel | null, options: TopologyOptions): Figure {
  const given = options.bandwidth?.pcie;
  if (given !== undefined) return { bytesPerSecond: given, note: assumed("PCIe", given) };
  const generation = model?.pcie ?? USUAL_PCIE;
  const bytesPerSecond = pcieBytesPerSecond(generation);
  const why = model === null ? "assumed" : `of ${model.name}`;
  const note = `PCIe ${generation}.0 x16 ${why}, ${formatBandwidth(bytesPerSecond)} as NCCL counts (--assume pcie=)`;
  return { bytesPerSecond, note };
}

/** Returns the rate between two CPUs where the file does not tell. */
export function socketRate(options: TopologyOptions): Figure {
  const given = options.bandwidth?.socket;
  if (given !== undefined) return { bytesPerSecond: given, note: assumed("CPU to CPU", given) };
  const bytesPerSecond = SOCKET_BYTES_PER_SECOND;
  const note = `CPU to CPU ${formatBandwidth(bytesPerSecond)}, assumed: NCCL counts 16 for AMD, 6 to 40 for Intel (--assume socket=)`;
  return { bytesPerSecond, note };
}

/** Returns the picoseconds of a link. */
export const latencyOf = (kind: BoxLink, { latencyPs }: TopologyOptions): number =>
  latencyPs ?? Math.round(LATENCY_US[kind] * PS_PER_US);

/** Returns the sentence about the latencies of these kinds of links. */
export function latencyNote(kinds: ReadonlySet<BoxLink>, { latencyPs }: TopologyOptions): string {
  if (latencyPs !== undefined) return `latency ${formatTime(latencyPs)} a link, as --assume says`;
  const order = Object.keys(LATENCY_US) as BoxLink[];
  const list = order.filter((kind) => kinds.has(kind)).map((kind) => `${kind} ${LATENCY_US[kind]} us`);
  return `latencies are model figures, not measured: ${list.join(", ")} a link (--assume latency=)`;
}

/** Returns "1 pair", "2 pairs". */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Returns the number of boxes that `--nodes` says, 1 where it is absent. Throws InputError. */
export function boxesOf({ nodes = 1 }: TopologyOptions): number {
  if (Number.isInteger(nodes) && nodes >= 1 && nodes <= 65536) return nodes;
  throw new InputError("--nodes", "a number of boxes from 1 to 65536", nodes);
}
