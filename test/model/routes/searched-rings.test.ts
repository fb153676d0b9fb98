import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { ringDecomposition, whyNoRing } from "../../../src/model/routes/rings.ts";
import { searchedCycles } from "../../../src/model/routes/searched-rings.ts";

describe("rings of more than 16 NPUs", () => {
  it.each([
    ["hypercube:5", 2],
    ["hypercube:6", 3],
    ["circulant:30,1,7", 2],
    ["H(2,5)", 4],
    ["fc:24", 11],
  ])("%s: %d cycles through all, both ways, that share no bandwidth", (name, count) => {
    const topology = presetTopology(name);
    const { rings, bytesPerSecond } = ringDecomposition(topology);
    expect(rings.length).toBe(2 * count);
    const left = new Map<string, number>();
    topology.linkSource.forEach((from, link) => {
      const pair = `${from}>${topology.linkTarget[link]}`;
      left.set(pair, (left.get(pair) ?? 0) + (topology.linkBytesPerSecond[link] as number));
    });
    for (const ring of rings) {
      expect([...ring].sort((a, b) => a - b)).toEqual([...Array(topology.npuCount).keys()]);
      ring.forEach((from, i) => {
        const pair = `${from}>${ring[(i + 1) % ring.length]}`;
        left.set(pair, (left.get(pair) ?? 0) - bytesPerSecond);
      });
    }
    expect(Math.min(...left.values())).toBeGreaterThanOrEqual(0);
  });

  it("are none where links go one way or no cycle is there", () => {
    expect(searchedCycles(presetTopology("Kautz(2,4)"))).toBeNull();
    expect(searchedCycles(presetTopology("mesh:5x5"))).toBeNull();
    expect(whyNoRing(presetTopology("line:20"))).toContain("a cycle of links both ways");
  });
});
