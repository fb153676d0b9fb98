import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PairMap } from "../../../src/model/numbers/pairs.ts";
import { runs } from "../../support/runs.ts";

const WHOLE = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer(), fc.constantFrom(-(2 ** 31), 2 ** 31 - 1));
const key = (a: number, b: number): string => `${a} ${b}`;

describe("PairMap", () => {
  it("is a map from pairs to numbers", () => {
    const step = fc.record({ a: WHOLE, b: WHOLE, value: fc.option(fc.nat(), { nil: null }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const pairs = new PairMap();
        const plain = new Map<string, number>();
        for (const { a, b, value } of steps) {
          expect(pairs.get(a, b)).toBe(plain.get(key(a, b)) ?? -1);
          if (value === null) continue;
          pairs.set(a, b, value);
          plain.set(key(a, b), value);
          expect([pairs.get(a, b), pairs.size]).toEqual([value, plain.size]);
        }
        for (const { a, b } of steps) {
          expect(pairs.get(a, b)).toBe(plain.get(key(a, b)) ?? -1);
          expect(pairs.get(b, a)).toBe(plain.get(key(b, a)) ?? -1);
        }
      }),
      { numRuns: runs(300) },
    );
  });

  it("numbers pairs as they come, and knows them again however many follow", () => {
    // a grid, of which neighbours share their hashes' high bits, and pairs far apart
    const spread = fc.constantFrom(1, 2, 1024, 65536, 0x9e3779b1 | 0);
    fc.assert(
      fc.property(spread, spread, fc.integer({ min: 1, max: 60 }), (first, second, side) => {
        const pairs = new PairMap();
        const cells = Array.from({ length: side * side }, (_, k): [number, number] => [
          Math.imul(k % side, first),
          Math.imul(Math.floor(k / side), second),
        ]);
        expect(cells.map(([a, b]) => pairs.number(a, b))).toEqual(cells.map((_, k) => k));
        expect(cells.map(([a, b]) => pairs.number(a, b))).toEqual(cells.map((_, k) => k));
        expect(pairs.size).toBe(cells.length);
      }),
      { numRuns: runs(50) },
    );
  });
});
