import { describe, expect, it } from "vitest";
import { graphBuilder } from "../../../src/model/tensor-graph/builder.ts";

describe("the builder of graphs", () => {
  it("names parts, and gives equal places in parts of a kind one class", () => {
    const builder = graphBuilder(2);
    const a = builder.dimension("a", 4);
    expect(builder.dimension("a", 4)).toBe(a);
    const x = builder.placeholder("x", "input", [a], 4);
    const ends = ["left", "right"].map((side) => {
      const part = builder.part(side, "side");
      return part.apply("turned", "negate", [part.apply("root", "sqrt", [x], { isFused: true })]);
    });
    const graph = builder.graph("sides", ends);
    expect(graph.nodes.map(({ name }) => name)).toEqual([
      "x",
      "left root",
      "left turned",
      "right root",
      "right turned",
      "output",
    ]);
    expect([...graph.classes]).toEqual([0, 1, 2, 1, 2, 3]);
    expect(graph.nodes.map(({ elementBytes }) => elementBytes)).toEqual([4, 2, 2, 2, 2, 2]);
    expect(graph.nodes.map(({ isFused }) => isFused)).toEqual([false, true, false, true, false, false]);
  });

  it("has one size for each dimension", () => {
    const builder = graphBuilder(2);
    builder.dimension("a", 4);
    expect(() => builder.dimension("a", 5)).toThrow("internal error: two sizes of the dimension a");
    expect(() => builder.part("left", "side").graph("none", [])).toThrow("internal error: a part is no graph");
  });
});
