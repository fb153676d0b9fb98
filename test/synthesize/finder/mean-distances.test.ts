import { describe, expect, it } from "vitest";
import { graphOf } from "../../../src/model/direct/construction.ts";
import { distancesFrom } from "../../../src/model/direct/digraph.ts";
import { parseConstruction } from "../../../src/model/direct/parse.ts";
import { type Candidate, meanDistances } from "../../../src/synthesize/finder/candidates.ts";

const told = (text: string) => meanDistances({ construction: parseConstruction(text) } as Candidate);

/** The mean of the sums by all searches of the graph itself. */
function counted(text: string): number {
  const graph = graphOf(parseConstruction(text));
  let sum = 0;
  for (let v = 0; v < graph.nodes; v++) for (const distance of distancesFrom(graph, v)) sum += distance;
  return sum / graph.nodes;
}

describe("sums of distances", () => {
  it.each(["K(5)", "DC(9,{1,3})", "Cayley(7,3,2,{1,7})", "DBJMod(2,4)", "Diamond^2", "Pi(3,17)", "K(4)*2"])(
    "of %s are counted",
    (text) => expect(told(text)).toBeCloseTo(counted(text), 9),
  );

  it.each([
    "K(5)",
    "K(4,4)",
    "DC(9,{1,3})",
    "Cayley(8,2,7,{1,6,8,11})",
    "DBJMod(4,2)",
    "Diamond",
    "Pi(3,17)",
    "DBJ(3,2)",
  ])("of the line graph of %s follow from it", (base) =>
    expect(told(`L(${base})`)).toBeCloseTo(counted(`L(${base})`), 9),
  );

  it.each(["K(4,4)", "DC(9,{1,3})", "Cayley(8,2,7,{1,6,8,11})", "DBJMod(3,2)", "Diamond", "DBJ(3,2)"])(
    "of further line graphs of %s are at most 1 % too small",
    (base) => {
      for (const times of [2, 3]) {
        const text = `L${times}(${base})`;
        const ratio = (told(text) as number) / counted(text);
        expect(ratio).toBeLessThanOrEqual(1 + 1e-12);
        expect(ratio).toBeGreaterThan(0.99);
      }
    },
  );

  it("are not counted for large graphs without symmetry, and infinite where nodes are not reached", () => {
    expect(told("Pi(4,10000)")).toBeNull();
    expect(told("Pi(1,7)")).toBe(Number.POSITIVE_INFINITY);
  });
});
