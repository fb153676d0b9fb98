import { describe, expect, it } from "vitest";
import type { PackedTrees } from "../../../src/engine/contract/kernels.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { without } from "../../../src/model/topology/modify.ts";
import { linkNames } from "../../../src/model/topology/topology.ts";
import { symmetricForest } from "../../../src/synthesize/forestcoll/grow.ts";
import { type PackingNetwork, packingNetwork } from "../../../src/synthesize/forestcoll/packing.ts";
import { rehanger } from "../../../src/synthesize/forestcoll/rehang.ts";
import { optimumOf, symmetryOf } from "../../support/forest-of-orbits.ts";

/** Returns the trees of NPU 0 on a network, in the numbers of what is left of it. */
function damaged(preset: string, failed: readonly string[]): { network: PackingNetwork; trees: PackedTrees } {
  const design = presetTopology(preset);
  const { k, U } = optimumOf(design);
  const found = symmetricForest(design, symmetryOf(design), k, U);
  if (found === null) throw new Error(`no trees on ${preset}`);
  const topology = without(design, failed);
  const members = Int32Array.from({ length: topology.npuCount }, (_, npu) => npu);
  const network = packingNetwork(topology, members, topology.linkBytesPerSecond, "out");
  const names = linkNames(topology);
  const numberOf = new Map(Array.from(network.link, (link, i) => [names[link], i]));
  const links = found.trees.links.map((link) => numberOf.get(linkNames(design)[link]) ?? -1);
  return { network, trees: { ...found.trees, links } };
}

const linksOf = ({ linkOffset, links }: PackedTrees, tree: number, npus: number): Int32Array =>
  links.subarray(linkOffset[tree * (npus - 1)], linkOffset[(tree + 1) * (npus - 1)]);

/** Returns whether every edge leads from an NPU that has been reached to one that has not, and all are reached in the end. */
function spans(
  { npuCount, linkSource, linkTarget }: PackingNetwork,
  { root, linkOffset, links }: PackedTrees,
): boolean {
  const reached = new Set(root);
  for (let e = 0; e + 1 < linkOffset.length; e++) {
    const path = [...links.subarray(linkOffset[e], linkOffset[e + 1])];
    const nodes = [linkSource[path[0] as number] as number, ...path.map((link) => linkTarget[link] as number)];
    const [from, to] = [nodes[0] as number, nodes.at(-1) as number];
    const isPath = path.every((link, i) => linkSource[link] === nodes[i]);
    const forwards = nodes.slice(1, -1).every((node) => node >= npuCount);
    if (!isPath || !forwards || !reached.has(from) || reached.has(to)) return false;
    reached.add(to);
  }
  return reached.size === npuCount;
}

describe("rehanger", () => {
  it.each([
    ["dgx-h100:4", ["0-rail0"]],
    ["dgx-h100:4", ["9-rail1", "17-rail1"]],
    ["dgx-a100:2", ["0-ib"]],
    ["torus:4x4", ["0-1"]],
    ["torus:4x4", ["5-6", "6-7", "6-10"]],
    ["fat-tree:4x6,leaf=2,tiers=2", ["leaf0-spine0"]],
  ] as const)(
    "hangs the trees of %s on again where %j failed, and takes their copies from what is left",
    (preset, failed) => {
      const { network, trees } = damaged(preset, failed);
      const rehung = rehanger(network);
      const room = 1000;
      for (let tree = 0; tree < trees.root.length; tree++) {
        const left = new Float64Array(network.link.length).fill(room);
        const found = rehung(trees, tree, left);
        expect(found).not.toBeNull();
        const { root, copies, links } = found as PackedTrees;
        expect([root[0], copies[0]]).toEqual([trees.root[tree], trees.copies[tree]]);
        expect(spans(network, found as PackedTrees)).toBe(true);
        for (const link of links) left[link] = (left[link] as number) + (copies[0] as number);
        expect(left.every((amount) => amount === room)).toBe(true);
      }
    },
  );

  it("takes nothing where there is no room", () => {
    const { network, trees } = damaged("torus:4x4", ["0-1"]);
    const room = Float64Array.from(network.link, (_, link) => (network.linkTarget[link] === 1 ? 0 : 1000));
    const left = room.slice();
    expect(rehanger(network)(trees, 0, left)).toBeNull();
    expect(left).toEqual(room);
  });

  it("enters a box once that was entered once, at another NPU, over the NIC with the most room", () => {
    const { network, trees } = damaged("dgx-h100:4", ["8-rail0"]);
    const { linkSource, linkTarget, npuCount } = network;
    const boxes = 4;
    const entries = (links: Int32Array): number[] =>
      [...links].filter((link) => linkSource[link] >= npuCount + boxes && linkTarget[link] >> 3 === 1);
    const isWide = (link: number): boolean => linkSource[link] < npuCount + boxes || linkTarget[link] % 8 === 5;
    const left = Float64Array.from(network.link, (_, link) => (isWide(link) ? 1000 : 500));
    const broken = [...trees.root.keys()].filter((tree) => linksOf(trees, tree, npuCount).includes(-1));
    expect(broken.length).toBeGreaterThan(0);
    for (const tree of broken) {
      const { links } = rehanger(network)(trees, tree, left.slice()) as PackedTrees;
      expect(entries(links)).toHaveLength(entries(linksOf(trees, tree, npuCount)).length || 1);
      expect(entries(links).every((link) => linkTarget[link] === 13)).toBe(true);
    }
  });
});
