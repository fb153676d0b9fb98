import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { groupSize, meshGroups, meshOf } from "../../../src/model/tensor-plan/mesh.ts";
import { alikePieces } from "../../../src/model/topology/pieces.ts";

describe("the parts of a network that are groups' own", () => {
  it.each([
    ["torus:4x4", [4, 4], 0b01, [4]],
    ["torus:4x4", [4, 4], 0b10, [4]],
    ["torus:4x3x2", [2, 3, 4], 0b011, [3, 2]],
    ["torus:4x3x2", [2, 3, 4], 0b101, [4, 2]],
    ["dgx-h100:3", [3, 8], 0b10, [8]],
    ["dgx-h100:3", [3, 8], 0b01, [3]],
    ["switch:6*switch:4@900,50GB/s,0.5us", [4, 3, 2], 0b011, [3, 4]],
    ["switch:6*switch:4@900,50GB/s,0.5us", [4, 3, 2], 0b100, [2]],
  ] as const)(
    "share no link, are all alike, and join the NPUs by their ranks (%s, %j, axes %i)",
    (name, sizes, set, shape) => {
      const topology = presetTopology(name);
      const mesh = meshOf(sizes);
      const [members, size] = [meshGroups(mesh, set), groupSize(mesh, set)];
      const pieces = alikePieces(topology, members, size);
      if (pieces === null) throw new Error("no pieces");
      const { topology: part, links } = pieces;
      expect(part.npuCount).toBe(size);
      expect(part.shape).toEqual(shape);
      expect(links.length).toBe(mesh.npuCount / size);
      const all = links.flatMap((own) => [...own]);
      expect(new Set(all).size).toBe(all.length);
      for (const [g, own] of links.entries()) {
        expect(own.length).toBe(part.linkSource.length);
        const image = new Map<number, number>();
        for (let rank = 0; rank < size; rank++) image.set(rank, members[g * size + rank]);
        own.forEach((link, i) => {
          for (const [inPart, inAll] of [
            [part.linkSource, topology.linkSource],
            [part.linkTarget, topology.linkTarget],
          ] as const) {
            if (!image.has(inPart[i])) image.set(inPart[i], inAll[link]);
            expect(image.get(inPart[i])).toBe(inAll[link]);
          }
          expect(topology.linkBytesPerSecond[link]).toBe(part.linkBytesPerSecond[i]);
          expect(topology.linkLatencyPs[link]).toBe(part.linkLatencyPs[i]);
        });
        expect(new Set(image.values()).size).toBe(image.size);
      }
    },
  );

  it("are the same for groups along any axis of a torus of equal sides", () => {
    const topology = presetTopology("torus:3x3x3");
    const mesh = meshOf([3, 3, 3]);
    const keys = [0b001, 0b010, 0b100].map((set) => alikePieces(topology, meshGroups(mesh, set), 3)?.key);
    expect(keys[0]).toBeDefined();
    expect(new Set(keys).size).toBe(1);
  });

  it.each([
    ["all NPUs", "ring:4", [0, 1, 2, 3], 4],
    ["NPUs that others lie between", "ring:4", [0, 2, 1, 3], 2],
    ["groups of which one is nearer together", "mesh:4x1", [0, 1, 2, 3, 0, 3], 2],
    ["a link that two groups have", "ring:4", [0, 1, 2, 1, 2, 3], 3],
    ["ways that are longer without the others", "ring:6", [0, 1, 2, 3, 4], 5],
  ] as const)("are none of %s", (_, name, members, size) => {
    expect(alikePieces(presetTopology(name), Int32Array.from(members), size)).toBeNull();
  });
});
