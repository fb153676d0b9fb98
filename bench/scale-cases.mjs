// What `npm run bench -- scale` measures.

/** Meshes whose matching is timed for the growth with the number of NPUs. */
export const GROWTH = [
  { topology: "mesh:32x32", runs: 9 },
  { topology: "mesh:45x45", runs: 5 },
  { topology: "mesh:64x64", runs: 3 },
  { topology: "mesh:100x100", runs: 3 },
  { topology: "mesh:141x141", runs: 1 },
  { topology: "mesh:200x200", runs: 1, targetSeconds: 90 },
];

/** Backends and threads side by side: [topology, symmetric, runs]. */
export const BACKENDS = [
  ["mesh:32x32", false, 5],
  ["mesh:64x64", false, 3],
  ["mesh:100x100", false, 1],
  ["mesh:100x100", true, 1],
];

/** Alone, and beside processes that do nothing but compute. */
export const SHARED = {
  busyProcesses: 3,
  mostTimes: 3,
  matchings: [
    { topology: "mesh:70x70", symmetric: false, runs: 5 },
    { topology: "mesh:140x140", symmetric: true, runs: 3 },
  ],
};

const GIB = 2 ** 30;

/**
 * Whole commands, start of Node included. `seconds`, `synthesisSeconds`, `bytes` and `fileBytes` are targets; FILE is a file in a
 * temporary folder, kept until the group ends.
 */
export const COMMANDS = [
  {
    group: "40,000 NPUs, mesh",
    commands: [
      {
        line: "synth mesh:200x200 --collective allgather -o FILE.bys",
        seconds: 240,
        synthesisSeconds: 90,
        bytes: 12 * GIB,
        fileBytes: 0.5 * GIB,
      },
      { line: "verify FILE.bys" },
      { line: "simulate FILE.bys", seconds: 180, note: "verified again before" },
    ],
  },
  {
    group: "40,000 NPUs, all-reduce, failures",
    commands: [
      { line: "synth mesh:200x200 --collective allreduce --chunks auto", synthesisSeconds: 30 },
      { line: "synth mesh:200x200 --collective allgather --without 0-1", synthesisSeconds: 60 },
    ],
  },
  {
    group: "42,875 NPUs, grid",
    commands: [
      {
        line: "synth grid:35x35x35 --collective allgather -o FILE.bys",
        seconds: 240,
        synthesisSeconds: 90,
        bytes: 12 * GIB,
        fileBytes: 0.5 * GIB,
      },
    ],
  },
  {
    group: "100,000 NPUs",
    commands: [
      { line: "synth mesh:316x316 --collective allgather -o FILE.bys", seconds: 180, bytes: 8 * GIB },
      { line: "synth grid:46x46x46 --collective allgather -o FILE.bys", seconds: 180, bytes: 8 * GIB },
      { line: "synth mesh:316x316 --collective allreduce -o FILE.bys", seconds: 180, bytes: 8 * GIB },
      { line: "verify FILE.bys" },
      { line: "synth grid:46x46x46 --collective allreduce -o FILE.bys", seconds: 180, bytes: 8 * GIB },
    ],
  },
  {
    group: "torus",
    commands: [
      { line: "synth torus:200x200 --collective allgather -o FILE.bys", seconds: 2 },
      { line: "synth torus:200x200 --collective allreduce -o FILE.bys" },
      { line: "synth torus:35x35x35 --collective allgather -o FILE.bys" },
      { line: "synth torus:1000x1000 --collective allgather", seconds: 20 },
    ],
  },
  {
    group: "two speeds",
    commands: [
      { line: "synth mesh:40x40@50,75GB/s --collective allgather", synthesisSeconds: 0.5 },
      { line: "synth mesh:100x100@50,75GB/s --collective allgather", seconds: 20, synthesisSeconds: 15 },
      { line: "synth mesh:100x100@50,75GB/s --collective allgather --without 0-1", synthesisSeconds: 8 },
    ],
  },
  {
    group: "many chunks",
    commands: [
      { line: "synth mesh:10x10 --collective allgather --chunks 64", synthesisSeconds: 0.5 },
      { line: "synth mesh:10x10 --collective allreduce --chunks 64", synthesisSeconds: 0.5 },
    ],
  },
];
