import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apartBy } from "../../src/picture/shapes.ts";

describe("names at the ends of lines", () => {
  it("stay in their room and order, apart where it is large enough, and move only where they must", () => {
    expect(apartBy([10, 50, 90], 14, 0, 100)).toEqual([10, 50, 90]);
    expect(apartBy([98, 99, 100], 14, 0, 100)).toEqual([72, 86, 100]);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 40 }), (unsorted) => {
        const places = unsorted.sort((a, b) => a - b);
        const found = apartBy(places, 14, 0, 300);
        const gap = Math.min(14, places.length > 1 ? 300 / (places.length - 1) : 14);
        for (const [i, place] of found.entries()) {
          expect(place).toBeGreaterThanOrEqual(-1e-9);
          expect(place).toBeLessThanOrEqual(300 + 1e-9);
          if (i > 0) expect(place - (found[i - 1] as number)).toBeGreaterThanOrEqual(gap - 1e-9);
        }
      }),
    );
  });
});
