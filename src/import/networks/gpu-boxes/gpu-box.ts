/** A machine with GPUs, as far as its tools describe it; what the readers of such descriptions have in common. */
export interface GpuBox {
  readonly name: string;
  readonly gpus: number;
  /** Direct links between GPUs, each way. */
  readonly pairs: readonly DirectPair[];
  /** One column [gpus] for each set of NVSwitches: bytes per second of each GPU's ports, 0 where it has none. */
  readonly hubs: readonly Float64Array[];
  /** The NVSwitches duplicate and reduce. */
  readonly inNetwork: boolean;
  /** PCIe switches and CPUs; a parent stands before its children. */
  readonly hosts: readonly HostNode[];
  /** Links between hosts beside the tree: sockets. */
  readonly hostLinks: readonly HostLink[];
  /** Links of GPUs to hosts; the first of a GPU is its PCIe, others are NVLink to the CPU. None where nothing is known. */
  readonly gpuHosts: readonly GpuHost[];
  readonly nics: readonly Nic[];
  /** [gpus] machine of each GPU, where the description is of several; null for one. */
  readonly machineOf: Int32Array | null;
  /** Where the figures come from. */
  readonly sources: readonly string[];
  /** Those of hosts and their links: told where PCIe takes part. */
  readonly hostSources: readonly string[];
}

/** `count` links between two GPUs. */
export interface DirectPair {
  readonly a: number;
  readonly b: number;
  readonly bytesPerSecond: number;
  readonly kind: "nvlink" | "xgmi";
}

export interface HostNode {
  readonly name: string;
  /** -1 for a CPU. */
  readonly parent: number;
  /** Of the link to the parent. */
  readonly bytesPerSecond: number;
}

export interface HostLink {
  readonly a: number;
  readonly b: number;
  readonly bytesPerSecond: number;
}

export interface GpuHost {
  readonly gpu: number;
  readonly host: number;
  readonly bytesPerSecond: number;
  readonly kind: "pcie" | "nvlink";
}

export interface Nic {
  readonly name: string;
  readonly host: number;
  /** Of its PCIe. */
  readonly bytesPerSecond: number;
  /** Of its port; undefined where the description does not tell. */
  readonly portBytesPerSecond: number | undefined;
}
