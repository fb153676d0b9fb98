import { describe, expect, it } from "vitest";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { rational } from "../../src/model/rational.ts";
import { topologyBuilder } from "../../src/model/topology-builder.ts";
import { expandTrees, generatorMaps, groupElements, orbitsOf } from "../../src/model/tree-expansion.ts";
import { forestOf, ringFlow, rotatedRingFlow, torusTranslations } from "../support/tree-flows.ts";

/** Two NPUs with links 1, 2, 1 GB/s each way, in another order on the way back. */
function bundles(): ReturnType<typeof presetTopology> {
  const builder = topologyBuilder("bundle");
  builder.addNpu("a");
  builder.addNpu("b");
  for (const bandwidth of [1e9, 2e9, 1e9]) builder.addLink(0, 1, bandwidth, 5);
  for (const bandwidth of [2e9, 1e9, 1e9]) builder.addLink(1, 0, bandwidth, 5);
  return builder.build();
}

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
    expect(() => expandTrees({ ...flow, symmetry })).toThrow(/at most 268435456 links of edges/);
  });
});

describe("maps of links", () => {
  it("take the k-th of equal parallel links to the k-th", () => {
    const [{ link }] = generatorMaps(bundles(), { sizes: [2], steps: [Int32Array.of(1, 0)] });
    expect([...link]).toEqual([4, 3, 5, 1, 0, 2]);
  });

  it("are those of all elements, the first dimension fastest", () => {
    const topology = presetTopology("torus:3x4");
    const elements = [...groupElements(topology, torusTranslations([3, 4]))];
    expect(elements.map(({ node }) => node[0])).toEqual(Array.from({ length: 12 }, (_, npu) => npu));
    for (const { node, link } of elements) {
      link.forEach((image, from) => {
        expect(topology.linkSource[image]).toBe(node[topology.linkSource[from]]);
        expect(topology.linkTarget[image]).toBe(node[topology.linkTarget[from]]);
      });
    }
  });

  it("refuse a map under which a link has no image as wide", () => {
    const topology = bundles();
    const lopsided = { ...topology, linkBytesPerSecond: topology.linkBytesPerSecond.with(0, 7) };
    const symmetry = { sizes: [2], steps: [Int32Array.of(1, 0)] };
    expect(() => generatorMaps(lopsided, symmetry)).toThrow(/expected links that go to links as wide and as long/);
    expect(() => generatorMaps(topology, { sizes: [2], steps: [Int32Array.of(1)] })).toThrow(/a node of the network/);
    expect(() => generatorMaps(topology, { sizes: [2], steps: [Int32Array.of(1, 2)] })).toThrow(
      /a node of the network/,
    );
  });
});

describe("orbitsOf", () => {
  it("names each orbit by its least item", () => {
    expect([...orbitsOf(6, [Int32Array.of(2, 1, 0, 4, 3, 5), Int32Array.of(0, 5, 2, 3, 4, 1)])]).toEqual([
      0, 1, 0, 3, 3, 1,
    ]);
    expect([...orbitsOf(3, [])]).toEqual([0, 1, 2]);
  });
});

it("a forest of no trees expands to none", () => {
  const flow = rotatedRingFlow(3, 1e9, 1, 9);
  const none = { ...flow, forests: [forestOf(flow.topology, "out", [], rational(1))] };
  expect(expandTrees(none).forests[0].linkOffset).toEqual(new Float64Array(1));
});
