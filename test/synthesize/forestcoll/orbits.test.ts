import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { multiply, rational } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { type SymmetricForest, symmetricForest } from "../../../src/synthesize/forestcoll/grow.ts";
import { FEW_PEERS } from "../../../src/synthesize/forestcoll/packing.ts";
import { anyCayley, cayleyNetwork, isConnected } from "../../support/cayley.ts";
import { expectForest, optimumOf, symmetryOf } from "../../support/forest-of-orbits.ts";
import { groupElements } from "../../support/group-elements.ts";
import { runs } from "../../support/runs.ts";

const built = (topology: Topology): SymmetricForest | null => {
  const { k, U } = optimumOf(topology);
  return symmetricForest(topology, symmetryOf(topology), k, U);
};

const heightAndTrees = (forest: SymmetricForest | null): readonly number[] | null =>
  forest && [forest.height, forest.trees.copies.length];

/** Preset, k, height, distinct trees; small enough to look at every image. */
const SMALL: readonly (readonly [string, number, number, number])[] = [
  ["ring:9", 1, 4, 1],
  ["torus:8x8", 4, 8, 4],
  ["torus:3x2x4@100,50,25GB/s", 12, 4, 4],
  ["torus:5x5@100,25GB/s", 5, 4, 2],
  ["hypercube:4", 4, 4, 3],
  ["circulant:20,1,3", 4, 4, 3],
  ["fc:6", 1, 1, 1],
  ["switch:8", 1, 1, 1],
  ["switch:8*switch:4@300,25GB/s", 1, 2, 1],
  ["ring:2*fc:4*switch:4@200,100,50GB/s", 1, 3, 1],
  ["ring:4*switch:4@50,400GB/s", 2, 3, 2],
  ["dgx-a100:1", 1, 1, 1],
  ["dgx-a100:2", 13, 2, 2],
  ["dgx-a100:8", 1, 2, 1],
  ["dgx-h100:4", 10, 2, 2],
  ["dgx-h100:4,ib", 10, 2, 2],
  ["dgx2:4", 1, 2, 1],
  ["p4d:4", 1, 2, 1],
  ["fat-tree:16x3,leaf=4,tiers=2", 2, 2, 2],
  ["fat-tree:16x4,leaf=4,tiers=2,oversub=2@450,50GB/s", 1, 3, 1],
  ["fat-tree:16x2,leaf=2,tiers=3,oversub=2@450,50GB/s", 1, 4, 1],
];

/** Two boxes of 8 NPUs at a switch, each with a card of its own at one of two switches between boxes, in turn. */
function boxesWithCards(): Topology {
  const builder = topologyBuilder("boxes with cards");
  const npus = Array.from({ length: 16 }, (_, v) => builder.addNpu(`npu${v}`));
  const boxes = [0, 1].map((b) => builder.addSwitch(`box${b}`));
  const fabrics = [0, 1].map((f) => builder.addSwitch(`fabric${f}`));
  const join = (a: number, b: number, gbps: number): void => {
    builder.addLink(a, b, gbps * 1e9, 500_000);
    builder.addLink(b, a, gbps * 1e9, 500_000);
  };
  npus.forEach((npu, v) => {
    const card = builder.addSwitch(`card${v}`);
    join(npu, boxes[v >> 3] as number, 300);
    join(npu, card, 25);
    join(card, fabrics[v & 1] as number, 25);
  });
  return builder.build();
}

