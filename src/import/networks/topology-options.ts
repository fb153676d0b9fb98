import type { TacclOptions } from "./taccl-topology.ts";

/** Kinds of links whose figures a file may lack; `--assume nvlink=25GB/s,nic=200Gbps`. */
export const LINK_KINDS = ["nvlink", "xgmi", "pcie", "socket", "nic", "leaf", "spine"] as const;
export type LinkKind = (typeof LINK_KINDS)[number];

/** What a file of a network does not say. */
export interface TopologyOptions extends TacclOptions {
  /** Model of the GPUs: "a100", "h100", ... (model/topology/gpu-models.ts). */
  readonly gpu?: string;
  /** Bytes per second and direction: of one NVLink or xGMI link; of a GPU's or NIC's PCIe; between sockets; of a port. */
  readonly bandwidth?: Readonly<Partial<Record<LinkKind, number>>>;
  /** Picoseconds, of every link whose latency the file does not tell. */
  readonly latencyPs?: number;
}
