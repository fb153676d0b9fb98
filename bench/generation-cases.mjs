// What `npm run bench -- generation` measures: figure 4.14 of Zhao 2026, all-gather schedules for 8 to 1,024 GPUs.

/** The figure's platforms; boxes in powers of two. */
export const PLATFORMS = [
  {
    name: "NVIDIA A100",
    topology: (boxes) => `dgx-a100:${boxes}`,
    gpusPerBox: 8,
    boxes: [1, 2, 4, 8, 16, 32, 64, 128],
  },
  { name: "AMD MI250", topology: (boxes) => `mi250:${boxes}`, gpusPerBox: 16, boxes: [1, 2, 4, 8, 16, 32, 64] },
];

/**
 * Who is compared. Trees report their throughput; the others are asked for so large a size that latency does not count.
 * `options`: beside the network, the collective and the size. TE-CCL and SyCCL are solvers of others and are not rebuilt.
 */
export const GENERATORS = [
  { name: "ForestColl", algorithm: "forestcoll", options: [] },
  { name: "MultiTree", algorithm: "multitree", options: [] },
  { name: "TACCL", algorithm: "taccl", options: ["--time-limit", "60s"], mostGpus: 128 },
  { name: "TACOS", algorithm: "tacos", options: ["--trials", "8"] },
  {
    name: "TACOS, chunks by trial",
    algorithm: "tacos",
    options: ["--trials", "2", "--chunks", "auto"],
    mostGpus: 128,
  },
  { name: "BlueConnect", algorithm: "blueconnect", options: [] },
  { name: "NCCL-like rings", algorithm: "nccl-rings", options: [] },
];

export const SIZE = "1TiB";
/** A command that takes longer is stopped; the dissertation waited 10^4 s (A100) and 3 x 10^4 s (MI250). */
export const LIMIT_SECONDS = 240;

/** What the dissertation says of the figure in words (4.6.5). */
export const CLAIMS = [
  "ForestColl is optimal everywhere and generates 1,024 GPUs in 37 min (A100) and 38 min (MI250) on 128 cores",
  "MultiTree starts well below it on A100 and matches it as the cluster grows; on MI250 it stays 50 % or more behind",
  "TACCL generates nothing above 128 GPUs",
];
