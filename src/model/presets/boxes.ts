import { InputError } from "../../base/errors.ts";
import { bandwidthFromGBps, latencyFromUs } from "../numbers/units.ts";
import type { Topology } from "../topology/topology.ts";
import { topologyBuilder } from "../topology/topology-builder.ts";
import { refuseHuge } from "./expression.ts";

/** Cable between two nodes of a box: local indices, GB/s each way, its latency where it is not the box's. */
type Cable = readonly [a: number, b: number, gbps: number, latencyUs?: number];

/** How boxes are joined; every figure is per link and direction. */
interface ScaleOut {
  /**
   * `rails`: GPU g of each box has a link to leaf floor(g / gpusPerRail). `one`: every GPU has a link to one switch.
   * `shared-nic`: all GPUs of a box reach its only NIC over PCIe; the NICs have a link to one switch.
   */
  readonly wiring: "rails" | "one" | "shared-nic";
  readonly gbps: number;
  readonly latencyUs: number;
  readonly gpusPerRail?: number;
  readonly pcie?: { readonly gbps: number; readonly latencyUs: number };
}

/** A box of GPUs with its wiring, and how several of them are joined. Figures per link and direction. */
export interface Box {
  readonly gpus: number;
  readonly latencyUs: number;
  /** Every GPU has a link to the box's NVSwitch. */
  readonly nvswitch?: { readonly gbps: number; readonly inNetwork: boolean };
  /** Direct links; an index from `gpus` on is one of `switches`. */
  readonly cables?: readonly Cable[];
  /** Names of further switches of the box. */
  readonly switches?: readonly string[];
  /** Absent where no scale-out figure is known: then there is one box only. */
  readonly scaleOut?: ScaleOut;
  /** Where the figures come from. */
  readonly sources: readonly string[];
}

/**
 * Returns `boxes` boxes, GPU id = g + gpus*box, group `box0` ...; switches `nvsw0` (one a box), `nic0`, `rail0` or `ib`.
 * One box has no NICs. The shape is [gpus, boxes] (or [gpus]). Throws InputError for more boxes than the platform has.
 */
export function boxTopology(name: string, box: Box, boxes: number): Topology {
  const { gpus, nvswitch, cables = [], scaleOut } = box;
  if (boxes > 1 && scaleOut === undefined)
    throw new InputError(name, "one box (no scale-out network is known)", boxes).saying(
      `${name} has ${boxes} boxes; it may have one, for no scale-out network is known`,
    );
  refuseHuge(boxes * (4 * gpus + 2 * cables.length + 2), name);
  const builder = topologyBuilder(name);
  const links = (a: number, b: number, gbps: number, us: number): void =>
    builder.addDuplex(a, b, bandwidthFromGBps(gbps, name), latencyFromUs(us, name));

  const traits = Array.from({ length: boxes }, (_, b) => ({ group: `box${b}` }));
  builder.addNumberedNpus(boxes * gpus, (npu) => traits[Math.floor(npu / gpus)]);
  for (let b = 0; b < boxes; b++) {
    const group = `box${b}`;
    const inner = (box.switches ?? []).map((label) =>
      builder.addSwitch(boxes > 1 ? `${label}-${group}` : label, { group }),
    );
    const node = (local: number): number => (local < gpus ? b * gpus + local : inner[local - gpus]);
    for (const [from, to, gbps, us = box.latencyUs] of cables) links(node(from), node(to), gbps, us);
    if (nvswitch === undefined) continue;
    const able = nvswitch.inNetwork ? { multicast: true, aggregation: true } : {};
    const hub = builder.addSwitch(`nvsw${b}`, { group, ...able });
    for (let g = 0; g < gpus; g++) links(b * gpus + g, hub, nvswitch.gbps, box.latencyUs);
  }

  if (boxes > 1 && scaleOut !== undefined) {
    const { wiring, gbps, latencyUs, gpusPerRail = 1, pcie } = scaleOut;
    const railCount = wiring === "rails" ? gpus / gpusPerRail : 1;
    const leaves = Array.from({ length: railCount }, (_, i) =>
      builder.addSwitch(wiring === "rails" ? `rail${i}` : "ib"),
    );
    for (let b = 0; b < boxes; b++) {
      const nic = wiring === "shared-nic" ? builder.addSwitch(`nic${b}`, { group: `box${b}` }) : -1;
      for (let g = 0; g < gpus; g++) {
        if (nic >= 0 && pcie !== undefined) links(b * gpus + g, nic, pcie.gbps, pcie.latencyUs);
        else links(b * gpus + g, leaves[wiring === "rails" ? Math.floor(g / gpusPerRail) : 0], gbps, latencyUs);
      }
      if (nic >= 0) links(nic, leaves[0], gbps, latencyUs);
    }
  }
  return builder.build({ shape: boxes > 1 ? [gpus, boxes] : [gpus], sources: box.sources });
}

