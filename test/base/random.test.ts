import fc from "fast-check";
import { expect, it } from "vitest";
import { below } from "../../src/base/random.ts";

it("below is the high half of a 64-bit product, exactly", () => {
  fc.assert(
    fc.property(fc.nat(2 ** 32 - 1), fc.integer({ min: 1, max: 2 ** 32 }), (drawn, bound) => {
      expect(below(drawn, bound)).toBe(Number((BigInt(drawn) * BigInt(bound)) >> 32n));
    }),
  );
  expect(below(2 ** 32 - 1, 2 ** 32)).toBe(2 ** 32 - 1);
});
