import { describe, expect, it } from "vitest";
import { levelsOf } from "../../src/picture/tree-levels.ts";

describe("a tree by itself", () => {
  it("has a row for each leaf, parents in the middle of their first and last child, columns by depth", () => {
    const { nodes, edges, levels, leaves } = levelsOf({
      root: 7,
      from: Int32Array.of(7, 7, 5, 5, 5),
      to: Int32Array.of(5, 6, 1, 2, 3),
      depth: Int32Array.of(1, 1, 2, 2, 2),
    });
    expect(nodes).toEqual([
      { node: 7, level: 0, place: 2 },
      { node: 5, level: 1, place: 1 },
      { node: 6, level: 1, place: 3 },
      { node: 1, level: 2, place: 0 },
      { node: 2, level: 2, place: 1 },
      { node: 3, level: 2, place: 2 },
    ]);
    expect(edges[4]).toEqual({ parent: 1, child: 5, depth: 2 });
    expect([levels, leaves]).toEqual([3, 4]);
  });
  it("is a node where there are no others", () => {
    const none = new Int32Array(0);
    expect(levelsOf({ root: 3, from: none, to: none, depth: none })).toEqual({
      nodes: [{ node: 3, level: 0, place: 0 }],
      edges: [],
      levels: 1,
      leaves: 1,
    });
  });
});
