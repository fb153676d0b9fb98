import { describe, expect, it } from "vitest";
import { graphOf } from "../../../src/model/direct/construction.ts";
import { distanceCounts } from "../../../src/model/direct/digraph.ts";
import { metacyclicProduct } from "../../../src/model/direct/families/metacyclic.ts";
import { parseConstruction } from "../../../src/model/direct/parse.ts";

const GROUPS = [
  [1, 1, 1],
  [8, 2, 7],
  [8, 2, 3],
  [7, 3, 2],
  [4, 4, 3],
  [5, 4, 2],
] as const;

describe("groups that turn and shift", () => {
  it.each(GROUPS)(
    "m = %i, n = %i, r = %i: associative, with 0 as one, and all elements once in every row",
    (m, n, r) => {
      const product = metacyclicProduct(m, n, r);
      const all = Array.from({ length: m * n }, (_, v) => v);
      for (const a of all) {
        expect([product(a, 0), product(0, a)]).toEqual([a, a]);
        expect(all.map((b) => product(a, b)).sort((x, y) => x - y)).toEqual(all);
        for (const b of all) for (const c of all) expect(product(product(a, b), c)).toBe(product(a, product(b, c)));
      }
    },
  );

  it("give graphs whose nodes all see the same distances", () => {
    const graph = graphOf(parseConstruction("Cayley(8,2,3,{1,5,8,9})"));
    const seen = new Set(Array.from({ length: graph.nodes }, (_, v) => distanceCounts(graph, v).join()));
    expect(seen.size).toBe(1);
  });

  it.each([
    ["Cayley(8,2,3,{1})", "elements that connect all 16 nodes", "those of a group of 8"],
    ["Cayley(8,2,2,{1,8})", "r whose power n = 2 is 1 modulo m = 8", "2"],
    ["Cayley(8,2,9,{1,8})", "r below m = 8", "9"],
    ["Cayley(8,2,3,{1,16})", "a whole number, 1 to 15", "16"],
    ["Cayley(8,2,3,{1,8,1})", "each element once", "1"],
    ["Cayley(8,2,3)", "parameters", "3"],
    ["Cayley(1000000,1000000,1,{1})", "1e7|10000000", ""],
    ["Cayley(2000000,1,1,{1})", "m and n of at most 1000000", ""],
  ])("%s is refused", (text, expected, received) => {
    expect(() => graphOf(parseConstruction(text))).toThrowError(new RegExp(`${expected}.*received.*${received}`));
  });
});
