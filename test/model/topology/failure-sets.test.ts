import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { everySet, poolOf, randomSets } from "../../../src/model/topology/failure-sets.ts";

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => String(i));

/** All sets of a size, by recursion. */
function brute(list: readonly string[], size: number): string[][] {
  if (size === 0) return [[]];
  return list.flatMap((name, i) => brute(list.slice(i + 1), size - 1).map((rest) => [name, ...rest]));
}

describe("sets of failures", () => {
  it("are every one of a size, in order", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 1, max: 5 }), (count, size) => {
        const { count: sets, at } = everySet(names(count), size);
        expect(Array.from({ length: sets }, (_, i) => at(i))).toEqual(brute(names(count), size));
      }),
    );
  });

  it("are found among many by their number alone", () => {
    const { count, at } = everySet(names(4096), 2);
    expect(count).toBe((4096 * 4095) / 2);
    expect([at(0), at(4094), at(4095), at(count - 1)]).toEqual([
      ["0", "1"],
      ["0", "4095"],
      ["1", "2"],
      ["4094", "4095"],
    ]);
  });

  it("are drawn by seed and number: different members, all of them about as often", () => {
    const { count, at } = randomSets(names(10), 3, 4000, 5);
    const seen = new Map<string, number>();
    for (let i = 0; i < count; i++) {
      const set = at(i);
      expect(new Set(set).size).toBe(3);
      for (const name of set) seen.set(name, (seen.get(name) ?? 0) + 1);
    }
    expect(randomSets(names(10), 3, 4000, 5).at(17)).toEqual(at(17));
    expect(randomSets(names(10), 3, 4000, 6).at(17)).not.toEqual(at(17));
    for (const often of seen.values()) expect(Math.abs(often - 1200)).toBeLessThan(150);
    expect(randomSets(names(2), 3, 10, 1).count).toBe(0);
  });

  it("come from pools of cables, NICs' cables, switches, NPUs and boxes", () => {
    const dgx = presetTopology("dgx-h100:4");
    const sizes = (["links", "nics", "switches", "npus", "boxes"] as const).map(
      (pool) => poolOf(dgx, pool, "p").length,
    );
    expect(sizes).toEqual([64, 32, 12, 32, 4]);
    expect(poolOf(dgx, "nics", "p")[0]).toMatch(/rail/);
    expect(() => poolOf(presetTopology("mesh:3x3"), "nics", "here")).toThrow(
      "here: mesh:3x3 has no boxes of NPUs, so none of its cables is a NIC's",
    );
  });
});
