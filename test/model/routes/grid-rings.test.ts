import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { gridCycles } from "../../../src/model/routes/grid-rings.ts";
import { ringDecomposition, whyNoRing } from "../../../src/model/routes/rings.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { runs } from "../../support/runs.ts";

/** Every ring passes all NPUs once, and together they use no more of any pair's links than there is. */
function expectDisjoint(topology: Topology, rings: readonly Int32Array[], bytesPerSecond: number): void {
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond } = topology;
  const free = new Map<string, number>();
  linkSource.forEach((from, link) => {
    const key = `${from} ${linkTarget[link]}`;
    free.set(key, (free.get(key) ?? 0) + (linkBytesPerSecond[link] as number));
  });
  for (const ring of rings) {
    expect([...ring].sort((a, b) => a - b)).toEqual(Array.from({ length: npuCount }, (_, npu) => npu));
    ring.forEach((npu, i) => {
      const key = `${npu} ${ring[(i + 1) % npuCount]}`;
      free.set(key, (free.get(key) ?? 0) - bytesPerSecond);
    });
  }
  expect(Math.min(...free.values())).toBeGreaterThanOrEqual(0);
}

/** Links of an NPU of a torus in pairs: rings have one, two dimensions of two NPUs together one. */
const pairsOf = (sizes: readonly number[]): number =>
  sizes.filter((size) => size > 2).length + Math.floor(sizes.filter((size) => size === 2).length / 2);

describe("Hamiltonian cycles of a torus", () => {
  it("are as many as an NPU has pairs of links, and share none", () => {
    const sizes = fc.array(fc.integer({ min: 2, max: 9 }), { minLength: 2, maxLength: 4 });
    const small = sizes.filter((sides) => sides.reduce((a, b) => a * b) <= 512 && pairsOf(sides) > 0);
    const property = fc.property(small, (sides) => {
      const topology = presetTopology(`torus:${sides.join("x")}`);
      const found = gridCycles(topology);
      expect(found?.cycles.length).toBe(pairsOf(sides));
      expectDisjoint(topology, found?.cycles ?? [], found?.bytesPerSecond ?? 0);
    });
    fc.assert(property, { numRuns: runs(200), seed: 3 });
  });

  it.each([
    ["torus:4x4x4", 3],
    ["torus:8x8x8", 3],
    ["torus:4x4x4@100,50,50GB/s", 4],
    ["hypercube:5", 2],
    ["hypercube:9", 4],
    ["ring:64", 1],
    ["grid:3x3x4", 1],
    ["mesh:10x10", 1],
  ])("%s: %d, each a ring there and one back", (network, cycles) => {
    const topology = presetTopology(network);
    const { rings, bytesPerSecond, bound } = ringDecomposition(topology);
    expect(rings.length).toBe(2 * cycles);
    expect(bound).toBeGreaterThanOrEqual(rings.length);
    expectDisjoint(topology, rings, bytesPerSecond);
    expect(whyNoRing(topology)).toBeNull();
  });

  it.each(["mesh:5x5", "mesh:5x7", "torus:9x9x9", "switch:20", "dgx-a100:4", "circulant:20,3,4"])(
    "are not looked for on %s",
    (network) => {
      expect(gridCycles(presetTopology(network))).toBeNull();
    },
  );

  it("are the same each time", () => {
    const [one, two] = [1, 2].map(() => gridCycles(presetTopology("torus:5x6x4")));
    expect(one).toEqual(two);
    expect(one).not.toBe(two);
  });
});
