import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { depthStep } from "../../../src/picture/scales.ts";
import type { TreeView } from "../../../src/web/protocol.ts";
import {
  addTree,
  busierWay,
  busiestWays,
  type ForestView,
  noUses,
  type Outline,
  outlineOf,
  rowsOf,
  sharesOf,
  stepsOf,
  treeBeside,
  treesOf,
} from "../../../src/web/views/trees/trees.ts";

/** Nodes 0, 1, 2 and switch 3; wires 0-3, 1-3, 2-3, 1-2. */
const ends = { a: Int32Array.of(0, 1, 2, 1), b: Int32Array.of(3, 3, 3, 2) };

/** 0 > 1 through the switch, then 1 > 2. */
const tree = (direction: "out" | "in", copies = 1): TreeView => ({
  root: 0,
  direction,
  copies,
  from: Int32Array.of(0, 1),
  to: Int32Array.of(1, 2),
  depth: Int32Array.of(1, 2),
  wireOffset: Int32Array.of(0, 2, 3),
  wires: Int32Array.of(0, 1, 3),
});
/** 0 > 1 and 0 > 2, both through the switch. */
const star: TreeView = {
  ...tree("out", 3),
  from: Int32Array.of(0, 0),
  to: Int32Array.of(1, 2),
  depth: Int32Array.of(1, 1),
  wireOffset: Int32Array.of(0, 2, 4),
  wires: Int32Array.of(0, 1, 0, 2),
};

describe("a tree's wires", () => {
  it("are walked as the data runs: away from the root, or towards it", () => {
    expect(stepsOf(ends, tree("out"))).toEqual([
      { wire: 3, forward: true, depth: 2 },
      { wire: 0, forward: true, depth: 1 },
      { wire: 1, forward: false, depth: 1 },
    ]);
    expect(stepsOf(ends, tree("in")).map(({ wire, forward }) => [wire, forward])).toEqual([
      [3, false],
      [0, false],
      [1, true],
    ]);
  });
  it("are drawn once where several edges share them, but hold their rate for each", () => {
    expect(stepsOf(ends, star).filter(({ wire }) => wire === 0)).toHaveLength(1);
    const uses = noUses(ends);
    addTree(ends, uses, star);
    expect(uses.trees[0]).toBe(1);
    expect(uses.copies[0]).toBe(6);
  });
  it("add up over trees, each direction for itself", () => {
    const uses = noUses(ends);
    addTree(ends, uses, tree("out", 2));
    addTree(ends, uses, tree("in", 5));
    expect([...uses.copies]).toEqual([2, 5, 5, 2, 0, 0, 2, 5]);
    expect([...uses.trees]).toEqual([1, 1, 1, 1, 0, 0, 1, 1]);
    const wires = { forward: Float64Array.of(20, 20, 20, 20), backward: Float64Array.of(10, 20, 20, 20) };
    const shares = sharesOf(wires, uses, 1);
    expect([...shares.subarray(0, 3)].map((share) => Number(share.toFixed(3)))).toEqual([0.1, 0.5, 0.25]);
    expect(busierWay(shares)[0]).toBe(0.5);
    expect(busiestWays(shares, 2)).toEqual([1, 2]);
    expect([...sharesOf(wires, uses, null)]).toEqual([1, 1, 1, 1, 0, 0, 1, 1]);
  });
  it("have a colour each up to six depths, equal parts beyond", () => {
    expect([1, 2, 6].map((depth) => depthStep(depth, 6))).toEqual([0, 1, 5]);
    const deep = Array.from({ length: 60 }, (_, i) => depthStep(i + 1, 60));
    expect(new Set(deep).size).toBe(6);
    expect(deep).toEqual([...deep].sort((a, b) => a - b));
    expect(deep[59]).toBe(5);
  });
});

describe("a tree as a list", () => {
  it("has stems on one line and branches beneath", () => {
    const outline = outlineOf({ root: 4, from: Int32Array.of(4, 1, 2, 2), to: Int32Array.of(1, 2, 3, 5) });
    expect(outline).toEqual({
      nodes: [4, 1, 2],
      branches: [
        { nodes: [3], branches: [] },
        { nodes: [5], branches: [] },
      ],
    });
  });
  it("has every node of any tree once, under its parent", () => {
    const draws = random(11);
    for (let round = 0; round < 20; round++) {
      const nodes = 2 + draws.below(60);
      const from = Int32Array.from({ length: nodes - 1 }, (_, i) => draws.below(i + 1));
      const to = Int32Array.from({ length: nodes - 1 }, (_, i) => i + 1);
      const parents = new Map<number, number>();
      const visit = ({ nodes: stem, branches }: Outline, above: number): void => {
        for (const [i, node] of stem.entries()) parents.set(node, i === 0 ? above : (stem[i - 1] as number));
        for (const branch of branches) visit(branch, stem[stem.length - 1] as number);
      };
      visit(outlineOf({ root: 0, from, to }), -1);
      expect(parents.size).toBe(nodes);
      for (const [edge, node] of to.entries()) expect(parents.get(node)).toBe(from[edge]);
    }
  });
  it("does not run out of stack on a chain", () => {
    const to = Int32Array.from({ length: 100_000 }, (_, i) => i + 1);
    expect(outlineOf({ root: 0, from: to.map((node) => node - 1), to }).nodes).toHaveLength(100_001);
  });
});

describe("the list of trees", () => {
  const forest: ForestView = {
    direction: "out",
    root: Int32Array.of(1, 0, 1, 2),
    copies: Float64Array.of(1, 1, 1, 1),
    height: Int32Array.of(1, 1, 1, 1),
  };
  it("is by root, under a head where roots have several", () => {
    expect(rowsOf(forest)).toEqual([
      { kind: "root", root: 0, trees: 1 },
      { kind: "tree", tree: 1, index: 0 },
      { kind: "root", root: 1, trees: 2 },
      { kind: "tree", tree: 0, index: 1 },
      { kind: "tree", tree: 2, index: 2 },
      { kind: "root", root: 2, trees: 1 },
      { kind: "tree", tree: 3, index: 3 },
    ]);
    expect(rowsOf({ ...forest, root: Int32Array.of(3, 2, 1, 0) }).map(({ kind }) => kind)).toEqual(
      Array(4).fill("tree"),
    );
    expect(treesOf(forest, 1)).toEqual([0, 2]);
  });
  it("keeps the roots that are wanted", () => {
    expect(rowsOf(forest, (root) => root === 2)).toEqual([{ kind: "tree", tree: 3, index: 0 }]);
  });
  it("goes from tree to tree in its own order and stops at its ends", () => {
    const rows = rowsOf(forest);
    expect(treeBeside(rows, 1, 1)).toBe(0);
    expect(treeBeside(rows, 1, -1)).toBe(1);
    expect(treeBeside(rows, 3, 1)).toBe(3);
    expect(
      treeBeside(
        rowsOf(forest, (root) => root === 2),
        1,
        1,
      ),
    ).toBe(3);
    expect(treeBeside([], 2, 1)).toBe(2);
  });
});
