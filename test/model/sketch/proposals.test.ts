import { describe, expect, it } from "vitest";
import { sketchToJson } from "../../../src/export/networks/taccl-sketch.ts";
import { readTacclTopology } from "../../../src/import/networks/taccl-topology.ts";
import { readSketch } from "../../../src/import/sketches/taccl-sketch.ts";
import { COLLECTIVE_KINDS, collective } from "../../../src/model/collective/collective.ts";
import { indicesBelow } from "../../../src/model/numbers/ordering.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { sketchNetwork } from "../../../src/model/sketch/network.ts";
import { proposedSketches } from "../../../src/model/sketch/proposals.ts";
import type { Sketch } from "../../../src/model/sketch/sketch.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { hasSharedData, sharedText } from "../../support/shared-data.ts";
import { firstUnreached, sharedNics } from "../../support/sketches.ts";

/** With how many boxes each is divided. */
const NETWORKS: Readonly<Record<string, number>> = {
  dgx1: 1,
  dgx2: 1,
  "dgx2:2": 2,
  "dgx-a100:2": 2,
  "dgx-h100:3": 3,
  "ndv2:3": 3,
  "p4d:2": 2,
  mi300x: 1,
  "fat-tree:8x4": 8,
  "fat-tree:8x2,leaf=2,tiers=3,oversub=2": 8,
  "fat-tree:6x1": 6,
  "torus:3x4": 1,
  "mesh:3x3": 1,
  "ring:2*fc:3*switch:4": 4,
  "switch:4*switch:3": 3,
  "switch:5": 1,
  "dragonfly:3x4": 1,
};

const rotations = ({ symmetries }: Sketch): (readonly [number, number])[] =>
  symmetries.map(({ offset, period }) => [offset, period]);

function whole(topology: Topology, kind: (typeof COLLECTIVE_KINDS)[number]) {
  const groups = [indicesBelow(topology.npuCount)];
  return collective({ kind, groups, chunksPerNpu: 1, rootRank: 1, sizeBytes: 4096 });
}

describe("proposedSketches", () => {
  it.each(Object.entries(NETWORKS))("has sketches for %s in which every chunk has a way", (name, boxes) => {
    const topology = presetTopology(name);
    for (const kind of COLLECTIVE_KINDS) {
      const sketches = proposedSketches(topology, kind);
      expect(sketches.length).toBeGreaterThan(0);
      expect(new Set(sketches.map((sketch) => sketch.name)).size).toBe(sketches.length);
      expect(proposedSketches(topology, kind)).toEqual(sketches);
      for (const sketch of sketches) {
        expect(sketch.boxes).toBe(boxes);
        const network = sketchNetwork(topology, sketch);
        if (!whole(topology, kind).reduces) expect(firstUnreached(network, whole(topology, kind))).toBeNull();
        const again = readSketch(sketchToJson(sketch), sketch.name, topology);
        expect(again).toEqual({ ...sketch, madeFor: topology });
      }
    }
  });

  it.each<readonly [name: string, rotations: readonly (readonly [number, number])[]]>([
    [
      "torus:3x4",
      [
        [3, 12],
        [1, 3],
      ],
    ],
    [
      "torus:2x3x4",
      [
        [6, 24],
        [2, 6],
        [1, 2],
      ],
    ],
    [
      "hypercube:3",
      [
        [4, 8],
        [2, 4],
        [1, 2],
      ],
    ],
    ["ring:7", [[1, 7]]],
    ["mesh:3x3", []],
    [
      "dgx-h100:3",
      [
        [8, 24],
        [1, 8],
      ],
    ],
    [
      "ring:2*fc:3*switch:4",
      [
        [6, 24],
        [2, 6],
        [1, 2],
      ],
    ],
  ])("finds the translations of %s", (name, expected) => {
    const [best] = proposedSketches(presetTopology(name), "allgather");
    expect(rotations(best)).toEqual(expected);
  });

  it("asks for no rotations where chunks have one root", () => {
    for (const kind of ["broadcast", "reduce", "gather", "scatter", "custom"] as const)
      for (const sketch of proposedSketches(presetTopology("dgx-a100:2"), kind)) expect(sketch.symmetries).toEqual([]);
  });

  it("puts one relay per shared NIC first, which carries the chunks of its GPUs", () => {
    const [best] = proposedSketches(sharedNics(3), "allgather");
    expect(best.internode).toEqual({
      connections: new Map([
        [1, [0]],
        [3, [2]],
      ]),
      betaSplit: new Map(),
      relays: new Map([
        [0, [1]],
        [1, [1]],
        [2, [3]],
        [3, [3]],
      ]),
      enforceOrdering: false,
    });
    expect(best.intranode).toMatchObject({ strategy: "switch", switches: [[0, 1, 2, 3]], policies: ["uc-min"] });
    expect(rotations(best)).toEqual([
      [4, 12],
      [2, 4],
    ]);
  });

  it("lets a root send to other boxes through every relay", () => {
    for (const { internode } of proposedSketches(sharedNics(), "broadcast")) expect(internode?.relays).toBeNull();
  });

  it("has none where there would be too many connections", () => {
    expect(proposedSketches(presetTopology("switch:600"), "allgather")).toEqual([]);
  });
});

describe.skipIf(!hasSharedData)("TACCL's examples", () => {
  it.each([
    ["topo-dgx2-1KB.json", "sk1-dgx2-n2.json", 16],
    ["topo-ndv2-1MB.json", "sk1-ndv2-n2.json", 8],
  ])("for %s are like what is proposed: %s", (profile, file) => {
    const topology = readTacclTopology(sharedText(`taccl/topo/${profile}`), profile, { nodes: 2 });
    const example = readSketch(sharedText(`taccl/sketch/${file}`), file, topology);
    const [best] = proposedSketches(topology, "allgather");
    expect(best.intranode).toEqual(example.intranode);
    expect(best.internode?.connections).toEqual(example.internode?.connections);
    expect(rotations(best)).toEqual(rotations(example).toReversed());
  });
});
