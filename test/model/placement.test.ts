import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { switchPlacement } from "../../src/model/bounds/cut-sets.ts";
import { portsOf } from "../../src/model/bounds/sides.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { nodeCount, type Topology } from "../../src/model/topology/topology.ts";
import { anyTopology } from "../support/any-topology.ts";

/** Returns the set with its switches, each weighed over all links anew. */
function placedByDefinition(topology: Topology, npus: readonly number[]): number[] {
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond } = topology;
  const inside = new Set(npus);
  const near = new Set<number>();
  for (let pass = 0; pass < 3; pass++) {
    linkTarget.forEach((node, link) => {
      if (node >= npuCount && inside.has(linkSource[link])) near.add(node);
    });
    for (const node of [...near].sort((a, b) => a - b)) {
      let balance = 0;
      linkBytesPerSecond.forEach((bandwidth, link) => {
        const ends = [linkSource[link], linkTarget[link]];
        if (!ends.includes(node)) return;
        balance += ends.every((end) => end === node || inside.has(end)) ? bandwidth : -bandwidth;
      });
      if (balance >= 0) inside.add(node);
      else inside.delete(node);
    }
  }
  return [...npus, ...[...inside].filter((node) => node >= npuCount).sort((a, b) => a - b)];
}

describe("switchPlacement", () => {
  it("places switches as the definition says, set after set", () => {
    fc.assert(
      fc.property(anyTopology(), fc.array(fc.integer({ min: 1, max: 62 }), { maxLength: 6 }), (topology, masks) => {
        const placed = switchPlacement(topology, portsOf(topology));
        for (const mask of masks) {
          const npus = Array.from({ length: topology.npuCount }, (_, v) => v).filter((v) => (mask >> v) % 2 === 1);
          expect([...placed(npus)]).toEqual(placedByDefinition(topology, npus));
        }
      }),
    );
  });

  it.each(["fat-tree:8x2,leaf=2,tiers=3,oversub=2", "dgx-h100:3", "switch:4*switch:3"])("the same in %s", (name) => {
    const topology = presetTopology(name);
    const placed = switchPlacement(topology, portsOf(topology));
    for (let count = 1; count < topology.npuCount; count++) {
      const npus = Array.from({ length: count }, (_, v) => v);
      expect([...placed(npus)]).toEqual(placedByDefinition(topology, npus));
    }
  });

  it("takes no time for the boxes of a network whose every box is on the same switches", () => {
    const topology = presetTopology("dgx-h100:5000");
    const placed = switchPlacement(topology, portsOf(topology));
    for (let box = 0; box < 5000; box++) {
      const nodes = placed(Array.from({ length: 8 }, (_, i) => 8 * box + i));
      expect(nodes.length).toBe(9);
    }
    expect(nodeCount(topology)).toBe(45_008);
  });
});
