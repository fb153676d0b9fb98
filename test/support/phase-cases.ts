import type { LineAlgorithm, LineKind, NetworkDimension } from "../../src/model/dimensions/dimensions.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import type { Topology } from "../../src/model/topology/topology.ts";

/** A network with its dimensions, written down by hand. */
export interface PhaseNetwork {
  readonly topology: Topology;
  readonly dimensions: readonly NetworkDimension[];
  readonly algorithms: readonly LineAlgorithm[];
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
};
