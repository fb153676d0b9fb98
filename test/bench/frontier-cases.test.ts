import { describe, expect, it } from "vitest";
import { NETWORKS, partsOf } from "../../bench/frontier-cases.mjs";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { degrade, unreachablePair, without } from "../../src/model/topology/modify.ts";

describe("the networks of the frontier", () => {
  it("are 60 of at most 128 NPUs, can be built, and everything still reaches everything", () => {
    const networks = Object.values(NETWORKS).flat();
    expect(new Set(networks).size).toBe(60);
    for (const network of networks) {
      const { preset, gone, slower } = partsOf(network);
      const topology = degrade(without(presetTopology(preset), gone), slower as [string, number][]);
      expect(unreachablePair(topology), network).toBeNull();
      expect(topology.npuCount, network).toBeLessThanOrEqual(128);
    }
  });
});
