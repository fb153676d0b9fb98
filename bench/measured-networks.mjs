// The networks of the measured rows, as public pages state them: what a rank reaches of its links on the label, GB/s each way.

const MN5 = "https://www.bsc.es/supportkc/docs/MareNostrum5/overview";
const LEONARDO = "https://arxiv.org/abs/2307.16885";
const LUMI = "https://docs.lumi-supercomputer.eu/hardware/lumic/";
const FUGAKU = "https://doi.org/10.1109/CLUSTER.2018.00090";

/** Sums of three vectors of this size leave the last cache: a third of what the maker's page says of one processor. */
const cache = (mib) => Math.round((mib * 2 ** 20) / 3);

/** MPI between CPUs: one process a node. `message` are us of the shortest message, an assumption, which the fit replaces. */
const cluster = (machine, nodes, gbps, lastCacheMiB, source) => ({
  machine,
  kind: "mpi",
  topology: `switch:${nodes}@${gbps}GB/s,0us`,
  message: 1.5,
  cacheBytes: cache(lastCacheMiB),
  source,
});
const torus = (shape) => ({
  machine: "Fugaku (A64FX, Tofu-D)",
  kind: "mpi",
  topology: `torus:${shape}@6.8GB/s,0.1us`,
  message: 0.5,
  cacheBytes: cache(8),
  source: FUGAKU,
});

/** GPUs and NCCL: boxes of a preset, or a box as `boxTopology` takes it and how many of them; `ranks` is asked for where rows differ. */
const box = (machine, source, make) => ({ machine, kind: "nccl", make, source });
const nvswitch = (gpus, gbps, card, inNetwork) => ({
  gpus,
  latencyUs: 0.5,
  nvswitch: { gbps, inNetwork },
  ...(card > 0 && { scaleOut: { wiring: "rails", gbps: card, latencyUs: 2.5 } }),
  sources: [],
});
const mesh = (gpus, gbps) =>
  Array.from({ length: gpus }, (_, a) => Array.from({ length: gpus }, (_, b) => [a, b, gbps]))
    .flat()
    .filter(([a, b]) => a < b);

const NVIDIA = "https://www.nvidia.com/en-us/data-center/dgx-h100/";
const PRESETS = "presets of this project, each with its source";

export const NETWORKS = {
  "fugaku-2x2x2": torus("2x2x2"),
  "fugaku-4x4x4": torus("4x4x4"),
  "fugaku-8x8x8": torus("8x8x8"),
  "fugaku-64x64": torus("64x64"),
  "fugaku-32x256": torus("32x256"),
  "leonardo-4": cluster("Leonardo (Xeon 8358, 4 x HDR100)", 4, 50, 48, LEONARDO),
  "leonardo-32": cluster("Leonardo (Xeon 8358, 4 x HDR100)", 32, 50, 48, LEONARDO),
  "leonardo-200": cluster("Leonardo (Xeon 8358, 4 x HDR100)", 200, 50, 48, LEONARDO),
  "leonardo-256": cluster("Leonardo (Xeon 8358, 4 x HDR100)", 256, 50, 48, LEONARDO),
  "lumi-4": cluster("LUMI (EPYC 7763, Slingshot 200 Gb/s)", 4, 25, 32, LUMI),
  "lumi-8": cluster("LUMI (EPYC 7763, Slingshot 200 Gb/s)", 8, 25, 32, LUMI),
  "lumi-16": cluster("LUMI (EPYC 7763, Slingshot 200 Gb/s)", 16, 25, 32, LUMI),
  "lumi-32": cluster("LUMI (EPYC 7763, Slingshot 200 Gb/s)", 32, 25, 32, LUMI),
  "lumi-100": cluster("LUMI (EPYC 7763, Slingshot 200 Gb/s)", 100, 25, 32, LUMI),
  "mn5-32": cluster("MareNostrum 5 (Xeon 8480+, NDR200)", 32, 25, 105, MN5),
  "mn5-60": cluster("MareNostrum 5 (Xeon 8480+, NDR200)", 60, 25, 105, MN5),
  "mn5-acc": box("MareNostrum 5 ACC (4 H100, NDR200 each)", MN5, (ranks) => [
    {
      gpus: 4,
      latencyUs: 0.5,
      cables: mesh(4, 150),
      scaleOut: { wiring: "rails", gbps: 25, latencyUs: 2.5 },
      sources: [],
    },
    ranks / 4,
  ]),
  p4de: box("AWS p4de (8 A100, 4 x 100 Gb/s EFA)", PRESETS, () => "p4d:2"),
  p5: box("AWS p5 (8 H100, 32 x 100 Gb/s EFA)", PRESETS, () => "p5:2"),
  "a3-mega": box("Google A3 Mega (8 H100, 8 x 200 Gb/s)", "https://cloud.google.com/compute/docs/gpus", () => [
    nvswitch(8, 450, 25, true),
    2,
  ]),
  "oci-h100": box("OCI BM.GPU.H100.8 (8 H100, 16 x 200 Gb/s RoCE)", PRESETS, () => "hgx-h100:2"),
  "coreweave-h100": box("CoreWeave H100 (8 H100, 8 x NDR400)", PRESETS, () => "hgx-h100:12"),
  "gb200-2racks": box("GB200 NVL72, 2 racks", "https://www.nvidia.com/en-us/data-center/gb200-nvl72/", () => [
    nvswitch(72, 900, 50, true),
    2,
  ]),
  "gb200-20racks": box("GB200 NVL72, 20 racks", "https://www.nvidia.com/en-us/data-center/gb200-nvl72/", () => [
    nvswitch(72, 900, 50, true),
    20,
  ]),
  alps: box("Alps (GH200, one a node, Slingshot 200 Gb/s)", "https://docs.cscs.ch/alps/hardware/", () => [
    { gpus: 1, latencyUs: 0.5, scaleOut: { wiring: "one", gbps: 25, latencyUs: 2.5 }, sources: [] },
    2,
  ]),
  "azure-a100": box("Azure ND A100 v4 (8 A100)", PRESETS, () => "ndv4:1"),
  "azure-h100": box("Azure ND H100 v5 (8 H100)", PRESETS, () => "ndv5:1"),
  "azure-h200": box("Azure ND H200 v5 (8 H200)", PRESETS, () => "hgx-h200:1"),
  "a100-box": box("DGX A100 (8 A100)", PRESETS, () => "dgx-a100:1"),
  "h100-box": box("H100 SXM on NVSwitch", NVIDIA, (ranks) => [nvswitch(ranks, 450, 0, true), 1]),
  "h200-box": box("HGX H200 (8 H200)", PRESETS, () => "hgx-h200:1"),
  // the source does not tell the cards: one of 400 Gb/s a GPU is assumed. NCCL's model knows no such box, `calibrate`'s rings and trees do
  mi350x: {
    ...box("MI350X (8 a node, 8 x 400 Gb/s assumed)", PRESETS, () => [
      {
        gpus: 8,
        latencyUs: 0.5,
        cables: mesh(8, 76.5),
        scaleOut: { wiring: "rails", gbps: 50, latencyUs: 2.5 },
        sources: [],
      },
      2,
    ]),
    kind: "rccl",
  },
  "b300-box": box("HGX B300 (8 B300)", PRESETS, () => "hgx-b300:1"),
};
