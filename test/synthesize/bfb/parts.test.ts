import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stepLoads } from "../../../src/model/comm/schedule.ts";
import { leastBandwidthTime } from "../../../src/model/direct/facts.ts";
import { compare, multiply, type Rational, rational, subtract } from "../../../src/model/numbers/rational.ts";
import { bestParts, bfbLoads, bfbSchedule, exactParts } from "../../../src/synthesize/bfb/broadcast.ts";
import { balance, diameterOf, regularDigraphs, sumOf } from "../../support/breadth-first.ts";
import { runs } from "../../support/runs.ts";

const loadsOf = fc.array(
  fc
    .record({ num: fc.integer({ min: 1, max: 40 }), den: fc.integer({ min: 1, max: 9 }) })
    .map(({ num, den }) => rational(num, den)),
  { minLength: 1, maxLength: 6 },
);
const ceiled = (load: Rational, parts: number): number => Math.ceil((Number(load.num) * parts) / Number(load.den));
const timeOf = (loads: readonly Rational[], parts: number): Rational =>
  rational(
    loads.reduce((sum, load) => sum + ceiled(load, parts), 0),
    parts,
  );

describe("parts of a shard", () => {
  it("are as many as make every load whole, where so many are allowed", () => {
    fc.assert(
      fc.property(loadsOf, (loads) => {
        const exact = exactParts(loads);
        expect(loads.every(({ num, den }) => (num * exact) % den === 0n)).toBe(true);
        expect(bestParts(loads, 10_000)).toBe(Number(exact));
        expect(timeOf(loads, Number(exact))).toEqual(sumOf(loads));
      }),
    );
  });

  it("are the fewest with the least time otherwise", () => {
    fc.assert(
      fc.property(loadsOf, fc.integer({ min: 1, max: 12 }), (loads, most) => {
        const parts = bestParts(loads, most);
        for (let other = 1; other <= most; other++) {
          const order = compare(timeOf(loads, parts), timeOf(loads, other));
          expect(other < parts ? order < 0 : order <= 0).toBe(true);
        }
      }),
    );
  });

  it("lose no more than theorem 20 allows against shards cut anywhere, and nothing against whole numbers of them", async () => {
    await fc.assert(
      fc.asyncProperty(regularDigraphs(16), fc.integer({ min: 1, max: 9 }), async (of, parts) => {
        const loads = await bfbLoads(of, balance);
        const degree = of.offset[1];
        const inParts = Array.from(stepLoads(await bfbSchedule(of, parts, balance)));
        expect(inParts).toEqual(loads.map((load) => ceiled(load, parts)));
        // d (d^D - 1) / ((d - 1) P N) in units of M / B
        const allowed = rational(
          BigInt(degree) * (BigInt(degree) ** BigInt(diameterOf(of)) - 1n),
          BigInt((degree - 1) * parts * of.nodes),
        );
        const lost = multiply(subtract(timeOf(loads, parts), sumOf(loads)), rational(degree, of.nodes));
        expect(compare(lost, allowed)).toBeLessThanOrEqual(0);
        const least = multiply(sumOf(loads), rational(degree, of.nodes));
        expect(compare(least, leastBandwidthTime(of.nodes))).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: runs(80) },
    );
  });
});
