import { describe, expect, it } from "vitest";
import { rational } from "../../../src/model/numbers/rational.ts";
import { expandTrees } from "../../../src/model/trees/tree-expansion.ts";
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