/** Returns the cables of a full mesh of `gpus` GPUs, without the pairs in `except` (written `a-b`, a < b). */
export function fullMesh(gpus: number, gbps: number, except: readonly string[] = []): Cable[] {
  const cables: Cable[] = [];
  for (let a = 0; a < gpus; a++) {
    for (let b = a + 1; b < gpus; b++) if (!except.includes(`${a}-${b}`)) cables.push([a, b, gbps]);
  }
  return cables;
}

/** Returns cables from a list such as `0-3 0-4*2`: `*n` = n links of `gbps` in one cable. */
export function cableList(list: string, gbps: number): Cable[] {
  return list.split(" ").map((text): Cable => {
    const [ends, links = "1"] = text.split("*");
    const [a, b] = ends.split("-").map(Number);
    return [a, b, Number(links) * gbps];
  });
}

/** NVIDIA boxes and the clouds' names for them. GB/s and us per link and direction; the sources stand beside the figures. */

const NVSWITCH_LATENCY = "NVSwitch port latency 0.5 us: a model figure, not measured";
const IB_LATENCY = "NIC link latency 2.5 us (InfiniBand), 5 us (EFA): model figures, not measured";
const NVLINK = "NVLink rates: ml-engineering NVLink table (V100 6x25, A100 12x25, H100/H200 18x25, B200 18x50 GB/s)";
const NIC_TABLE = "NIC rates: ml-engineering inter-node table";

// nvidia-smi topo -m of a V100 SXM2 hybrid cube mesh; NV2 pairs are written *2
const HYBRID_CUBE_MESH: readonly Cable[] = cableList(
  "0-1 0-2 0-3*2 0-4*2 1-2*2 1-3 1-5*2 2-3*2 2-6 3-7 4-5 4-6 4-7*2 5-6*2 5-7 6-7*2",
  25,
);
const DGX1_SOURCES = [
  "DGX-1V wiring: nvidia-smi topo -m of a V100 SXM2 box; 25 GB/s per NVLink2: Alibaba Cloud GPU topology guide",
  "NVLink latency 0.7 us: upper end of TACCL's NDv2 profile (0.3 to 0.7 us)",
];
const DGX1: Box = { gpus: 8, latencyUs: 0.7, cables: HYBRID_CUBE_MESH, sources: DGX1_SOURCES };

const NDV2: Box = {
  ...DGX1,
  scaleOut: { wiring: "shared-nic", gbps: 12.5, latencyUs: 1, pcie: { gbps: 15.753846154, latencyUs: 0.3 } },
  sources: [
    ...DGX1_SOURCES,
    "one 100 Gb/s InfiniBand NIC per box: TACCL NDv2 (nics_per_node 1)",
    "GPU to NIC: PCIe 3.0 x16, 8 GT/s x 16 lanes x 128/130 = 15.75 GB/s; assumed free of contention between GPUs",
    "0.3 us PCIe + 1 us to the switch, each way, makes the 2.6 us of TACCL's remote alpha",
  ],
};

const DGX2: Box = {
  gpus: 16,
  latencyUs: 0.5,
  nvswitch: { gbps: 150, inNetwork: false },
  scaleOut: { wiring: "rails", gbps: 6.25, latencyUs: 2.5, gpusPerRail: 2 },
  sources: [
    NVLINK,
    NVSWITCH_LATENCY,
    "8 NICs of 100 Gb/s, one for two GPUs (TACCL DGX-2, TE-CCL dgx2): 6.25 GB/s each",
    IB_LATENCY,
  ],
};

