import { describe, expect, it } from "vitest";
import { cablesOf, labNetwork } from "../../src/lab/network.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { linkCount } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { outOfRange } from "../support/refusals.ts";

describe("a network scaled down", () => {
  it.each(["ring:4", "ring:8", "mesh:4x4", "torus:4x4", "dgx-a100:2", "hypercube:4"])(
    "of %s has links as much slower as each other, which two cores carry",
    (name) => {
      const topology = presetTopology(name);
      const { topology: scaled, factor, fastestBitsPerSecond } = labNetwork(topology, null);
      const total = scaled.linkBytesPerSecond.reduce((sum, rate) => sum + 8 * rate, 0);
      expect(total).toBeLessThanOrEqual(1.61e9);
      expect(Math.max(...scaled.linkBytesPerSecond) * 8).toBeCloseTo(fastestBitsPerSecond, -1);
      expect(fastestBitsPerSecond).toBeLessThanOrEqual(2e8);
      const merged = topology.linkBytesPerSecond.reduce((sum, rate) => sum + rate, 0);
      expect(total / 8 / merged).toBeCloseTo(1 / factor, 6);
    },
  );

  it("gets the rate that is asked for at its fastest link", () => {
    const { topology, factor } = labNetwork(presetTopology("ring:4@25GB/s"), 2e7);
    expect(topology.linkBytesPerSecond.every((rate) => rate === 2.5e6)).toBe(true);
    expect(factor).toBe(10_000);
  });

  it("has parallel links as one of their bandwidth together", () => {
    const builder = topologyBuilder("double");
    const [a, b] = [builder.addNpu("a"), builder.addNpu("b")];
    builder.addLink(a, b, 3e9, 0);
    builder.addLink(a, b, 5e9, 0);
    builder.addLink(b, a, 4e9, 0);
    const { topology } = labNetwork(builder.build(), 1e8);
    expect([...topology.linkBytesPerSecond]).toEqual([12_500_000, 6_250_000]);
    expect(cablesOf(topology)).toEqual([{ ends: [0, 1], links: [0, 1] }]);
  });

  it("says whether its times mean something", () => {
    expect(labNetwork(presetTopology("torus:4x4"), null).isTimed).toBe(true);
    expect(labNetwork(presetTopology("ring:17"), null).isTimed).toBe(false);
    expect(linkCount(presetTopology("hypercube:5"))).toBeGreaterThan(64);
    expect(labNetwork(presetTopology("fc:9"), null).isTimed).toBe(false);
  });
});

describe("a network that no laboratory has", () => {
  it("has too many NPUs, or only one", () => {
    expect(() => labNetwork(presetTopology("ring:65"), null)).toThrow(outOfRange("the network", 65));
    expect(() => labNetwork(topologyWith(1), null)).toThrow(outOfRange("the network", 1));
  });

  it("has too many links, or links that are too slow", () => {
    expect(() => labNetwork(presetTopology("fc:40"), null)).toThrow(outOfRange("the network", 1560));
    expect(() => labNetwork(presetTopology("ring:4"), 4000)).toThrow(outOfRange("--rate", 4000));
  });
});

function topologyWith(npus: number) {
  const builder = topologyBuilder("few");
  for (let npu = 0; npu < npus; npu++) builder.addNpu(`${npu}`);
  return builder.build();
}
