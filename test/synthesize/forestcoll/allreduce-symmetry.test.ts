import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { without } from "../../../src/model/topology/modify.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { allReduceNetwork, allReduceOrbits } from "../../../src/synthesize/forestcoll/allreduce-program.ts";
import { connectedTopology } from "../../support/connected-topology.ts";
import { runs } from "../../support/runs.ts";

const networkOf = (topology: Topology, members = Array.from({ length: topology.npuCount }, (_, v) => v)) =>
  allReduceNetwork(topology, Int32Array.from(members), topology.linkBytesPerSecond);

/** Returns every link as text where a map of nodes takes it, sorted. */
function linksUnder(network: ReturnType<typeof networkOf>, map: Int32Array | null): string[] {
  const at = (v: number): number => (map === null ? v : (map[v] as number));
  return Array.from(
    network.linkSource,
    (u, l) => `${at(u)}>${at(network.linkTarget[l] as number)} ${network.bandwidth[l]}`,
  ).sort();
}

/** Checks that the maps keep the network, and that orbits are what they join. */
function check(network: ReturnType<typeof networkOf>, orbits: ReturnType<typeof allReduceOrbits>): void {
  const links = linksUnder(network, null);
  for (const map of orbits.maps) {
    expect([...map].sort((a, b) => a - b)).toEqual([...map.keys()]);
    expect(linksUnder(network, map)).toEqual(links);
    map.forEach((image, v) => {
      expect(image < network.npuCount).toBe(v < network.npuCount);
      expect(orbits.nodeOrbit[image]).toBe(orbits.nodeOrbit[v]);
    });
  }
  const sizes = new Map<number, number>();
  for (const orbit of orbits.linkOrbit) sizes.set(orbit, (sizes.get(orbit) ?? 0) + 1);
  expect([...orbits.links.keys()].map((orbit) => sizes.get(orbit))).toEqual([...orbits.links]);
}

describe("allReduceOrbits", () => {
  it.each([
    ["mesh:3x3", [4, 4, 1]],
    ["line:5", [2, 2, 1]],
    ["torus:4x4", [16]],
    ["grid:3x3x3", [8, 12, 6, 1]],
    ["dgx-a100:2", [16, 2, 1]],
    ["mi250:2", [8, 8, 8, 8, 1]],
    ["hypercube:4", [16]],
    ["fat-tree:16x4,leaf=4,tiers=2,oversub=2@450,50GB/s", [64, 16, 4, 1]],
  ])("finds the orbits of nodes of %s", (name, sizes) => {
    const network = networkOf(presetTopology(name));
    const orbits = allReduceOrbits(network);
    expect([...orbits.nodes].sort((a, b) => b - a).slice(0, 3)).toEqual([...sizes].sort((a, b) => b - a).slice(0, 3));
    check(network, orbits);
  });

  it("tells members from outsiders, and links of different bandwidth apart", () => {
    const mesh = presetTopology("mesh:3x3");
    expect([...allReduceOrbits(networkOf(mesh, [0, 2])).nodes][0]).toBe(2);
    expect([...allReduceOrbits(networkOf(mesh, [0, 1])).nodes].slice(0, 2)).toEqual([1, 1]);
    const broken = networkOf(without(presetTopology("ring:5"), ["0-1"]));
    expect([...allReduceOrbits(broken).nodes]).toEqual([2, 2, 1]);
  });

  it("takes known maps after checking them", () => {
    const network = networkOf(presetTopology("ring:6"));
    const turn = Int32Array.from({ length: 6 }, (_, v) => (v + 1) % 6);
    const wrong = Int32Array.from([1, 0, 2, 3, 4, 5]);
    const orbits = allReduceOrbits(network, [wrong, turn]);
    expect(orbits.maps[0]).toEqual(turn);
    check(network, orbits);
  });

  it("finds none but true maps on any network", () => {
    fc.assert(
      fc.property(connectedTopology(), (topology) => {
        const network = networkOf(topology);
        check(network, allReduceOrbits(network));
      }),
      { numRuns: runs(200), seed: 1 },
    );
  });
});
