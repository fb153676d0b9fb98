import { describe, expect, it } from "vitest";
import { loadKernels } from "../../../src/engine/kernels/load.ts";
import { graphOf } from "../../../src/model/direct/construction.ts";
import { diameter } from "../../../src/model/direct/digraph.ts";
import { metacyclicProduct } from "../../../src/model/direct/families/metacyclic.ts";
import { type Balancer, bfbTimes } from "../../../src/synthesize/bfb/broadcast.ts";
import { cayleyGraphs, elementsOfSmallDiameter, groupsOf } from "../../../src/synthesize/finder/evaluated.ts";

const { kernels } = await loadKernels("js");
const balance: Balancer = async (problem) => kernels.balance({ ...problem, threads: 1 });

describe("groups that do not commute", () => {
  it("are those of two cycles: of 8 elements the dihedral one, of 16 four, of 21 one, of 15 none", () => {
    const sizes = [6, 8, 15, 16, 21];
    expect(sizes.map(groupsOf)).toEqual([
      [[3, 2, 2]],
      [[4, 2, 3]],
      [],
      [
        [8, 2, 3],
        [8, 2, 5],
        [8, 2, 7],
        [4, 4, 3],
      ],
      [[7, 3, 2]],
    ]);
  });

  it("do not commute", () => {
    for (let nodes = 6; nodes <= 64; nodes++) {
      for (const [m, n, r] of groupsOf(nodes)) {
        const product = metacyclicProduct(m, n, r);
        expect([m * n, product(1, m) === product(m, 1)]).toEqual([nodes, false]);
      }
    }
  });
});

describe("Cayley digraphs", () => {
  it("have the diameter and the times of all nodes", async () => {
    for (const [nodes, degree] of [
      [16, 4],
      [24, 2],
      [21, 3],
      [32, 4],
    ] as const) {
      const found = elementsOfSmallDiameter(nodes, degree, false);
      const graphs = await cayleyGraphs(nodes, degree, false, new Map(), balance);
      expect(graphs.length).toBe(found.length);
      for (const [i, { construction, steps, bandwidth }] of graphs.entries()) {
        const graph = graphOf(construction);
        const all = Int32Array.from({ length: nodes }, (_, v) => v);
        expect(await bfbTimes(graph, all, balance)).toEqual({ steps, bandwidth });
        expect([diameter(graph), steps]).toEqual([found[i].diameter, found[i].diameter]);
      }
    }
  });

  it("of 16 nodes and degree 4 have diameter 2, which no sums of four offsets have", () => {
    expect(elementsOfSmallDiameter(16, 4, false)[0].diameter).toBe(2);
  });

  it("are not searched for where each node leads to all others, or to one", () => {
    expect([elementsOfSmallDiameter(6, 1, false), elementsOfSmallDiameter(6, 5, false)]).toEqual([[], []]);
  });
});
