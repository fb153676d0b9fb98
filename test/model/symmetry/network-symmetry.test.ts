import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { linkOrbits } from "../../../src/model/symmetry/network-maps.ts";
import { networkSymmetry } from "../../../src/model/symmetry/network-symmetry.ts";
import { without } from "../../../src/model/topology/modify.ts";
import { nodeCount, type Topology } from "../../../src/model/topology/topology.ts";
import type { NetworkSymmetry } from "../../../src/model/trees/tree-flow.ts";
import { anyCayley, cayleyNetwork } from "../../support/cayley.ts";
import { runs } from "../../support/runs.ts";
import { elementsOf, linksAsText } from "../../support/symmetry-oracle.ts";

function found(topology: Topology): NetworkSymmetry {
  const symmetry = networkSymmetry(topology);
  if (symmetry === null) throw new Error(`no symmetry of ${topology.name}`);
  return symmetry;
}

/** Checks every element of the group against the definition. */
function expectGroup(topology: Topology, symmetry: NetworkSymmetry): void {
  const { npuCount } = topology;
  const elements = elementsOf(topology, symmetry);
  expect(elements.length).toBe(npuCount);
  const own = linksAsText(topology, [...Array(nodeCount(topology)).keys()]);
  for (const map of elements) {
    expect(new Set(map).size).toBe(map.length);
    expect(linksAsText(topology, map)).toEqual(own);
  }
  // free and transitive: NPU 0 goes to every NPU once, and only NPUs are images of NPUs
  expect(elements.map((map) => map[0] as number).sort((a, b) => a - b)).toEqual([...Array(npuCount).keys()]);
  for (const a of symmetry.steps) {
    for (const b of symmetry.steps) expect(a.map((v) => b[v] as number)).toEqual(b.map((v) => a[v] as number));
  }
}

const CASES: readonly (readonly [string, string])[] = [
  ["torus:4x5", "4x5"],
  ["torus:3x2x4@100,50,25GB/s", "3x2x4"],
  ["ring:9", "9"],
  ["ring:2", "2"],
  ["hypercube:4", "2x2x2x2"],
  ["circulant:20,1,3", "20"],
  ["fc:6", "6"],
  ["switch:8", "8"],
  ["ring:2*fc:4*switch:4@200,100,50GB/s", "2x4x4"],
  ["dgx-a100:1", "8"],
  ["dgx-a100:4", "8x4"],
  ["dgx-h100:3", "8x3"],
  ["dgx-h100:3,ib", "8x3"],
  ["dgx2:2", "2x2x2x2x2"],
  ["p4d:4", "2x2x2x2x2"],
  ["gb200-nvl72", "72"],
  ["fat-tree:8x2,leaf=4,tiers=2,oversub=2@450,50GB/s", "2x4x2"],
  ["fat-tree:16x3,leaf=4,tiers=2,oversub=1", "3x4x4"],
  ["fat-tree:24x2,leaf=2,tiers=3,oversub=2", "2x2x4x3"],
  ["fat-tree:4x4,leaf=1,tiers=2", "4x4"],
];

describe("networkSymmetry", () => {
  it.each(CASES)("finds the group of %s: %s", (preset, sizes) => {
    const topology = presetTopology(preset);
    const symmetry = found(topology);
    expect(symmetry.sizes.join("x")).toBe(sizes);
    expectGroup(topology, symmetry);
  });

  it("turns the planes of a fat tree with the lanes of a server, so that all planes are one orbit", () => {
    const topology = presetTopology("fat-tree:16x4,leaf=4,tiers=2,oversub=2");
    expect([...linkOrbits(topology, found(topology)).size]).toEqual([64, 64, 64, 64, 16, 16]);
  });

  it.each([
    "mesh:4x4",
    "mesh:100x100",
    "mi250:2",
    "mi250:64",
    "dragonfly:4x5",
    "ndv2:2",
    "fat-tree:10x8,leaf=4,tiers=2",
  ])("finds none of %s", (preset) => {
    expect(networkSymmetry(presetTopology(preset))).toBeNull();
  });

  it("finds none where a NIC has failed, nor where one link above the leaves has", () => {
    const boxes = presetTopology("dgx-h100:4");
    expect(networkSymmetry(without(boxes, ["3>rail3"]))).toBeNull();
    const tree = presetTopology("fat-tree:8x2,leaf=4,tiers=2");
    expect(networkSymmetry(without(tree, ["leaf0>spine1"]))).toBeNull();
  });

  it("finds a group of exact maps of any Cayley network of one ring or of its own shape", () => {
    fc.assert(
      fc.property(anyCayley(40), fc.nat(), (cayley, seed) => {
        const topology = { ...cayleyNetwork(cayley, seed), shape: cayley.sizes };
        expectGroup(topology, found(topology));
      }),
      { numRuns: runs(60) },
    );
  });

  it.each(["torus:128x128", "dgx-h100:2048"])("is found on the 16,384 NPUs of %s", (preset) => {
    const topology = presetTopology(preset);
    expect(networkSymmetry(topology)).not.toBeNull();
  });
});