/** Returns an 8-GPU NVSwitch box with one NIC per GPU on 8 rails. */
const railed = (gbps: number, inNetwork: boolean, nicGbps: number, nicUs: number, ...sources: string[]): Box => ({
  gpus: 8,
  latencyUs: 0.5,
  nvswitch: { gbps, inNetwork },
  scaleOut: { wiring: "rails", gbps: nicGbps, latencyUs: nicUs },
  sources: [NVLINK, NVSWITCH_LATENCY, ...sources, IB_LATENCY],
});

const DGX_A100: Box = {
  ...railed(300, false, 25, 2.5, "8 HDR NICs of 200 Gb/s, one IB switch: ForestColl's A100 clusters"),
  scaleOut: { wiring: "one", gbps: 25, latencyUs: 2.5 },
};
const DGX_H100 = railed(450, true, 50, 2.5, `8 NDR NICs of 400 Gb/s on 8 rail switches; ${NIC_TABLE}`);

/** By name; the forms `NAME` and `NAME:BOXES`. */
export const NVIDIA: Readonly<Record<string, readonly [description: string, box: Box]>> = {
  dgx1: ["DGX-1V, 8 V100, hybrid cube mesh", DGX1],
  dgx2: ["DGX-2, 16 V100 on NVSwitch, two GPUs a 100 Gb/s NIC", DGX2],
  "dgx-a100": ["DGX A100, 8 GPUs on NVSwitch, 25 GB/s a GPU to one IB switch", DGX_A100],
  "dgx-h100": ["DGX H100, 8 GPUs on NVSwitch, 50 GB/s a GPU to 8 rails (`,ib`: to one switch)", DGX_H100],
  "hgx-h100": ["HGX H100, as dgx-h100", DGX_H100],
  "hgx-h200": ["HGX H200, links as dgx-h100", DGX_H100],
  "hgx-b200": ["HGX B200, 8 GPUs on NVSwitch, 50 GB/s a GPU to 8 rails", railed(900, true, 50, 2.5, NIC_TABLE)],
  "hgx-b300": ["HGX B300, 8 GPUs on NVSwitch, 100 GB/s a GPU to 8 rails", railed(900, true, 100, 2.5, NIC_TABLE)],
  "gb200-nvl72": [
    "GB200 NVL72, 72 GPUs on one NVLink switch domain",
    {
      gpus: 72,
      latencyUs: 0.5,
      nvswitch: { gbps: 900, inNetwork: true },
      sources: [
        "18x50 GB/s a GPU, 9 trays of 2 switch chips modelled as one switch: docs.nvidia.com Base Command Manager, NVLink",
        NVSWITCH_LATENCY,
      ],
    },
  ],
  ndv2: ["Azure NDv2, DGX-1 boxes, one 12.5 GB/s NIC a box to one IB switch", NDV2],
  ndv4: [
    "Azure NDv4, 8 A100, 25 GB/s a GPU to 8 rails",
    railed(300, false, 25, 2.5, "8 HDR 200 Gb/s: Azure ndv4-topo.xml"),
  ],
  ndv5: [
    "Azure NDv5, 8 H100, 50 GB/s a GPU to 8 rails",
    railed(450, true, 50, 2.5, "8 NDR 400 Gb/s: Azure ndv5-topo.xml"),
  ],
  p4d: [
    "AWS p4d.24xlarge, 8 A100, two GPUs a 100 Gb/s EFA NIC, 4 rails",
    {
      ...railed(300, false, 6.25, 5, `4x100 Gb/s EFA, two GPUs each: aws-ofi-nccl p4d-24xl-topo.xml; ${NIC_TABLE}`),
      scaleOut: { wiring: "rails", gbps: 6.25, latencyUs: 5, gpusPerRail: 2 },
    },
  ],
  p5: [
    "AWS p5.48xlarge, 8 H100, four 100 Gb/s EFA NICs a GPU (one 50 GB/s link) to 8 rails",
    railed(450, true, 50, 5, `32x100 Gb/s EFA; ${NIC_TABLE}`),
  ],
};