describe("symmetricForest", () => {
  it.each(SMALL)("packs the optimal trees of %s: k = %d, height %d, %d distinct", (preset, k, height, distinct) => {
    const topology = presetTopology(preset);
    const { U, ...optimum } = optimumOf(topology);
    expect(optimum.k).toBe(k);
    const symmetry = symmetryOf(topology);
    const forest = symmetricForest(topology, symmetry, k, U);
    expect(heightAndTrees(forest)).toEqual([height, distinct]);
    expectForest(topology, symmetry, forest as SymmetricForest, k, U);
  });

  it.each([
    ["torus:16x16", 16],
    ["dgx-a100:128", 2],
    ["dgx-h100:512", 2],
    ["fat-tree:128x8,leaf=32,tiers=2,oversub=1@450,50GB/s", 2],
    ["fat-tree:128x8,leaf=32,tiers=2,oversub=2@450,50GB/s", 3],
    ["fat-tree:128x8,leaf=8,tiers=3,oversub=2@450,50GB/s", 3],
    ["fat-tree:512x8,leaf=32,tiers=2,oversub=2@450,50GB/s", 3],
    ["torus:128x128", 128],
  ])("reaches the optimum of %s with height %d", (preset, height) => {
    expect(built(presetTopology(preset))?.height).toBe(height);
  });

  it("enters as many servers over the spine as it can carry, beyond those that must", () => {
    // 127 servers behind NICs that carry 127 uses: each is entered once; spines carry 15 of the 96 outside the root's leaf
    const topology = presetTopology("fat-tree:128x8,leaf=32,tiers=2,oversub=8@450,50GB/s");
    expect(heightAndTrees(built(topology))).toEqual([3, 1]);
  });

  it("gives the same copies both links of a network card", () => {
    // 13 copies and 15 uses of each link of a card: two copies may take a card twice, and must find both of its links
    const topology = boxesWithCards();
    const { k, U } = optimumOf(topology);
    expect(k).toBe(13);
    const symmetry = symmetryOf(topology);
    const forest = symmetricForest(topology, symmetry, k, U);
    expect(heightAndTrees(forest)).toEqual([2, 2]);
    expectForest(topology, symmetry, forest as SymmetricForest, k, U);
  });

  it("finds nothing above the optimal rate", () => {
    for (const preset of ["torus:4x4", "dgx-a100:4", "fat-tree:16x3,leaf=4,tiers=2"]) {
      const topology = presetTopology(preset);
      const { k, U } = optimumOf(topology);
      const less = multiply(U, rational(999, 1000));
      expect(symmetricForest(topology, symmetryOf(topology), k, less)).toBeNull();
    }
  });

  it("gives k copies of one tree where every budget allows it", () => {
    const topology = presetTopology("torus:9x9");
    const { k, U } = optimumOf(topology);
    const forest = symmetricForest(topology, symmetryOf(topology), 7 * k, multiply(U, rational(7)));
    expect([...(forest as SymmetricForest).trees.copies]).toEqual([7 * k]);
  });

  it("packs 150 random Cayley networks at their optimum", () => {
    let unpacked = 0;
    const withSpeeds = anyCayley(40).chain((cayley) =>
      fc.record({
        cayley: fc.constant(cayley),
        gbps: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 5, maxLength: 5 }),
        equal: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(withSpeeds, ({ cayley, gbps, equal }) => {
        fc.pre(isConnected(cayley));
        const topology = { ...cayleyNetwork(equal ? cayley : { ...cayley, gbps }), shape: cayley.sizes };
        const { k, U } = optimumOf(topology);
        const symmetry = symmetryOf(topology);
        const forest = symmetricForest(topology, symmetry, k, U);
        if (forest === null) unpacked++;
        else expectForest(topology, symmetry, forest, k, U);
      }),
      { numRuns: runs(150), seed: 1 },
    );
    expect(unpacked).toBe(0);
  });

  it("repairs shortest-path trees by exchanges where links of two directions differ in speed", () => {
    // a ring of 61, twice as fast one way: 40 NPUs from the one side, 20 from the other
    const topology = { ...cayleyNetwork({ sizes: [61], offsets: [25, 36], gbps: [2, 4] }), shape: [61] };
    expect(heightAndTrees(built(topology))).toEqual([40, 1]);
  });

  it("is the same in every run", () => {
    const topology = presetTopology("fat-tree:16x4,leaf=4,tiers=2,oversub=2@450,50GB/s");
    expect(built(topology)).toEqual(built(topology));
  });
});

