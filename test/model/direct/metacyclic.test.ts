import { describe, expect, it } from "vitest";
import { graphOf } from "../../../src/model/direct/construction.ts";
import { distanceCounts } from "../../../src/model/direct/digraph.ts";
import { metacyclicInverse, metacyclicProduct } from "../../../src/model/direct/families/metacyclic.ts";
import { parseConstruction } from "../../../src/model/direct/parse.ts";
import { ONE_SENTENCE } from "../../import/support.ts";
import { refusalFrom, unexpected } from "../../support/refusals.ts";

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
      const inverse = metacyclicInverse(m, n, r);
      const all = Array.from({ length: m * n }, (_, v) => v);
      for (const a of all) {
        expect([product(a, inverse(a)), product(inverse(a), a)]).toEqual([0, 0]);
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
    ["Cayley(8,2,3,{1})", [16], 8],
    ["Cayley(8,2,2,{1,8})", [2, 8], 2],
    ["Cayley(8,2,9,{1,8})", [8], 9],
    ["Cayley(8,2,3,{1,16})", [1, 15], 16],
    ["Cayley(8,2,3,{1,8,1})", [], 1],
    ["Cayley(8,2,3)", [4], 3],
    ["Cayley(1000000,1000000,1,{1})", [10000000], 1000000000000],
    ["Cayley(2000000,1,1,{1})", [1000000], 2000000],
  ])("%s is refused with what would be right, %j, and what is not, %d", (text, right, received) => {
    const error = refusalFrom(() => parseConstruction(text));
    expect(error).toEqual(unexpected("character 1 of the topology", text, ...right));
    const [sentence] = error.message.split("\n");
    expect(sentence).toMatch(ONE_SENTENCE);
    expect(sentence?.replaceAll(text, "")).toMatch(new RegExp(`(?<!\\d)${received}(?!\\d)`));
  });
});
