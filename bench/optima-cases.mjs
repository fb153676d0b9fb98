// What `npm run bench -- optima` measures: how far from a proved optimum each algorithm is on small networks.

export const NETWORKS = ["mesh:3x3", "mesh:4x4", "dgx1"];
export const COLLECTIVES = ["allgather", "broadcast", "gather", "scatter", "reducescatter", "allreduce"];

/** 1 MiB or so a chunk, so that latency counts a little. */
export const SIZE = "16MiB";

/** The optimum of whole chunks, one per NPU. */
export const EXACT = { name: "TACOS-ILP", algorithm: "tacos-ilp", options: ["--time-limit", "120s"] };

/** In the same model: one chunk per NPU, links busy for latency and serialisation. */
export const SAME_MODEL = [
  { name: "TACOS greedy", algorithm: "tacos", options: [] },
  { name: "TACCL", algorithm: "taccl", options: ["--chunks", "1", "--time-limit", "10s"] },
  { name: "SCCL", algorithm: "sccl", options: ["--chunks", "1", "--time-limit", "15s"] },
  { name: "Ring", algorithm: "ring", options: ["--chunks", "1"] },
  { name: "Direct", algorithm: "direct", options: ["--chunks", "1"] },
];

/** In the network model, each with as many parts as it likes. */
export const OWN_PARTS = [
  { name: "TACOS greedy", algorithm: "tacos", options: ["--chunks", "auto"] },
  { name: "ForestColl", algorithm: "forestcoll", options: [] },
  { name: "BFB", algorithm: "bfb", options: [] },
  { name: "MultiTree", algorithm: "multitree", options: [] },
];
