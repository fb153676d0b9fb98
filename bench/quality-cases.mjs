// The networks on which quality is measured, and what is asked of each group.
import { HARD_NETWORKS, HARD_REQUIREMENTS } from "./hard-cases.mjs";

const DEFAULT_LINK = "50GiB/s,0.5us";
const MESHES = ["10x10", "5x5", "7x12", "8x8", "16x16", "20x20", "31x31"];
const GRIDS = ["3x4x5", "5x5x5", "10x10x10"];
const BANDWIDTHS = [
  [50, 75],
  [80, 35],
  [16, 73],
];

const range = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const plain = (group, family, shape) => ({ group, network: `${family}:${shape}@${DEFAULT_LINK}` });

/** Two bandwidths, in both orientations; the third dimension of a grid has the first one's. */
function mixed(family, shape) {
  const dimensions = shape.split("x").length;
  return BANDWIDTHS.flatMap(([a, b]) =>
    [
      [a, b, a],
      [b, a, b],
    ].map((order) => ({
      group: "two bandwidths",
      network: `${family}:${shape}@${order.slice(0, dimensions).join(",")}GiB/s,0.5us`,
    })),
  );
}

const cubes = range(3, 10).flatMap((a) =>
  range(a, 10).flatMap((b) => range(b, 10).map((c) => plain("3D torus", "torus", `${a}x${b}x${c}`))),
);

/**
 * All-gathers of 1 GiB, one chunk per NPU unless it says `chunks`. `network` is the name, and the preset expression where there
 * is no `topology`. `side` of square tori.
 */
export const NETWORKS = [
  ...MESHES.map((shape) => plain("mesh", "mesh", shape)),
  ...GRIDS.map((shape) => plain("grid", "grid", shape)),
  ...MESHES.flatMap((shape) => mixed("mesh", shape)),
  ...GRIDS.flatMap((shape) => mixed("grid", shape)),
  ...range(3, 40).map((n) => ({ ...plain("square torus", "torus", `${n}x${n}`), side: n })),
  ...cubes,
  ...["mesh:2x50", "mesh:3x33", "mesh:5x20", "grid:2x5x10", "torus:3x20"].map((network) => ({
    group: "elongated",
    network: `${network}@${DEFAULT_LINK}`,
  })),
  ...HARD_NETWORKS,
];

const LESS_THAN_A_SLOT = 1 + 1e-9;
const inGroups =
  (...groups) =>
  (row) =>
    groups.includes(row.group);

/** What the networks must show: which rows, and what holds of each. An aim is reported and not required. */
export const REQUIREMENTS = [
  { text: "meshes and grids: optimality >= 0.999", of: inGroups("mesh", "grid"), holds: (r) => r.optimality >= 0.999 },
  {
    text: "meshes and grids of two bandwidths, both orientations: optimality >= 0.999",
    of: inGroups("two bandwidths"),
    holds: (r) => r.optimality >= 0.999,
  },
  {
    text: "square tori 3x3 .. 40x40: at most one slot above the bound",
    of: inGroups("square torus"),
    holds: (r) => r.slotsAbove <= LESS_THAN_A_SLOT,
  },
  {
    text: "3D tori, sides 3 .. 10: at most one slot above the bound",
    of: inGroups("3D torus"),
    holds: (r) => r.slotsAbove <= LESS_THAN_A_SLOT,
  },
  { text: "tori 6x6 .. 20x20: the bound itself", of: (r) => r.side >= 6 && r.side <= 20, holds: (r) => r.atBound },
  { text: "tori 4x4 and 5x5: the bound itself", of: (r) => r.side === 4 || r.side === 5, holds: (r) => r.atBound },
  {
    text: "elongated networks: within 25 % of the bound",
    of: inGroups("elongated"),
    holds: (r) => r.timeUs <= 1.25 * r.boundUs,
  },
  {
    text: "elongated networks: within 5 % of the bound",
    aim: true,
    of: inGroups("elongated"),
    holds: (r) => r.timeUs <= 1.05 * r.boundUs,
  },
  ...HARD_REQUIREMENTS,
  { text: "every schedule verified", of: () => true, holds: (r) => r.verified },
  {
    text: "equal links: simulates to at most its own time",
    of: (r) => r.slots !== null,
    holds: (r) => r.simulatedUs <= r.timeUs,
  },
];

/** All eight collectives are shown on these. */
export const COLLECTIVE_NETWORKS = [
  { topology: "mesh:3x3" },
  { topology: "ring:8" },
  { topology: "dragonfly:4x5@400,200GB/s" },
  { topology: "switch:8" },
  { topology: "ndv2:2" },
  { topology: "mesh:4x4@50GB/s,0.5us", without: ["7", "9"] },
];

/**
 * The all-reduce of the TACOS paper's failed mesh against a ring in natural order, one way: the paper's ratio, and what is asked.
 * Judged with one chunk per NPU, the default; more chunks are shown, for both alike.
 */
export const FAILED_MESH = {
  topology: "mesh:4x4@50GB/s,0.5us",
  without: ["7", "9"],
  sizeBytes: 64 * 2 ** 20,
  chunks: [1, 2, 4, 8, 16],
  paper: 5.38,
  atLeast: 3,
};
