import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { designOf } from "../../../src/model/dimensions/design.ts";
import { dimensionsOf } from "../../../src/model/dimensions/dimensions.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { degrade, without } from "../../../src/model/topology/modify.ts";
import { linkCount, linkNames, nodeCount, type Topology } from "../../../src/model/topology/topology.ts";

/** Returns links by name with their figures, sorted: equal lists, equal networks. */
const linesOf = (topology: Topology): string[] =>
  linkNames(topology)
    .map((name, link) => `${name} ${topology.linkBytesPerSecond[link]} ${topology.linkLatencyPs[link]}`)
    .sort();

const NETWORKS = [
  "torus:4x4",
  "mesh:4x4",
  "fc:4*ring:5",
  "switch:4*switch:4",
  "ring:4*switch:4@100,25GB/s,1,2us",
  "fc:6*fc:2",
];

describe("designOf", () => {
  it("is the network itself where that is intact", () => {
    for (const preset of [...NETWORKS, "dgx-a100:2", "dgx-h100:4"]) {
      const topology = presetTopology(preset);
      expect(designOf(topology)).toBe(topology);
    }
  });

  it("is the network before up to three links failed or slowed down, link numbers first", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...NETWORKS),
        fc.uniqueArray(fc.nat(), { minLength: 1, maxLength: 3 }),
        fc.nat(),
        (preset, picks, any) => {
          const whole = presetTopology(preset);
          const names = linkNames(whole);
          const failed = [...new Set(picks.map((pick) => names[pick % names.length] as string))];
          const left = without(whole, failed);
          const slow = linkNames(left)[any % linkCount(left)] as string;
          const hurt = degrade(left, [[slow, 0.5]]);
          const design = designOf(hurt);
          expect(linesOf(design as Topology)).toEqual(linesOf(whole));
          expect(dimensionsOf(design as Topology)).toMatchObject(
            (dimensionsOf(whole) ?? []).map(({ kind, size, bytesPerSecond, stepPs }) => ({
              kind,
              size,
              bytesPerSecond,
              stepPs,
            })),
          );
          const { linkSource, linkTarget } = design as Topology;
          expect(linkSource.subarray(0, linkCount(hurt))).toEqual(hurt.linkSource);
          expect(linkTarget.subarray(0, linkCount(hurt))).toEqual(hurt.linkTarget);
        },
      ),
    );
  });

  it("has a switch again that failed", () => {
    const whole = presetTopology("switch:4*switch:4");
    const left = without(whole, ["d1s2"]);
    const design = designOf(left) as Topology;
    expect(nodeCount(design)).toBe(nodeCount(whole));
    expect(dimensionsOf(design)).toMatchObject([
      { kind: "switch", size: 4 },
      { kind: "switch", size: 4 },
    ]);
  });

  it("has links of boxes again whose NPUs all have a group", () => {
    const left = without(presetTopology("dgx-a100:4"), ["3-ib"]);
    expect(linkCount(designOf(left) as Topology)).toBe(linkCount(left) + 2);
  });

  it.each<[string, string[]]>([
    ["torus:4x4", ["5"]],
    ["torus:4x4", ["15"]],
    ["dragonfly:4x5", []],
    ["circulant:16,1,3", []],
    ["mi100-8p6l", []],
    ["dgx1", []],
    ["dbt:8", []],
    ["switch:2*switch:2", ["0-d0s0", "3-d1s1"]],
  ])("knows none of %s without %j", (preset, failed) => {
    expect(designOf(without(presetTopology(preset), failed))).toBeNull();
  });
});
