import { type Box, cableList, fullMesh } from "./boxes.ts";

/** AMD and Intel boxes. GB/s and us per link and direction; the sources stand beside the figures. */

const XGMI_LATENCY = "xGMI latency 1 us: a model figure, not measured";

/** Returns an 8-GPU fully connected AMD box. */
const oam = (gbps: number, source: string): Box => ({
  gpus: 8,
  latencyUs: 1,
  cables: fullMesh(8, gbps),
  sources: [source, XGMI_LATENCY],
});

/** Returns an 8-card Gaudi box: three Ethernet ports to each peer. */
const gaudi = (portGbps: number, source: string): Box => ({
  gpus: 8,
  latencyUs: 2,
  cables: fullMesh(8, 3 * portGbps),
  sources: [`full mesh, 3 ports a pair: ${source}`, "RoCE latency 2 us: a model figure, not measured"],
});

const MI250: Box = {
  gpus: 16,
  latencyUs: 1,
  // the same graph in TE-CCL (amd.py), ForestColl (topologies.py) and RCCL (topo_16p1h.xml); *n = n xGMI links
  cables: cableList(
    "0-1*4 0-4*2 0-8 1-5 1-9 1-10 2-3*4 2-6 2-10 2-9 3-7*2 3-11 4-6 4-5*4 5-7 5-6 6-7*4 " +
      "8-9*4 8-12*2 9-13 10-11*4 10-14 11-15*2 12-13*4 12-14 13-15 13-14 14-15*4",
    50,
  ),
  scaleOut: { wiring: "one", gbps: 16, latencyUs: 2.5 },
  sources: [
    "MI250 wiring: ForestColl and TE-CCL (the same graph); 25 GT/s x16 = 50 GB/s per xGMI link: ROCm MI250 guide",
    "16 GB/s per GPU to one IB switch: ForestColl; NIC link latency 2.5 us: a model figure",
    XGMI_LATENCY,
  ],
};

const FRONTIER: Box = {
  gpus: 8,
  latencyUs: 1,
  cables: cableList("0-1*4 0-2 0-6*2 1-3 1-5 2-3*4 2-4*2 3-7 4-5*4 4-6 5-7 6-7*4", 50),
  sources: [
    "edges: RCCL topo_8p_90a.xml; 4 links of 50 GB/s inside a module: OLCF Frontier user guide",
    "that 0-6 and 2-4 are double is from memory of the node diagram, not verified",
    XGMI_LATENCY,
  ],
};

const MI100_SOURCE = "46 GB/s per xGMI link (23 GT/s x16): ROCm MI100 guide";
const MI100_HIVES: Box = {
  gpus: 8,
  latencyUs: 1,
  switches: ["cpu0", "cpu1"],
  cables: [
    ...fullMesh(4, 46),
    ...fullMesh(4, 46).map(([a, b, gbps]) => [a + 4, b + 4, gbps] as const),
    ...[0, 1, 2, 3, 4, 5, 6, 7].map((gpu) => [gpu, gpu < 4 ? 8 : 9, 24, 1.5] as const),
    [8, 9, 36],
  ],
  sources: [
    `two hives of 4, PCIe 4.0 x16 (24 GB/s) to two CPUs joined by 36 GB/s; ${MI100_SOURCE}`,
    `${XGMI_LATENCY}; PCIe 1.5 us, likewise`,
  ],
};

/** By name; the forms `NAME` and `NAME:BOXES`. */
export const AMD_INTEL: Readonly<Record<string, readonly [description: string, box: Box]>> = {
  mi250: ["AMD MI250, 16 GCDs on xGMI, 16 GB/s a GCD to one IB switch", MI250],
  mi300x: ["AMD MI300X, 8 GPUs, full mesh", oam(64, "64 GB/s per xGMI link: AMD platform sheet; RCCL topo_8p_940.xml")],
  mi325x: ["AMD MI325X, links as mi300x", oam(64, "64 GB/s per xGMI link, as MI300X: AMD platform sheet")],
  mi355x: ["AMD MI350X/MI355X, 8 GPUs, full mesh", oam(76.5, "76.5 GB/s per xGMI link: ml-engineering xGMI table")],
  "mi100-8p6l": [
    "AMD MI100, 8 GPUs with 6 links each (a full mesh less 0-5 1-4 2-7 3-6)",
    {
      gpus: 8,
      latencyUs: 1,
      cables: fullMesh(8, 46, ["0-5", "1-4", "2-7", "3-6"]),
      sources: [`wiring: RCCL topo_8p6l.xml; ${MI100_SOURCE}`, XGMI_LATENCY],
    },
  ],
  "mi100-2hives": ["AMD MI100, two hives of 4 GPUs behind two CPUs", MI100_HIVES],
  frontier: ["Frontier/LUMI node, 8 GCDs of 4 MI250X", FRONTIER],
  gaudi2: ["Intel Gaudi 2, 8 cards, full mesh of 3x100 GbE", gaudi(12.5, "docs.habana.ai, Network Configuration")],
  gaudi3: ["Intel Gaudi 3, 8 cards, full mesh of 3x200 GbE", gaudi(25, "docs.habana.ai, Network Configuration")],
};
