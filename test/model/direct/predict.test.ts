import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { leastBandwidthTime } from "../../../src/model/direct/facts.ts";
import { parseConstruction } from "../../../src/model/direct/parse.ts";
import {
  innermost,
  type Predicted,
  predict,
  predictDegree,
  predictLine,
  predictPower,
} from "../../../src/model/direct/predict.ts";
import { add, compare, format, multiply, rational, subtract } from "../../../src/model/numbers/rational.ts";

const optimal = (nodes: number, degree: number, steps: number): Predicted => ({
  nodes,
  degree,
  steps,
  bandwidth: leastBandwidthTime(nodes),
});

const bases = fc
  .record({
    nodes: fc.integer({ min: 2, max: 50 }),
    degree: fc.integer({ min: 2, max: 8 }),
    steps: fc.integer({ min: 1, max: 20 }),
    more: fc.nat(9),
  })
  .map(({ nodes, degree, steps, more }) => ({
    nodes,
    degree,
    steps,
    bandwidth: add(leastBandwidthTime(nodes), rational(more, nodes)),
  }));

describe("predicted times", () => {
  it.each([
    ["L3(C(16,{3,4}))", optimal(16, 4, 3), 1024, 4, 6, "261/256"],
    ["L2(Diamond^2)", optimal(8, 2, 3), 1024, 4, 8, "257/256"],
    ["L(DBJMod(2,4)^2)", optimal(16, 2, 5), 1024, 4, 11, "1"],
    ["T(Bi(UniRing(1,4)*2))", optimal(4, 1, 3), 8, 4, 4, "7/8"],
  ])("of %s are those of its theorems", (text, base, nodes, degree, steps, bandwidth) => {
    const found = predict(parseConstruction(text), base);
    expect({ ...found, bandwidth: format(found.bandwidth) }).toEqual({ nodes, degree, steps, bandwidth });
  });

  it("of repeated line graphs follow corollary 7.1", () => {
    fc.assert(
      fc.property(bases, fc.integer({ min: 1, max: 6 }), (base, times) => {
        const size = BigInt(base.nodes) * BigInt(base.degree) ** BigInt(times);
        const series = multiply(
          rational(base.degree, base.degree - 1),
          subtract(rational(1, base.nodes), rational(1n, size)),
        );
        const found = predictLine(base, times);
        expect(found.bandwidth).toEqual(add(base.bandwidth, series));
        expect(found.steps).toBe(base.steps + times);
      }),
    );
  });

  it("of degree expansions and powers are optimal just where those of the base are (corollaries 11.1, 12.1)", () => {
    fc.assert(
      fc.property(bases, fc.integer({ min: 1, max: 4 }), (base, n) => {
        const isOptimal = (one: Predicted): boolean => compare(one.bandwidth, leastBandwidthTime(one.nodes)) === 0;
        expect(isOptimal(predictDegree(base, n))).toBe(isOptimal(base));
        expect(isOptimal(predictPower(base, n))).toBe(isOptimal(base));
      }),
    );
  });

  it("start with the innermost graph, turned round once for every transpose", () => {
    const { construction, turned } = innermost({
      construction: parseConstruction("L(T(Bi(Diamond^2)))"),
      turned: false,
    });
    expect({ construction, turned }).toEqual({ construction: parseConstruction("Diamond"), turned: true });
  });
});
