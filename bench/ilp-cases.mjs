// Tables I to V of the 2023 paper (Won et al., arXiv 2304.05301): what TACOS-ILP, its greedy search and the baselines make.
// "printed": times as the paper normalises them, null where it has none; seconds of synthesis where it prints them. What the
// paper does not say and was chosen here is in "guessed".

const MB = 1e6;
const GB = 1e9;
/** 0.5 us a hop, half on each side of a switch. */
const HALF = "0.25us";

/** Seconds that a program may take (BANYAN_ILP_SECONDS); a row says "not within 600 s" beyond. */
export const LIMIT_SECONDS = Number(process.env.BANYAN_ILP_SECONDS ?? 600);
const EARLY_SECONDS = Math.min(120, LIMIT_SECONDS / 2);

/** Columns, in the order of the printed ones. "TACCL-like" is TACOS-ILP blind to congestion; TACCL itself stands for it. */
export const COLUMNS = [
  { name: "ILP", algorithm: "tacos-ilp", options: ["--time-limit", `${LIMIT_SECONDS}s`] },
  { name: "Greedy", algorithm: "tacos", options: [] },
  { name: "TACCL-like", algorithm: "taccl", options: ["--time-limit", "30s"] },
  { name: "Ring", algorithm: "ring", options: [] },
  { name: "Direct", algorithm: "direct", options: [] },
];
/** Table II's two ways to end early. */
export const EARLY = {
  name: "Early termination",
  algorithm: "tacos-ilp",
  options: ["--time-limit", `${EARLY_SECONDS}s`],
};
export const CLUSTERED = {
  name: "Time clustering",
  algorithm: "tacos-ilp",
  options: ["--policy", "clustered", "--time-limit", `${EARLY_SECONDS}s`],
};

/** 3D ring-fc-switch of 2 x 4 x nodes, bandwidths per link. */
const rfs = (nodes) =>
  nodes === 1 ? "ring:2*fc:4@200,100GB/s,0.5us" : `ring:2*fc:4*switch:${nodes}@200,100,50GB/s,0.5us,0.5us,${HALF}`;

const TABLE_I = [
  [1, [1, 1, 1, 1.44, 3.74], 0.07],
  [2, [1, 1, 2.89, 3.78, 7.44], 0.79],
  [4, [1, 1.45, 4.1, 11.28, 7.48], 20.01],
  [8, [1, 1.58, 4.27, 26.47, 7.54], 70.16],
  [16, [null, 1, 2.6, 36, 4.79], null],
];

const mesh = (side) => `mesh:${side}x${side}@100GB/s,0.5us`;

/** A row: network, without (failed NPUs), collective, root, sizeBytes, chunks, together, columns, printed, seconds (of its ILP). */
export const TABLES = [
  {
    id: "I",
    title: "All-reduce on ring_fc_switch of 1 to 16 nodes (section VIII-B)",
    guessed: "1 GB, bandwidths per link, one chunk per NPU",
    rows: TABLE_I.map(([nodes, printed, seconds]) => ({
      network: rfs(nodes),
      collective: "allreduce",
      sizeBytes: GB,
      columns: COLUMNS,
      printed,
      seconds,
    })),
  },
  {
    id: "II",
    title: "Early termination and time clustering on tori (section VIII-D)",
    guessed: "all-reduce of 1 GB, 100 GB/s, 0.5 us, one chunk per NPU; Ring_Ring is a torus",
    rows: [
      ["8x8", [1, 1.06, 1.56, 8, 13.81], 600],
      ["10x10", [1, 1.17, 1.57, 8.74, 19.61], 900],
      ["12x12", [1, 1.23, 1.57, 9.67, 27.33], 1200],
    ].map(([shape, printed, seconds]) => ({
      network: `torus:${shape}@100GB/s,0.5us`,
      collective: "allreduce",
      sizeBytes: GB,
      columns: [EARLY, CLUSTERED, ...COLUMNS.slice(2)],
      printed,
      seconds,
    })),
  },
  {
    id: "III",
    title: "All-reduce on a 4x4 mesh without NPUs 7 and 9 (section VIII-E)",
    guessed: "1 GB, 100 GB/s, 0.5 us, one chunk per NPU",
    rows: [
      {
        network: mesh(4),
        without: ["7", "9"],
        collective: "allreduce",
        sizeBytes: GB,
        columns: COLUMNS,
        printed: [1, 1, 1, 5.38, 5.08],
        seconds: 4.92,
      },
    ],
  },
  {
    id: "IV",
    title: "Other collectives on a 6x6 mesh (section VIII-F)",
    guessed: "36 MB, 100 GB/s, 0.5 us, one chunk, root 0",
    rows: [
      ["broadcast", [1, 1, 3.9], 0.1],
      ["reduce", [1, 1, 3.9], 0.1],
      ["gather", [1, 1.11, 1.67], 56.13],
      ["scatter", [1, 1.11, 1.67], 56.13],
    ].map(([collective, printed, seconds]) => ({
      network: mesh(6),
      collective,
      root: 0,
      sizeBytes: 36 * MB,
      columns: [COLUMNS[0], COLUMNS[2], COLUMNS[4]],
      printed,
      seconds,
    })),
  },
  {
    id: "V",
    title: "Broadcast from 2, reduce to 17 and all-gather at once on a 6x6 mesh (section VIII-G)",
    guessed: "100 GB/s, 0.5 us, chunks of 1 MB, one for each NPU and one each to broadcast and reduce",
    rows: [
      {
        network: mesh(6),
        together: [
          { collective: "allgather", sizeBytes: 36 * MB },
          { collective: "broadcast", root: 2, sizeBytes: MB },
          { collective: "reduce", root: 17, sizeBytes: MB },
        ],
        columns: [COLUMNS[0], COLUMNS[1], COLUMNS[2], COLUMNS[4]],
        printed: [1, 1.25, 1.5, 3.63],
        seconds: 6.73,
      },
    ],
  },
];

/** Row defaults. */
export const rowOf = (row) => ({ without: [], chunks: 1, together: null, ...row });
