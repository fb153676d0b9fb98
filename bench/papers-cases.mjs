// What the TACOS papers measured, as far as their text and tables give numbers, with the networks as preset expressions.
// "2024": Won et al., MICRO 2024. "2023": Won et al., arXiv 2304.05301 (ILP and greedy). Figures without printed numbers
// (bars, curves) are not read off.

const MB = 1e6;
const GB = 1e9;
const ALL_CHUNKS = [1, 2, 4, 8, 16];

/** A link's 0.5 us (2024, section IV) is paid once per hop by the papers' unwound switches: half on each side of a switch. */
const HALF = "0.25us";

/**
 * Columns of the comparison; blank where one does not apply. The papers' Ring goes both ways ("we use bidirectional Ring algorithm",
 * 2024, footnote 3); the ring that goes one way stands beside it.
 */
export const RIVALS = [
  { name: "Ring", algorithm: "ring", policy: "bidirectional" },
  { name: "Ring, one way", algorithm: "ring", policy: "natural", key: "ring-one-way" },
  { name: "Rings", algorithm: "rings" },
  { name: "Direct", algorithm: "direct" },
  { name: "RHD", algorithm: "rhd" },
  { name: "DBT", algorithm: "dbt" },
  { name: "TACCL", algorithm: "taccl" },
  { name: "BlueConnect", algorithm: "blueconnect" },
  { name: "Themis", algorithm: "themis" },
  { name: "C-Cube", algorithm: "c-cube" },
  { name: "MultiTree", algorithm: "multitree" },
].map((rival) => ({ key: rival.algorithm, ...rival }));

/** 3D ring-fc-switch of 2 x 4 x nodes; `shared`: the bandwidths are what an NPU has in a dimension, all its links together. */
function rfs(nodes, shared = false) {
  const figures = shared ? "100,33.333,50GB/s" : "200,100,50GB/s";
  return nodes === 1
    ? `ring:2*fc:4@${shared ? "100,33.333GB/s" : "200,100GB/s"},0.5us`
    : `ring:2*fc:4*switch:${nodes}@${figures},0.5us,0.5us,${HALF}`;
}

/** Chunks that are tried: fewer where a run takes long. */
const rfsChunks = (nodes) => ALL_CHUNKS.slice(0, nodes <= 8 ? 5 : nodes <= 16 ? 4 : nodes <= 32 ? 2 : 1);

const PER_LINK = "bandwidths per link";
const SHARED = "bandwidths per NPU and dimension";
/** Both readings of "[400, 200] GB/s (per dimension)"; the same for a switch or a ring of two. */
const bothReadings = (row, perLink, shared) => [
  { ...row, network: perLink, reading: PER_LINK },
  { ...row, network: shared, reading: SHARED },
];

const TABLE_V = [
  { nodes: 2, ideal: 1.0, synthesisMs: 0.63, rivals: { taccl: 2.89, ring: 7.14, rhd: 5.27, direct: 4.04 } },
  { nodes: 4, ideal: 0.72, synthesisMs: 8.9, rivals: { taccl: 4.1, ring: 5.1, rhd: 4.42, direct: 7.86 } },
  { nodes: 8, ideal: 0.68, synthesisMs: 97.92, rivals: { taccl: 4.27, ring: 4.8, rhd: 5.83, direct: 16.84 } },
  { nodes: 16, ideal: 0.68, synthesisMs: 1080, rivals: { ring: 4.82, rhd: 9.85, direct: 36.02 } },
];

/** Columns of table I as printed: greedy, TACCL-like, ring, and the last one, headed "Greedy" but Direct by the text. */
const TABLE_I = [
  { nodes: 1, synthesisMs: 0.29, printed: [1.0, 1.0, 1.44, 3.74] },
  { nodes: 2, synthesisMs: 0.63, printed: [1.0, 2.89, 3.78, 7.44] },
  { nodes: 4, synthesisMs: 8.9, printed: [1.45, 4.1, 11.28, 7.48] },
  { nodes: 8, synthesisMs: 97.92, printed: [1.58, 4.27, 26.47, 7.54] },
  { nodes: 16, synthesisMs: 1080, printed: [1.0, 2.6, 36.0, 4.79] },
  { nodes: 32, synthesisMs: 16_500, printed: [1.0, null, 72.24, 4.66] },
  { nodes: 64, synthesisMs: 365_400, printed: [1.0, null, 146.21, 4.64] },
];

const bySize = (network, efficiency, rivals = {}, chunks = ALL_CHUNKS) =>
  [MB, 32 * MB, GB].map((sizeBytes) => ({ network, sizeBytes, chunks, paper: { efficiency, rivals } }));

/**
 * The tables. A row: network, without (failed), reading, collective (all-reduce), sizeBytes, chunks (those tried), and what
 * the paper gives: `efficiency` the ideal over its time, `ofOptimum` its time over the best it knows (its ILP), `synthesisMs`,
 * `rivals` times over TACOS's. `guessed`: what the paper does not say and was chosen here.
 */
