import { describe, expect, it } from "vitest";
import {
  bidirectionalMooreSteps,
  greatestAllToAllRate,
  leastBandwidthTime,
  mooreSteps,
} from "../../../src/model/direct/facts.ts";
import { format, toNumber } from "../../../src/model/numbers/rational.ts";

describe("what no direct-connect network can beat", () => {
  it("counts the steps of tables A.1 and A.2", () => {
    const directed = [
      [32, 3],
      [64, 3],
      [128, 4],
      [256, 4],
      [512, 5],
      [1024, 5],
      [6, 2],
      [26, 3],
      [189, 4],
      [728, 5],
    ] as const;
    for (const [nodes, steps] of directed) expect([nodes, mooreSteps(nodes, 4)]).toEqual([nodes, steps]);
    const both = [
      [6, 2],
      [16, 2],
      [21, 3],
      [70, 4],
      [80, 4],
      [189, 5],
      [728, 6],
    ] as const;
    for (const [nodes, steps] of both) expect([nodes, bidirectionalMooreSteps(nodes, 4)]).toEqual([nodes, steps]);
  });

  it("has d^t nodes at distance t: exactly at the Moore bound, one more step beyond it", () => {
    for (const degree of [1, 2, 3, 7]) {
      for (let k = 1, bound = 1 + degree; k < 5; k++, bound = bound * degree + 1) {
        expect(mooreSteps(bound, degree)).toBe(k);
        expect(mooreSteps(bound + 1, degree)).toBe(k + 1);
      }
    }
    expect(bidirectionalMooreSteps(2, 1)).toBe(1);
    expect(bidirectionalMooreSteps(3, 1)).toBe(Number.POSITIVE_INFINITY);
    expect(bidirectionalMooreSteps(9, 2)).toBe(4);
  });

  it("gives the bounds of table A.1", () => {
    expect(format(leastBandwidthTime(1024))).toBe("1023/1024");
    const rates = [
      [32, "5.80e-2"],
      [64, "2.42e-2"],
      [128, "1.00e-2"],
      [256, "4.39e-3"],
      [512, "1.90e-3"],
      [1024, "8.57e-4"],
    ] as const;
    for (const [nodes, rate] of rates) {
      expect([nodes, toNumber(greatestAllToAllRate(nodes, 4)).toExponential(2)]).toEqual([nodes, rate]);
    }
    expect(format(greatestAllToAllRate(5, 1))).toBe("1/10");
  });
});
