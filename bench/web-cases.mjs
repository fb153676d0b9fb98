// What `npm run bench -- web` measures in a tab.

/** From the click to the frame that shows the answer, verified, simulated and bounded; `mostSeconds` is required. */
export const SYNTHESES = [
  { topology: "mesh:32x32", collective: "allgather", size: "1GiB", algorithm: "tacos", mostSeconds: 1 },
  { topology: "dgx-h100:16", collective: "allgather", size: "1GiB", algorithm: "forestcoll", mostSeconds: 3 },
  { topology: "dgx-h100:16", collective: "allreduce", size: "1GiB", algorithm: "forestcoll", mostSeconds: 3 },
  { topology: "dgx-h100:128", collective: "allgather", size: "1GiB", algorithm: "forestcoll", mostSeconds: 30 },
  { topology: "dgx-a100:2", collective: "allreduce", size: "256MiB", algorithm: "tacos", mostSeconds: null },
  { topology: "torus:8x8x8", collective: "allreduce", size: "1GiB", algorithm: "themis", mostSeconds: null },
  { topology: "mesh:4x4", collective: "alltoall", size: "64MiB", algorithm: "mcf", mostSeconds: null },
  { topology: "dgx1", collective: "allgather", size: "16MiB", algorithm: "tacos-ilp", mostSeconds: null },
];

/** Networks that are dragged, zoomed and pointed at; with 1,000 NPUs 30 frames a second are required. */
export const DRAWN = [
  { topology: "mesh:32x32", required: true },
  { topology: "dgx-h100:125", required: true },
  { topology: "torus:10x10x10", required: true },
  { topology: "mesh:100x100", required: false },
];

/** Schedules that are played in the view of time. */
export const PLAYED = [
  { topology: "mesh:8x8", collective: "allgather", size: "64MiB", algorithm: "tacos", required: false },
  { topology: "mesh:32x32", collective: "allgather", size: "1GiB", algorithm: "tacos", required: true },
];

/** Schedules whose matrix of what NPUs send each other is pointed at and zoomed: 1M pairs. */
export const MATRICES = [
  { topology: "dgx-h100:125", collective: "alltoall", size: "1GiB", algorithm: "direct", required: true },
];

export const LEAST_FRAMES = 30;

/** Views that are checked for accessibility. */
export const VIEWS = ["network", "bound", "time", "trees", "links", "steps", "compare"];
