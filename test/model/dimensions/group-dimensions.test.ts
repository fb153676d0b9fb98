import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dimensionsOf, wiringOf } from "../../../src/model/dimensions/dimensions.ts";
import { groupDimensions } from "../../../src/model/dimensions/group-dimensions.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { groupsAlong } from "../../support/groups-along.ts";

/** Returns "ring:4@100" for each dimension of groups, or what is needed instead. */
function shown(preset: string, groups: readonly (readonly number[])[]): string {
  const found = groupDimensions(wiringOf(presetTopology(preset)) ?? [], {
    groupCount: groups.length,
    groupSize: groups[0]?.length ?? 0,
    groupMembers: Int32Array.from(groups.flat()),
  });
  if (typeof found === "string") return `needs ${found}`;
  return found.map(({ kind, size, bytesPerSecond }) => `${kind}:${size}@${bytesPerSecond / 1e9}`).join(" ");
}

const upTo = (many: number, from = 0, step = 1): number[] => Array.from({ length: many }, (_, i) => from + i * step);

describe("groupDimensions", () => {
  it.each<[string, string, number[][]]>([
    ["fc:16", "fc:8@350", [upTo(8), upTo(8, 8)]],
    ["fc:16", "fc:8@350", [upTo(8, 0, 2), upTo(8, 1, 2)]],
    ["fc:16", "fc:4@150", [[3, 1, 14, 7]]],
    ["switch:16", "switch:8@50", [upTo(8), upTo(8, 8)]],
    ["switch:16*switch:2", "switch:4@50 switch:2@50", [[0, 4, 8, 12, 16, 20, 24, 28]]],
    ["ring:8", "line:4@50", [[2, 3, 4, 5]]],
    ["ring:8", "line:3@50", [[7, 0, 1]]],
    ["ring:8", "ring:8@100", [[3, 2, 1, 0, 7, 6, 5, 4]]],
    [
      "ring:8",
      "fc:2@50",
      [
        [0, 1],
        [5, 4],
        [7, 6],
      ],
    ],
    ["mesh:4x4", "line:3@50 line:4@50", [[1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15]]],
    ["torus:4x5", "ring:5@100 ring:4@100", [upTo(4).flatMap((x) => upTo(5, x, 4))]],
    ["dgx-a100:2", "switch:8@300", [upTo(8), upTo(8, 8)]],
    ["dgx-h100:4", "switch:4@50", upTo(8).map((gpu) => upTo(4, gpu, 8))],
  ])("on %s: %s", (preset, dimensions, groups) => {
    expect(shown(preset, groups)).toBe(dimensions);
  });

  it.each<[string, number[][]]>([
    ["torus:4x4", [[0, 5]]],
    ["torus:4x4", [[0, 1, 4]]],
    ["torus:4x4", [[0, 1, 5, 4]]],
    ["torus:4x4", [[0, 1, 4, 6]]],
    ["ring:8", [[0, 2, 4, 6]]],
    ["ring:8", [[0, 1, 3, 2]]],
    ["mesh:4x4", [[3, 0]]],
    [
      "torus:4x4",
      [
        [0, 1],
        [0, 4],
      ],
    ],
    [
      "torus:4x4",
      [
        [0, 1],
        [4, 8],
      ],
    ],
    [
      "torus:4x4",
      [
        [0, 1, 2, 3],
        [4, 8, 12, 0],
      ],
    ],
    ["fc:4*ring:4", [[0], [1]]],
  ])("refuses on %s: %j", (preset, groups) => {
    expect(shown(preset, groups)).toMatch(/^needs groups /);
  });

  it("has the network's own where all take part in order", () => {
    for (const preset of ["torus:4x3", "ring:3*switch:4*fc:2*line:3", "dgx-h100:3", "hypercube:4", "themis:2d-sw-sw"]) {
      const topology = presetTopology(preset);
      const own = dimensionsOf(topology) ?? [];
      const found = groupDimensions(wiringOf(topology) ?? [], {
        groupCount: 1,
        groupSize: topology.npuCount,
        groupMembers: Int32Array.from({ length: topology.npuCount }, (_, npu) => npu),
      });
      expect(found).toMatchObject(
        own.map(({ kind, size, bytesPerSecond, stepPs }) => ({ kind, size, bytesPerSecond, stepPs })),
      );
    }
  });

  it("has those of a network of some dimensions only, for all groups along these, in any order of the dimensions", () => {
    const factor = fc.constantFrom("ring:4", "ring:3", "line:3", "fc:4", "switch:3", "switch:2", "ring:2");
    fc.assert(
      fc.property(fc.array(factor, { minLength: 1, maxLength: 4 }), fc.nat(), fc.nat(), (factors, any, shift) => {
        const topology = presetTopology(factors.join("*"));
        const sizes = factors.map((one) => Number(one.split(":")[1]));
        const chosen = factors.flatMap((_, d) => (((1 + (any % (2 ** factors.length - 1))) >> d) & 1 ? [d] : []));
        const turned = chosen.map((_, i) => chosen[(i + shift) % chosen.length] as number);
        const groups = groupsAlong(sizes, turned);
        const alone = dimensionsOf(presetTopology(turned.map((d) => factors[d]).join("*")));
        const found = groupDimensions(wiringOf(topology) ?? [], {
          groupCount: groups.length,
          groupSize: groups[0]?.length ?? 0,
          groupMembers: Int32Array.from(groups.flat()),
        });
        const plain = ({ kind, size, bytesPerSecond, stepPs }: NonNullable<typeof alone>[0]) => [
          kind,
          size,
          bytesPerSecond,
          stepPs,
        ];
        expect(typeof found === "string" ? found : found.map(plain)).toEqual(alone?.map(plain));
      }),
    );
  });
});
