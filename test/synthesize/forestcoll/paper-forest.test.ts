import { describe, expect, it } from "vitest";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { rational } from "../../../src/model/numbers/rational.ts";
import { type PaperTree, paperForest, paperTrees } from "../../../src/synthesize/forestcoll/grow.ts";
import { optimumOf } from "../../../src/synthesize/forestcoll/optimum.ts";
import { forestFaults, narrowestOfAll, saturatedNetwork, smallNetwork } from "../../support/eulerian-graphs.ts";

const { rate } = jsKernels;

/** Returns how many links the trees use up. */
function fullLinks(capacity: readonly bigint[], trees: readonly PaperTree[]): number {
  const left = [...capacity];
  for (const { copies, edges } of trees) for (const link of edges.flat()) left[link] -= copies;
  return left.filter((amount) => amount === 0n).length;
}

describe("paperTrees", () => {
  it("reaches the narrowest of all cuts (300 random networks, every cut tried)", async () => {
    for (let seed = 0; seed < 300; seed++) {
      const network = smallNetwork(seed, [1, 10, 1000, 1e6, 1e9][seed % 5]);
      const weight = new Float64Array(network.npuCount).fill(1);
      const optimum = await optimumOf(network, weight, rate);
      const width = Array.from(network.bandwidth, BigInt);
      const narrowest = narrowestOfAll(network, width, Array.from(weight, BigInt));
      expect(optimum.inverse).toEqual(rational(narrowest.weight, narrowest.leaving));
      expect(forestFaults(network, optimum, paperTrees(network, optimum))).toEqual([]);
    }
  });

  it("packs as many copies at each NPU as asked for, none as well (100 random networks)", async () => {
    for (let seed = 0; seed < 100; seed++) {
      const network = smallNetwork(seed, 100);
      const weight = Float64Array.from({ length: network.npuCount }, (_, v) => (v === seed % 3 ? 1 : (v * seed) % 3));
      const optimum = await optimumOf(network, weight, rate);
      expect(forestFaults(network, optimum, paperTrees(network, optimum))).toEqual([]);
    }
  });

  it("packs networks on which trees need nearly every unit of every link", () => {
    let links = 0;
    let full = 0;
    for (let seed = 0; seed < 60; seed++) {
      const { network, packing } = saturatedNetwork(seed, 10, 5);
      const trees = paperTrees(network, packing);
      expect(forestFaults(network, packing, trees)).toEqual([]);
      links += packing.capacity.length;
      full += fullLinks(packing.capacity, trees);
    }
    expect(full).toBeGreaterThan(links / 2);
  });

  it("takes numbers beyond 2^53, and then makes the same trees of more copies", () => {
    const times = 10n ** 30n;
    const { network, packing } = saturatedNetwork(5, 8, 3);
    const scaled = {
      capacity: packing.capacity.map((amount) => amount * times),
      copies: packing.copies.map((count) => count * times),
    };
    const trees = paperTrees(network, scaled);
    expect(forestFaults(network, scaled, trees)).toEqual([]);
    expect(trees).toEqual(paperTrees(network, packing).map((tree) => ({ ...tree, copies: tree.copies * times })));
  });
});

describe("forestFaults", () => {
  it("sees every change of a forest that leaves no capacity", () => {
    const changes: readonly ((tree: PaperTree) => readonly PaperTree[])[] = [
      () => [],
      (tree) => [tree, tree],
      (tree) => [{ ...tree, copies: tree.copies + 1n }],
      (tree) => [{ ...tree, root: (tree.root + 1) % (tree.edges.length + 1) }],
      (tree) => [{ ...tree, edges: tree.edges.slice(1) }],
      (tree) => [{ ...tree, edges: tree.edges.map((links) => links.slice(1)) }],
      (tree) => [{ ...tree, edges: [...tree.edges, tree.edges[0]] }],
      (tree) => [{ ...tree, edges: tree.edges.map((links, i) => (i > 0 ? links : [...links, ...links])) }],
    ];
    for (let seed = 0; seed < 40; seed++) {
      const { network, packing } = saturatedNetwork(seed, 9, 3);
      const trees = paperTrees(network, packing);
      const at = seed % trees.length;
      for (const change of changes) {
        const changed = [...trees.slice(0, at), ...change(trees[at]), ...trees.slice(at + 1)];
        expect(forestFaults(network, packing, changed)).not.toEqual([]);
      }
    }
  });
});

describe("paperForest", () => {
  it("lists trees in columns, those of more copies than a double counts several times", () => {
    const network = { nodeCount: 2, npuCount: 2, linkSource: Int32Array.of(0, 1), linkTarget: Int32Array.of(1, 0) };
    const { root, copies, linkOffset, links } = paperForest(network, {
      capacity: [2n ** 54n, 5n],
      copies: [2n ** 54n, 5n],
    });
    expect({ root, linkOffset, links }).toEqual({
      root: Int32Array.of(1, 0, 0, 0),
      linkOffset: Float64Array.of(0, 1, 2, 3, 4),
      links: Int32Array.of(1, 0, 0, 0),
    });
    expect(copies).toEqual(Float64Array.of(5, 2 ** 53 - 1, 2 ** 53 - 1, 2));
  });
});
