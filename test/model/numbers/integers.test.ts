import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bigGcd, bigLcm, commonDivisor, gcd } from "../../../src/model/numbers/integers.ts";

describe("the greatest common divisor", () => {
  it.each([
    [12, 18, 6],
    [0, 7, 7],
    [7, 0, 7],
    [0, 0, 0],
    [2 ** 53 - 1, 6361, 6361],
  ])("of %i and %i is %i", (a, b, divisor) => {
    expect(gcd(a, b)).toBe(divisor);
    expect(bigGcd(BigInt(a), BigInt(-b))).toBe(BigInt(divisor));
  });

  it.each([
    [[], 0],
    [[0, 0], 0],
    [[0, 12, 18, 0], 6],
    [[4, 9, 6], 1],
  ])("of all of %j is %i", (values, divisor) => {
    expect(commonDivisor(values)).toBe(divisor);
  });

  it("times the least common multiple is the product", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 1n << 90n }), fc.bigInt({ min: 1n, max: 1n << 90n }), (a, b) => {
        expect(bigGcd(a, b) * bigLcm(a, b)).toBe(a * b);
        expect([bigLcm(a, b) % a, bigLcm(a, b) % b]).toEqual([0n, 0n]);
      }),
    );
  });
});
