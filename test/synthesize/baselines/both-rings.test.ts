import { describe, expect, it } from "vitest";
import { switchingFor } from "../../../src/simulate/simulate.ts";
import { simulateSchedule } from "../../../src/simulate/steps/replay.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { baselineSchedule } from "../../support/baselines.ts";

/** The networks on which the papers compare with rings, small ones of each kind. */
const NETWORKS: Readonly<Record<string, readonly string[]>> = {
  "TACOS 2024": [
    "dragonfly:4x5@400,200GB/s",
    "switch:8*switch:4@300,25GB/s,0.25us",
    "ring:2*fc:4*switch:4@200,100,50GB/s,0.5us,0.5us,0.25us",
    "torus:4x4x4@25GB/s,0.7us",
    "grid:4x4x4@25GB/s,0.7us",
    "mesh:5x5@100GB/s,0.5us",
    "torus:8x8",
    "hypercube:4",
    "dgx1",
  ],
  "TACOS 2023": ["ring:2*fc:4@200,100GB/s,0.5us", "mesh:4x4@50GB/s,0.5us"],
  TACCL: ["ndv2:2", "dgx2:2"],
  SCCL: ["dgx1", "ring:8"],
  Themis: ["switch:8*switch:8@400,25GB/s", "ring:4*fc:4*switch:2@300,50,25GB/s", "switch:4*switch:4@96,48GB/s,0us"],
  "Zhao, chapter 3 (BFB)": ["torus:3x20", "torus:6x8", "circulant:16,1,3", "hypercube:6"],
  "Zhao, chapter 4 (ForestColl)": [
    "dgx-a100:2",
    "dgx-h100:2",
    "mi250:2",
    "fat-tree:4x8,leaf=2,tiers=2,oversub=2",
    "switch:8",
    "mi300x",
  ],
};

describe("rings", () => {
  it.each(Object.entries(NETWORKS).flatMap(([paper, names]) => names.map((name) => [paper, name] as const)))(
    "go one way and both ways on the networks of %s: %s",
    async (_, name) => {
      const us: Record<string, number> = {};
      for (const policy of ["natural", "bidirectional"]) {
        const asked = {
          algorithm: "ring",
          network: name,
          kind: "allreduce",
          policy,
          chunks: 2,
          sizeBytes: 2 ** 26,
        } as const;
        const schedule = await baselineSchedule(asked);
        expect(verifySchedule(schedule).violations).toEqual([]);
        us[policy] = simulateSchedule(schedule, { switching: switchingFor(schedule) }).ps / 1e6;
      }
      // twice as fast at most; hops of several links, as those from row to row of a mesh, may meet where both ways are used
      const [one, both] = [us["natural"] as number, us["bidirectional"] as number];
      expect(both).toBeGreaterThan(one / 2.1);
      expect(both).toBeLessThan(one * 1.05);
    },
  );
});
