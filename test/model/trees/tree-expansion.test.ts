import { describe, expect, it } from "vitest";
import { collective } from "../../../src/model/collective/collective.ts";
import { rational } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { expandTrees } from "../../../src/model/trees/tree-expansion.ts";
import type { Forest } from "../../../src/model/trees/tree-flow.ts";
import { type SymmetricForest, symmetricForest } from "../../../src/synthesize/forestcoll/grow.ts";
import { optimumOf, symmetryOf } from "../../support/forest-of-orbits.ts";
import { groupElements } from "../../support/group-elements.ts";
import { outOfRange } from "../../support/refusals.ts";
import { forestOf, ringFlow, rotatedRingFlow } from "../../support/tree-flows.ts";

describe("expandTrees", () => {
  it("writes a turned tree behind each listed one", () => {
    const whole = expandTrees(rotatedRingFlow(5, 1e9, 10, 100));
    const [{ root, links, linkOffset }] = whole.forests;
    expect([...root]).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
    expect(whole.symmetry).toBeNull();
    const trees = ringFlow(5, 1e9, 10, 100).forests[0];
    const byRoot = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9].flatMap((tree) => [...trees.links.slice(4 * tree, 4 * tree + 4)]);
    expect([...links]).toEqual(byRoot);
    expect([...linkOffset]).toEqual(Array.from({ length: 41 }, (_, i) => i));
  });

  it("writes the images under the elements of a group of three dimensions, the first one fastest", () => {
    const topology = presetTopology("fat-tree:4x6,leaf=2,tiers=2");
    const symmetry = symmetryOf(topology);
    expect(symmetry.sizes.length).toBeGreaterThan(1);
    const { k, U } = optimumOf(topology);
    const { trees } = symmetricForest(topology, symmetry, k, U) as SymmetricForest;
    const groups = [Int32Array.from({ length: 24 }, (_, npu) => npu)];
    const all = collective({ kind: "allgather", groups, sizeBytes: 24e6, chunksPerNpu: 1, rootRank: 0 });
    const listed = { direction: "out", ...trees, copyBytesPerSecond: rational(1) } as const;
    const flow = {
      kind: "trees",
      topology,
      collective: all,
      forests: [listed],
      concurrent: false,
      certificate: null,
    } as const;
    const [whole] = expandTrees({ ...flow, symmetry }).forests;
    const elements = [...groupElements(topology, symmetry)];
    expect(whole.root.length).toBe(24 * trees.root.length);
    whole.root.forEach((root, image) => {
      const [tree, map] = [Math.floor(image / 24), elements[image % 24]];
      expect(root).toBe(map?.node[trees.root[tree] as number]);
      for (let e = 0; e < 23; e++) {
        const linksOf = ({ links, linkOffset }: Pick<Forest, "links" | "linkOffset">, edge: number): number[] => [
          ...links.subarray(linkOffset[edge], linkOffset[edge + 1]),
        ];
        expect(linksOf(whole, 23 * image + e)).toEqual(linksOf(trees, 23 * tree + e).map((link) => map?.link[link]));
      }
    });
  });

  it("leaves a flow without symmetry as it is", () => {
    const flow = ringFlow(4, 1e9, 10, 100);
    expect(expandTrees(flow)).toBe(flow);
  });

  it("refuses flows of too many links before it makes room", () => {
    const flow = ringFlow(4, 1e9, 10, 100);
    const symmetry = { sizes: [2 ** 25], steps: [Int32Array.of(0, 1, 2, 3)] };
    expect(() => expandTrees({ ...flow, symmetry })).toThrow(
      outOfRange("a tree flow to be written out", 805306368, 268435456),
    );
  });
});

it("a forest of no trees expands to none", () => {
  const flow = rotatedRingFlow(3, 1e9, 1, 9);
  const none = { ...flow, forests: [forestOf(flow.topology, "out", [], rational(1))] };
  expect(expandTrees(none).forests[0].linkOffset).toEqual(new Float64Array(1));
});
