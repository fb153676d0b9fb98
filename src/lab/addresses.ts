/** Returns the address of an NPU on the network that is measured. */
export const dataAddress = (npu: number): string => `10.98.0.${npu + 1}`;

/** Returns its address on the network by which processes are started, which has no limits. */
export const managementAddress = (npu: number): string => `10.99.0.${npu + 1}`;

/** Returns what an NPU, entered from its neighbour `from`, is called as the next hop of routes. */
export const gatewayAddress = (npu: number, from: number): string => `10.${64 + (from >> 8)}.${npu}.${from & 255}`;

/** Returns the hardware address of a node's end of the cable to a neighbour. */
export const hardwareAddress = (node: number, neighbour: number): string =>
  [
    "02",
    "00",
    ...[node >> 8, node & 255, neighbour >> 8, neighbour & 255].map((byte) => byte.toString(16).padStart(2, "0")),
  ].join(":");

/** Returns the name of the host that an NPU's processes find themselves on. */
export const hostName = (npu: number): string => `npu${npu}`;

/** Devices of NPUs: that of the network that is measured, and that of the one by which processes are started. */
export const DATA_DEVICE = "nic0";
export const MANAGEMENT_DEVICE = "eth0";
