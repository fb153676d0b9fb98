import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { heap } from "../../../src/model/graph/graph.ts";

describe("heap", () => {
  it("gives back by key, then id, whatever is put in between", () => {
    const entry = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.nat(99));
    fc.assert(
      fc.property(fc.array(fc.option(entry)), (steps) => {
        const ours = heap();
        const plain: (readonly [number, number])[] = [];
        for (const added of steps) {
          if (added !== null) {
            ours.add(...added);
            plain.push(added);
          } else {
            plain.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
            expect(ours.key()).toBe(plain[0]?.[0] ?? Number.POSITIVE_INFINITY);
            expect(ours.take()).toBe(plain.shift()?.[1] ?? -1);
          }
          expect(ours.size()).toBe(plain.length);
        }
      }),
    );
  });
});