export const TABLES = [
  {
    id: "2024 figure 15",
    title: "Topology exploration (section VI-B.1)",
    says: "at least 90 % of the ideal everywhere (90.84 % in the caption), 2.56 x faster than Ring and Direct on average",
    guessed: "1 GB; which of two readings of the bandwidths is meant",
    averages: { efficiency: 0.9084, speedup: 2.56 },
    rows: [
      ...bothReadings(
        { sizeBytes: GB, paper: { efficiency: 0.9 } },
        "dragonfly:4x5@400,200GB/s",
        "dragonfly:4x5@133.333,200GB/s",
      ),
      {
        network: `switch:8*switch:4@300,25GB/s,${HALF}`,
        reading: "both",
        sizeBytes: GB,
        paper: { efficiency: 0.9 },
      },
      ...bothReadings({ sizeBytes: GB, paper: { efficiency: 0.9 } }, rfs(8), rfs(8, true)),
    ],
  },
  {
    id: "2024 table V",
    title: "3D-RFS of 2 to 16 nodes (section VI-B.2)",
    says: "75.88 % of the ideal on average, 5.39 x faster than Ring on average",
    guessed: "1 GB; which of two readings of the bandwidths is meant",
    averages: { efficiency: 0.7588 },
    rows: TABLE_V.flatMap(({ nodes, ideal, synthesisMs, rivals }) =>
      bothReadings(
        { sizeBytes: GB, chunks: rfsChunks(nodes), paper: { efficiency: ideal, synthesisMs, rivals } },
        rfs(nodes),
        rfs(nodes, true),
      ),
    ),
  },
  {
    id: "2024 figure 16",
    title: "BlueConnect and Themis: 3D torus and 3D hypercube (grid), 0.7 us, 25 GB/s (section VI-B.3)",
    says: "95.90 % of the ideal on the torus (Themis 64.37 % when small), 98.10 % on the hypercube (Themis 49.43 %)",
    guessed: "4x4x4; 1 MB, 32 MB, 1 GB, the paper's figures are averages over sizes",
    shares: { tacos: { torus: 0.959, grid: 0.981 }, themis: { torus: 0.6437, grid: 0.4943 } },
    rows: [
      ...bySize("torus:4x4x4@25GB/s,0.7us", 0.959),
      ...bySize("grid:4x4x4@25GB/s,0.7us", 0.981, { themis: 0.981 / 0.4943 }),
    ],
  },
  {
    id: "2024 figure 17(a)",
    title: "MultiTree: 2D torus and mesh, 0.15 us, 16 GB/s (section VI-B.4)",
    says: "92.15 % of the ideal on the torus (Themis 89.93 %), 82.60 % on the mesh; 1.32 x faster than MultiTree on average",
    guessed: "8x8; 1 MB, 32 MB, 1 GB, the paper's figures are averages over sizes",
    shares: { tacos: { torus: 0.9215, mesh: 0.826 }, themis: { torus: 0.8993 } },
    rows: [
      ...bySize("torus:8x8@16GB/s,0.15us", 0.9215, { themis: 0.9215 / 0.8993 }),
      ...bySize("mesh:8x8@16GB/s,0.15us", 0.826),
    ],
  },
  {
    id: "2024 figure 17(b)",
    title: "C-Cube: DGX-1, 0.7 us, 25 GB/s (section VI-B.5)",
    says: "93.26 % of the ideal, C-Cube 32.63 %, Ring 99.61 %",
    guessed: "1 MB, 32 MB, 1 GB, the paper's figures are averages over sizes",
    shares: { tacos: { dgx1: 0.9326 }, "c-cube": { dgx1: 0.3263 }, ring: { dgx1: 0.9961 }, rings: { dgx1: 0.9961 } },
    rows: bySize("dgx1", 0.9326, { "c-cube": 2.86, ring: 0.9326 / 0.9961 }, [1, 2, 3, 4, 6, 8, 12, 16]),
  },
  {
    id: "2024 figure 18",
    title: "Asymmetric topologies (section VI-B.6)",
    says: "98.40 % of the ideal on average; the torus busy at 100 % throughout",
    guessed: "1 GB",
    averages: { efficiency: 0.984 },
    rows: ["torus:5x5x5@50GB/s,0.5us", "mesh:10x10@50GB/s,0.5us", "grid:5x5x5@50GB/s,0.5us"].map((network) => ({
      network,
      sizeBytes: GB,
      paper: { efficiency: 0.984 },
    })),
  },
  {
    id: "2023 table I",
    title: "Ring_FC_Switch of 1 to 64 nodes, greedy (section VIII-B)",
    says: "greedy 4.80 x faster than Direct on average",
    guessed: "1 GB, bandwidths per link; the paper's last column is headed Greedy, its text calls it Direct",
    rows: TABLE_I.map(({ nodes, synthesisMs, printed: [greedy, taccl, ring, direct] }) => ({
      network: rfs(nodes),
      reading: PER_LINK,
      sizeBytes: GB,
      chunks: rfsChunks(nodes),
      paper: {
        // Above 64 NPUs its ILP found nothing, and 1.00 is greedy over itself.
        ...(nodes <= 8 ? { ofOptimum: greedy } : {}),
        synthesisMs,
        rivals: { ring: ring / greedy, direct: direct / greedy, ...(taccl === null ? {} : { taccl: taccl / greedy }) },
      },
    })),
  },
  {
    id: "2023 figure 19",
    title: "Small systems (section VIII-A)",
    says: "greedy 3.17 x faster than Ring and Direct on average",
    guessed: "1 GB, bandwidths per link",
    averages: { speedup: 3.17 },
    rows: ["mesh:5x5@100GB/s,0.5us", "dragonfly:4x5@400,200GB/s", `switch:8*switch:4@300,25GB/s,${HALF}`].map(
      (network) => ({ network, sizeBytes: GB, paper: {} }),
    ),
  },
  {
    id: "2023 figure 21",
    title: "10x10 mesh, 1 to 64 chunks per NPU (section VIII-C)",
    says: "on average 4.51 x faster than Ring and 11.00 x than Direct; 57.87 s for the largest",
    guessed: "25 MB a chunk per NPU of the whole buffer",
    averages: { ring: 4.51, direct: 11.0 },
    rows: [1, 4, 16, 64].map((chunks) => ({
      network: "mesh:10x10@100GB/s,0.5us",
      sizeBytes: 25 * MB * chunks,
      chunks: [chunks],
      paper: chunks === 64 ? { synthesisMs: 57_870 } : {},
    })),
  },
  {
    id: "2023 table III",
    title: "4x4 mesh with failed NPUs 7 and 9, greedy (section VIII-E)",
    says: "the optimum; 3.01 x faster than the baselines on average",
    guessed: "1 GB, 100 GB/s, 0.5 us",
    rows: [
      {
        network: "mesh:4x4@100GB/s,0.5us",
        without: ["7", "9"],
        sizeBytes: GB,
        paper: { ofOptimum: 1, synthesisMs: 3.53, rivals: { taccl: 1, ring: 5.38, direct: 5.08 } },
      },
    ],
  },
  {
    id: "2023 table IV",
    title: "Other collectives on a 6x6 mesh, its ILP (section VIII-F)",
    says: "the optimum, in 0.10 s (broadcast) and 56.13 s (gather)",
    guessed: "36 MB, 100 GB/s, 0.5 us; one chunk",
    rows: [
      { collective: "broadcast", rivals: { taccl: 1, direct: 3.9 }, synthesisMs: 100 },
      { collective: "reduce", rivals: { taccl: 1, direct: 3.9 }, synthesisMs: 100 },
      { collective: "gather", rivals: { taccl: 1.11, direct: 1.67 }, synthesisMs: 56_130 },
      { collective: "scatter", rivals: { taccl: 1.11, direct: 1.67 }, synthesisMs: 56_130 },
    ].map(({ collective, rivals, synthesisMs }) => ({
      network: "mesh:6x6@100GB/s,0.5us",
      collective,
      sizeBytes: 36 * MB,
      chunks: [1],
      paper: { ofOptimum: 1, synthesisMs, rivals },
    })),
  },
  {
    id: "2023 table V",
    title: "Three collectives at once on a 6x6 mesh: broadcast from 2, reduce to 17, all-gather (section VIII-G)",
    says: "greedy 1.25 x the optimum",
    guessed: "100 GB/s, 0.5 us; a chunk of 1 MB; the bound stands for the optimum",
    rows: [
      { chunks: 1, name: "one chunk per NPU, one to broadcast and to reduce", broadcastMB: 1 },
      { chunks: 36, name: "equal bytes: 36 chunks to broadcast and to reduce", broadcastMB: 36 },
    ].map(({ chunks, name, broadcastMB }) => ({
      network: "mesh:6x6@100GB/s,0.5us",
      reading: name,
      collective: "three",
      sizeBytes: (36 + 2 * broadcastMB) * MB,
      chunks: [1],
      together: [
        { collective: "allgather", sizeBytes: 36 * MB, chunks: 1 },
        { collective: "broadcast", root: 2, sizeBytes: broadcastMB * MB, chunks },
        { collective: "reduce", root: 17, sizeBytes: broadcastMB * MB, chunks },
      ],
      paper: chunks === 1 ? { ofOptimum: 1.25, synthesisMs: 3.67, rivals: { taccl: 1.2, direct: 2.904 } } : {},
    })),
  },
];

/** What else the papers report, and why it is not in a table above. */
export const LEFT_OUT = [
  ["2024 figure 19", "synthesis time up to 43,000 NPUs: its own benchmark"],
  ["2024 figures 20, 21", "training time of whole models: no model of computation here"],
  ["2023 table II", "early termination and time clustering of the ILP: bench ilp"],
];

/** Row defaults. */
export const rowOf = (row) => ({ collective: "allreduce", chunks: ALL_CHUNKS, without: [], reading: "", ...row });
