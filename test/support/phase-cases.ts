import type { LineAlgorithm, LineKind, NetworkDimension } from "../../src/model/dimensions/dimensions.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import type { Topology } from "../../src/model/topology/topology.ts";

/** A network with its dimensions, written down by hand. */
export interface PhaseNetwork {
  readonly topology: Topology;
  readonly dimensions: readonly NetworkDimension[];
  readonly algorithms: readonly LineAlgorithm[];
  /** NPUs of groups in rank order; without them one of all NPUs. */
  readonly groups?: readonly Int32Array[];
}

type Row = readonly [kind: LineKind, size: number, bytesPerSecond: number, stepPs: number, algorithm: LineAlgorithm];

const network = (preset: string, ...rows: readonly Row[]): PhaseNetwork => ({
  topology: presetTopology(preset),
  dimensions: rows.map(([kind, size, bytesPerSecond, stepPs, algorithm]) => ({
    kind,
    size,
    bytesPerSecond,
    stepPs,
    inNetwork: algorithm === "offload",
  })),
  algorithms: rows.map(([, , , , algorithm]) => algorithm),
});

/** The same for groups that have these dimensions. */
const among = (groups: readonly (readonly number[])[], own: PhaseNetwork): PhaseNetwork => ({
  ...own,
  groups: groups.map((members) => Int32Array.from(members)),
});

/** Networks whose links are 50 GB/s with 0.5 us, unless a box says otherwise. */
export const PHASE_NETWORKS: Readonly<Record<string, PhaseNetwork>> = {
  torus: network("torus:4x3", ["ring", 4, 100e9, 500_000, "ring"], ["ring", 3, 100e9, 500_000, "ring"]),
  mesh: network("mesh:2x3", ["line", 2, 50e9, 500_000, "line"], ["line", 3, 50e9, 500_000, "line"]),
  box: network("fc:4", ["fc", 4, 150e9, 500_000, "direct"]),
  hypercube: network(
    "hypercube:3",
    ["ring", 2, 50e9, 500_000, "ring"],
    ["fc", 2, 50e9, 500_000, "direct"],
    ["line", 2, 50e9, 500_000, "line"],
  ),
  "one switch for all": network(
    "dgx-a100:2",
    ["switch", 8, 300e9, 1_000_000, "halving-doubling"],
    ["switch", 2, 25e9, 5_000_000, "direct"],
  ),
  rails: network("dgx-h100:3", ["switch", 8, 450e9, 1_000_000, "offload"], ["switch", 3, 50e9, 5_000_000, "ring"]),
  "two rows of a torus": among(
    [
      [0, 1, 2, 3],
      [11, 10, 9, 8],
    ],
    network("torus:4x3", ["ring", 4, 100e9, 500_000, "ring"]),
  ),
  "quarters of switches": among(
    [
      [0, 2, 8, 10],
      [1, 3, 9, 11],
      [7, 5, 15, 13],
    ],
    network(
      "switch:8*switch:2@50,25GB/s",
      ["switch", 2, 50e9, 1_000_000, "halving-doubling"],
      ["switch", 2, 25e9, 1_000_000, "direct"],
    ),
  ),
  "two of three dimensions": among(
    [
      [0, 2, 8, 10, 16, 18, 24, 26],
      [4, 6, 12, 14, 20, 22, 28, 30],
    ],
    network("switch:2*fc:4*ring:4", ["fc", 2, 50e9, 500_000, "direct"], ["ring", 4, 100e9, 500_000, "ring"]),
  ),
  "a part of a ring and of a box": among(
    [[1, 2, 3, 9, 10, 11]],
    network("ring:4*fc:4", ["line", 3, 50e9, 500_000, "line"], ["fc", 2, 50e9, 500_000, "direct"]),
  ),
  "parts of rails": among(
    [
      [0, 1, 2, 3, 8, 9, 10, 11],
      [4, 5, 6, 7, 12, 13, 14, 15],
    ],
    network("dgx-h100:3", ["switch", 4, 450e9, 1_000_000, "offload"], ["switch", 2, 50e9, 5_000_000, "ring"]),
  ),
};
