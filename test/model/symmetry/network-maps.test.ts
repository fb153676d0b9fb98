import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { generatorMaps, linkOrbits, orbitsOf } from "../../../src/model/symmetry/network-maps.ts";
import { networkSymmetry } from "../../../src/model/symmetry/network-symmetry.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import type { NetworkSymmetry } from "../../../src/model/trees/tree-flow.ts";
import { anyCayley, cayleyNetwork, npusOf } from "../../support/cayley.ts";
import { groupElements } from "../../support/group-elements.ts";
import { unexpected } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";
import { torusTranslations } from "../../support/tree-flows.ts";

/** Two NPUs with links 1, 2, 1 GB/s each way, in another order on the way back. */
function bundles(): ReturnType<typeof presetTopology> {
  const builder = topologyBuilder("bundle");
  builder.addNpu("a");
  builder.addNpu("b");
  for (const bandwidth of [1e9, 2e9, 1e9]) builder.addLink(0, 1, bandwidth, 5);
  for (const bandwidth of [2e9, 1e9, 1e9]) builder.addLink(1, 0, bandwidth, 5);
  return builder.build();
}

/** Returns the orbits as sets of links, by applying every element of the group to every link. */
function orbitsByElements(topology: Topology, symmetry: NetworkSymmetry): string[] {
  const orbits = new Map<number, Set<number>>();
  const images = generatorMaps(topology, symmetry).map(({ link }) => link);
  for (let link = 0; link < topology.linkSource.length; link++) {
    const orbit = new Set([link]);
    for (const one of orbit) for (const image of images) orbit.add(image[one] as number);
    orbits.set(Math.min(...orbit), orbit);
  }
  return [...orbits.values()].map((orbit) => [...orbit].sort((a, b) => a - b).join()).sort();
}

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
    expect(() => generatorMaps(lopsided, symmetry)).toThrow(unexpected("generator 0 of a symmetry", "others"));
    expect(() => generatorMaps(topology, { sizes: [2], steps: [Int32Array.of(1)] })).toThrow(
      unexpected("generator 0 of a symmetry", 1, 2),
    );
    expect(() => generatorMaps(topology, { sizes: [2], steps: [Int32Array.of(1, 2)] })).toThrow(
      unexpected("generator 0 of a symmetry", 2, 2),
    );
  });

  it("refuse a map that takes two nodes to one", () => {
    const steps = [Int32Array.of(1, 2, 3, 3)];
    expect(() => generatorMaps(presetTopology("fc:4"), { sizes: [4], steps })).toThrow(
      unexpected("generator 0 of a symmetry", "others"),
    );
  });
});

describe("orbitsOf", () => {
  it("numbers orbits in the order of their least items", () => {
    const { of, size } = orbitsOf(6, [Int32Array.of(2, 1, 0, 4, 3, 5), Int32Array.of(0, 5, 2, 3, 4, 1)]);
    expect([[...of], [...size]]).toEqual([
      [0, 1, 0, 2, 2, 1],
      [2, 2, 2],
    ]);
    expect(orbitsOf(3, [])).toEqual({ of: Int32Array.of(0, 1, 2), size: Int32Array.of(1, 1, 1) });
  });
});

describe("linkOrbits", () => {
  it("are the images of a link under all elements, numbered by their first link", () => {
    fc.assert(
      fc.property(anyCayley(40), fc.nat(), (cayley, seed) => {
        const topology = { ...cayleyNetwork(cayley, seed), shape: cayley.sizes };
        const symmetry = networkSymmetry(topology) as NetworkSymmetry;
        const { of, size } = linkOrbits(topology, symmetry);
        const lists: number[][] = Array.from(size, () => []);
        for (const [link, o] of of.entries()) lists[o]?.push(link);
        expect(lists.map((list) => list.length)).toEqual([...size]);
        expect(lists.map((list) => list[0])).toEqual(
          [...new Set(lists.map((list) => list[0]))].sort((a, b) => Number(a) - Number(b)),
        );
        expect(lists.map((list) => list.join()).sort()).toEqual(orbitsByElements(topology, symmetry));
        expect(size.every((links) => npusOf(cayley) % links === 0)).toBe(true);
      }),
      { numRuns: runs(60) },
    );
  });

  it("takes the k-th of parallel links to the k-th, and no link to one of another bandwidth", () => {
    const topology = { ...cayleyNetwork({ sizes: [3], offsets: [1, 1, 1], gbps: [2, 1, 2] }), shape: [3] };
    const { of } = linkOrbits(topology, networkSymmetry(topology) as NetworkSymmetry);
    expect([...of]).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2]);
  });

  it("refuses maps that do not take links to links", () => {
    const topology = presetTopology("mesh:2x3");
    const steps = [Int32Array.from([1, 2, 3, 4, 5, 0])];
    expect(() => linkOrbits(topology, { sizes: [6], steps })).toThrow(
      unexpected("generator 0 of a symmetry", "others"),
    );
  });
});