describe("symmetricForest with fewer copies than fill every link", () => {
  it.each([
    ["fat-tree:64x4,leaf=8,tiers=2,oversub=3@200,50GB/s", 50_000_000_000, 1, 3],
    ["torus:8x8", 4, 4, 8],
    ["dgx-a100:2", 13, 13, 2],
    ["dgx-a100:8", 1, 1, 2],
  ])("reaches the rate on %s, of %d copies, with %d: height %d", (preset, exact, k, height) => {
    const topology = presetTopology(preset);
    const optimum = optimumOf(topology);
    expect(optimum.k).toBe(exact);
    const U = multiply(optimum.U, rational(k, optimum.k));
    const symmetry = symmetryOf(topology);
    const forest = symmetricForest(topology, symmetry, k, U);
    expect(forest?.height).toBe(height);
    if (forest !== null) expectForest(topology, symmetry, forest, k, U);
    for (let fewer = 1; fewer < k; fewer++) {
      expect(symmetricForest(topology, symmetry, fewer, multiply(optimum.U, rational(fewer, exact)))).toBeNull();
    }
  });
});

/** Returns how many others NPU 0 sends to in the trees of all roots: by symmetry, the differences of the ends of edges. */
function peersOf(topology: Topology, { trees }: SymmetricForest): number {
  const symmetry = symmetryOf(topology);
  const elementOf = new Map<number, number>();
  let element = 0;
  for (const { node } of groupElements(topology, symmetry)) elementOf.set(node[0] as number, element++);
  const difference = (from: number, to: number): string => {
    let [a, b] = [elementOf.get(from) as number, elementOf.get(to) as number];
    return symmetry.sizes
      .map((size) => {
        const shift = ((b % size) - (a % size) + size) % size;
        [a, b] = [Math.floor(a / size), Math.floor(b / size)];
        return shift;
      })
      .join();
  };
  const found = new Set<string>();
  for (let edge = 0; edge + 1 < trees.linkOffset.length; edge++) {
    const [first, end] = [trees.linkOffset[edge] as number, trees.linkOffset[edge + 1] as number];
    const [from, to] = [
      topology.linkSource[trees.links[first] as number],
      topology.linkTarget[trees.links[end - 1] as number],
    ];
    found.add(difference(from as number, to as number));
  }
  return found.size;
}

describe("the policy few-peers", () => {
  const fewPeers = (topology: Topology): SymmetricForest | null => {
    const { k, U } = optimumOf(topology);
    return symmetricForest(topology, symmetryOf(topology), k, U, FEW_PEERS);
  };

  it.each([
    // preset, peers of the lowest trees, and with few: ceil(log2) of the boxes and those within a box
    ["switch:64", 63, 6, 6],
    ["switch:100", 99, 7, 6],
    ["dgx-a100:16", 22, 11, 5],
    ["dgx-h100:128", 134, 14, 8],
    ["ring:9", 2, 2, 4],
    ["torus:8x8", 4, 4, 8],
  ])("%s: %d peers become %d, in trees of height %d of the same rate", (preset, many, few, height) => {
    const topology = presetTopology(preset);
    const { k, U } = optimumOf(topology);
    expect(peersOf(topology, built(topology) as SymmetricForest)).toBe(many);
    const forest = fewPeers(topology) as SymmetricForest;
    expect([peersOf(topology, forest), forest.height]).toEqual([few, height]);
    if (topology.npuCount <= 128) expectForest(topology, symmetryOf(topology), forest, k, U);
  });

  it("keeps the budgets of any Cayley graph's links", () => {
    fc.assert(
      fc.property(anyCayley(40), (cayley) => {
        fc.pre(isConnected(cayley));
        const topology = { ...cayleyNetwork(cayley), shape: cayley.sizes };
        const { k, U } = optimumOf(topology);
        const symmetry = symmetryOf(topology);
        const forest = symmetricForest(topology, symmetry, k, U, FEW_PEERS);
        expectForest(topology, symmetry, forest as SymmetricForest, k, U);
      }),
      { numRuns: runs(40) },
    );
  });
});
