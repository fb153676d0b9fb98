// What Themis (Rashidi et al., ISCA 2022) prints in sections 6.1 and in figures 5, 7, 10, and the networks on which it is held against the baseline.

/** The networks of table 2. */
export const NETWORKS = [
  "2d-sw-sw",
  "3d-sw-sw-sw-homo",
  "3d-sw-sw-sw-hetero",
  "3d-fc-ring-sw",
  "4d-ring-sw-sw-sw",
  "4d-ring-fc-ring-sw",
].map((name) => `themis:${name}`);

/** Figures 8 and 11: bytes, MB = 1e6. */
export const SIZES = [100e6, 250e6, 500e6, 1000e6];
export const CHUNKS = 64;

/** Figure 9. */
export const ACTIVITY = { network: "themis:3d-sw-sw-sw-homo", sizeBytes: 1e9, windowUs: 100 };

/** Figure 10. */
export const GRANULARITY = {
  networks: ["themis:3d-sw-sw-sw-hetero", "themis:4d-ring-fc-ring-sw"],
  sizeBytes: 100e6,
  chunks: [4, 8, 16, 32, 64, 128, 256, 512],
};

/** Printed, with what may lie between: points of utilisation, or shares of a speed-up. */
export const ASKED = [
  { figure: "utilisation, baseline", key: "baseline", printed: 56.31, points: 3 },
  { figure: "utilisation, Themis+FIFO", key: "fifo", printed: 87.67, points: 4 },
  { figure: "utilisation, Themis+SCF", key: "scf", printed: 95.14, points: 3 },
  { figure: "speed-up, Themis+FIFO", key: "fifoSpeedUp", printed: 1.58, share: 0.05 },
  { figure: "speed-up, Themis+SCF", key: "scfSpeedUp", printed: 1.72, share: 0.05 },
  { figure: "greatest speed-up", key: "greatest", printed: 2.7, share: 0.05 },
];

/** Figure 10, mean of both networks at 4 and at 512 chunks. */
export const GRANULARITY_PRINTED = { fifo: [43.13, 87.81], scf: [48.58, 91.18] };

/** Figures 5 and 7: BW(dim1) = 2 BW(dim2), 256 MB in 4 chunks; a unit is the reduce-scatter of a chunk in dimension 1. */
export const EXAMPLE = {
  network: "switch:4*switch:4@96,48GB/s,0us",
  sizeBytes: 256e6,
  chunks: 4,
  loads: [
    [1, 0.5],
    [1.25, 2.5],
    [2.25, 3],
    [3.25, 3.5],
  ],
  units: { baseline: 8, scf: 7 },
};

/** Never slower than the baseline: all collectives, sizes and chunk counts on these. */
export const SWEEP = {
  networks: [
    ...NETWORKS,
    "torus:4x4",
    "torus:8x8",
    "torus:4x4x4",
    "torus:8x4x2",
    "torus:16x16",
    "mesh:4x4",
    "mesh:3x5",
    "mesh:8x8",
    "hypercube:4",
    "hypercube:6",
    "dgx-a100:2",
    "dgx-a100:8",
    "dgx-h100:2",
    "dgx-h100:16",
    "dgx2:4",
    "ring:4*switch:4",
    "fc:4*ring:4*switch:2",
    "switch:8*switch:8@400,25GB/s",
    "switch:8*switch:32@50,400GB/s",
    "ring:4*fc:8*switch:16@300,50,25GB/s",
  ],
  sizes: Array.from({ length: 10 }, (_, i) => 2 ** (16 + 2 * i)),
  chunks: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
  collectives: ["allreduce", "reducescatter", "allgather"],
  share: 0.01,
};

/** Both levels of simulation can run. */
export const LEVELS = {
  networks: [
    "ring:8",
    "switch:8",
    "switch:4*switch:4",
    "ring:4*switch:4",
    "fc:4*ring:4*switch:2",
    "mesh:3x4",
    "torus:4x4",
    "torus:8x8",
    "hypercube:4",
    "dgx-a100:2",
    "dgx-h100:2",
  ],
  cases: [
    { sizeBytes: 2 ** 20, chunks: 1 },
    { sizeBytes: 2 ** 20, chunks: 8 },
    { sizeBytes: 2 ** 24, chunks: 16 },
    { sizeBytes: 2 ** 30, chunks: 8 },
    { sizeBytes: 2 ** 30, chunks: 16 },
  ],
  mostTransfers: 6e5,
  share: 0.03,
};

/** Large networks, dimension by dimension. */
export const SCALE = [
  { network: "torus:200x200", sizeBytes: 2 ** 30, chunks: 64 },
  { network: "torus:32x32x32", sizeBytes: 2 ** 30, chunks: 64 },
  { network: "switch:16*switch:16*switch:128@400,100,50GB/s", sizeBytes: 2 ** 30, chunks: 64 },
];

/** Policies of the maker, on table 2's networks. */
export const BEST = { sizeBytes: 250e6, chunks: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] };
